//! Tables.

use leptos::{either::Either, prelude::*};

/// A column: its heading and its style. On small screens some columns are hidden; their content must be available
/// elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    name: &'static str,
    class: Option<&'static str>,
    /// Whether the heading is visible.
    seen: bool,
}

impl Column {
    /// Creates a column of text.
    pub const fn text(name: &'static str) -> Self {
        Self {
            name,
            class: None,
            seen: true,
        }
    }

    /// Creates a column of figures.
    pub const fn figure(name: &'static str) -> Self {
        Self {
            class: Some("table__figure"),
            ..Self::text(name)
        }
    }

    /// Creates a column that is as narrow as its content.
    pub const fn tight(name: &'static str) -> Self {
        Self {
            class: Some("table__tight"),
            ..Self::text(name)
        }
    }

    /// The last column, with the actions for each row.
    pub const ACTIONS: Self = Self {
        name: "Actions",
        class: Some("table__actions"),
        seen: false,
    };

    /// Shows the heading to screen readers only.
    #[must_use]
    pub const fn with_hidden_head(self) -> Self {
        Self { seen: false, ..self }
    }

    /// Hides the column on small screens.
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

    /// Shows the column only on wide screens.
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

#[component]
pub fn Table<R>(
    /// Accessible name.
    caption: &'static str,
    columns: &'static [Column],
    /// Whether the rows are narrow.
    #[prop(optional)]
    dense: bool,
    /// A text instead of an empty table.
    #[prop(optional)]
    nothing: &'static str,
    /// Rows, whose cells have the classes of their columns.
    rows: R,
) -> impl IntoView
where
    R: IntoIterator<Item: IntoView + 'static>,
{
    let rows: Vec<_> = rows.into_iter().collect();
    if rows.is_empty() && !nothing.is_empty() {
        return Either::Left(view! { <p class="quiet">{nothing}</p> });
    }
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
    Either::Right(view! {
        <table class=if dense { "table table--dense" } else { "table" }>
            <caption>{caption}</caption>
            <thead>
                <tr>{heads.collect_view()}</tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    })
}
