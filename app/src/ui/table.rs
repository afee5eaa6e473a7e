//! Tables.

use leptos::{either::Either, prelude::*};

/// A column: its head, and how it is set. On small screens some are left out; what they hold is found elsewhere then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    name: &'static str,
    class: Option<&'static str>,
    /// Whether its head is seen.
    seen: bool,
}

impl Column {
    /// Of text.
    pub const fn text(name: &'static str) -> Self {
        Self {
            name,
            class: None,
            seen: true,
        }
    }

    /// Of figures.
    pub const fn figure(name: &'static str) -> Self {
        Self {
            class: Some("table__figure"),
            ..Self::text(name)
        }
    }

    /// As narrow as what is in it.
    pub const fn tight(name: &'static str) -> Self {
        Self {
            class: Some("table__tight"),
            ..Self::text(name)
        }
    }

    /// At the end: what can be done with each row.
    pub const ACTIONS: Self = Self {
        name: "Actions",
        class: Some("table__actions"),
        seen: false,
    };

    /// The same, whose head only those are told who do not see the table.
    #[must_use]
    pub const fn with_hidden_head(self) -> Self {
        Self { seen: false, ..self }
    }

    /// The same, left out on small screens.
    #[must_use]
    pub const fn from_medium(self) -> Self {
        Self {
            class: Some(match self.class {
                None => "table__medium",
                Some(_) => "table__figure table__medium",
            }),
            ..self
        }
    }

    /// The same, only on wide screens.
    #[must_use]
    pub const fn from_wide(self) -> Self {
        Self {
            class: Some(match self.class {
                None => "table__wide",
                Some(_) => "table__figure table__wide",
            }),
            ..self
        }
    }
}

/// A table.
#[component]
pub fn Table(
    /// What it is called, for those who do not see it.
    caption: &'static str,
    /// Its columns.
    columns: &'static [Column],
    /// Whether its rows stand close together.
    #[prop(optional)]
    dense: bool,
    /// Its rows, with cells that have the classes of their columns.
    children: Children,
) -> impl IntoView {
    let heads = columns.iter().map(|column| {
        view! {
            <th scope="col" class=column.class>
                {if column.seen {
                    Either::Left(column.name)
                } else {
                    Either::Right(view! { <span class="visually-hidden">{column.name}</span> })
                }}
            </th>
        }
    });
    view! {
        <table class=if dense { "table table--dense" } else { "table" }>
            <caption>{caption}</caption>
            <thead>
                <tr>{heads.collect_view()}</tr>
            </thead>
            <tbody>{children()}</tbody>
        </table>
    }
}
