//! `/dashboard/templates/{id}/pages`: what differs between the pages of two versions, for each set of sample data.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use platen_domain::{
    ids::TemplateId,
    number::counted,
    page_comparison::{
        ComparedPage, Comparison, MOST_COMPARED_PAGES, MOST_PICTURED_PAGES, PageChange, PageComparison, Picture,
    },
};

use crate::{
    error::AppError,
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::{
        template::{comparison_path, editor_path, pages_path},
        template_versions::PageComparisons,
    },
    pages::{
        query::{address, id_in_path, literal},
        template::versions::template_crumb,
    },
    ui::{
        button::ButtonLink,
        notice::{ErrorNotice, InfoNotice},
    },
};

/// The page of the comparison. `older` and `newer` of the query are numbers of versions, and `set` is the name of the set
/// with which both are rendered.
#[component]
pub fn Pages() -> impl IntoView {
    let id = id_in_path(TemplateId::parse);
    let query = use_query_map().read_untracked();
    let number = |name: &str| query.get(name).and_then(|number| number.parse().ok());
    let (older, newer, set) = (number("older"), number("newer"), query.get("set"));
    view! {
        <Shell title="Compare pages" current=Entry::Templates parent=template_crumb(id.clone())>
            {loaded(
                move |backend| async move {
                    let id = id?;
                    Ok((id, backend.page_comparisons(id, older, newer, set).await?))
                },
                |(id, found)| view! { <Found id=id.to_string() found /> },
            )}
        </Shell>
    }
}

#[component]
fn Found(id: String, found: PageComparisons) -> impl IntoView {
    let PageComparisons {
        name,
        older,
        newer,
        sets,
        compared,
    } = found;
    let lede = if older == newer {
        format!(
            "Version {older} compared with itself if it is published again, with the published versions of its partials."
        )
    } else {
        format!("Version {older} compared with version {newer}, each rendered with the same sample data.")
    };
    let (html, editor) = (comparison_path(&id, older, newer), editor_path(&id));
    view! {
        <PageHead
            title=format!("Pages of {name}")
            is_chosen=true
            lede=lede
        >
            <ButtonLink href=html>"Compare the HTML"</ButtonLink>
            <ButtonLink href=editor>"Back to the editor"</ButtonLink>
        </PageHead>
        <Section heading="Sets of sample data">
            <SetList id versions=(older, newer) sets compared />
        </Section>
    }
}

/// A link in a row to the comparison of the pages of two versions.
#[component]
pub fn ComparePagesLink(
    /// Id of the template.
    id: String,
    /// Numbers of the older and the newer version.
    versions: (i32, i32),
    /// Completes the label for screen readers: "Compare pages of …".
    of: String,
) -> impl IntoView {
    let (older, newer) = versions;
    view! {
        <a class="button button--small" href=pages_path(&id, older, newer) aria-label=format!("Compare pages of {of}")>
            "Compare pages"
        </a>
    }
}

/// The sets of sample data. Each loads its comparison once it is open; without scripts, it has a link.
#[component]
pub fn SetList(
    /// Id of the template.
    id: String,
    /// Numbers of the older and the newer version.
    versions: (i32, i32),
    /// Names of the sets.
    sets: Vec<String>,
    /// Whether the first set is open.
    #[prop(optional)]
    first_open: bool,
    /// The set with which the pages were compared, and the outcome.
    #[prop(optional_no_strip)]
    compared: Option<(String, Result<Comparison, AppError>)>,
) -> impl IntoView {
    let mut compared = compared;
    let (older, newer) = versions;
    let items = sets.into_iter().enumerate().map(|(index, name)| {
        let address = address(
            &format!("/dashboard/templates/{id}/pages"),
            [
                ("older", Some(older.to_string())),
                ("newer", Some(newer.to_string())),
                ("set", Some(literal(&name))),
            ],
        );
        let outcome = compared
            .take_if(|(compared, _)| *compared == name)
            .map(|(_, outcome)| outcome);
        let open = outcome.is_some() || (first_open && index == 0);
        view! { <Set name address outcome open versions /> }
    });
    let items = items.collect_view();
    // The set was renamed or deleted in the meantime.
    let gone = compared.and_then(|(_, outcome)| outcome.err());
    view! {
        {gone.map(|error| view! { <ErrorNotice error /> })}
        <div class="page-comparisons">{items}</div>
    }
}

#[component]
fn Set(
    name: String,
    /// Address of the page with the comparison.
    address: String,
    outcome: Option<Result<Comparison, AppError>>,
    open: bool,
    /// Numbers of the older and the newer version.
    versions: (i32, i32),
) -> impl IntoView {
    let is_compared = outcome.is_some();
    let summary = match &outcome {
        None => String::new(),
        Some(Ok(Comparison::Compared(compared))) => compared.summary(),
        Some(Ok(Comparison::Failed { version: Some(_), .. })) => "Failed to render".to_owned(),
        Some(Ok(Comparison::Failed { version: None, .. }) | Err(_)) => "Not compared".to_owned(),
    };
    let body = match outcome {
        None => view! {
            <p>
                <a href=address.clone()>
                    "Compare pages" <span class="visually-hidden">{format!(" with {name}")}</span>
                </a>
            </p>
        }
        .into_any(),
        Some(Err(error)) => view! { <ErrorNotice error /> }.into_any(),
        Some(Ok(Comparison::Failed { version, message })) => view! { <Failed version message /> }.into_any(),
        Some(Ok(Comparison::Compared(compared))) => view! { <ComparedPages compared versions /> }.into_any(),
    };
    view! {
        <page-comparison data-address=address data-compared=is_compared.then_some("")>
            <details class="page-comparison" open=open>
                <summary class="page-comparison__head">
                    <b class="break">{name}</b>
                    " "
                    <span class="page-comparison__summary">{summary}</span>
                </summary>
                <p class="page-comparison__status small quiet" role="status"></p>
                <div class="page-comparison__body stack">{body}</div>
            </details>
        </page-comparison>
    }
}

#[component]
fn Failed(version: Option<i32>, message: String) -> impl IntoView {
    let words = match version {
        Some(version) => format!("Version {version} failed to render: {message}"),
        None => format!("The pages can’t be compared: {message}"),
    };
    view! {
        <div class="notice notice--bad">
            <p class="break">{words}</p>
        </div>
    }
}

#[component]
fn ComparedPages(
    compared: PageComparison,
    /// Numbers of the older and the newer version.
    versions: (i32, i32),
) -> impl IntoView {
    let partial = compared.is_partial().then(|| {
        view! { <InfoNotice>{format!("Only the first {MOST_COMPARED_PAGES} pages are compared.")}</InfoNotice> }
    });
    let is_unchanged = |page: &&ComparedPage| page.change == PageChange::Unchanged;
    let unchanged: Vec<_> = compared
        .pages
        .iter()
        .filter(is_unchanged)
        .map(|page| page.number)
        .collect();
    let unchanged = (!unchanged.is_empty()).then(|| {
        view! {
            <details class="page-comparison__unchanged small">
                <summary>{counted(unchanged.len(), "unchanged page", "unchanged pages")}</summary>
                <p>{ranges(&unchanged)}</p>
            </details>
        }
    });
    let unpictured = compared.changed().filter(|page| page.pictures.is_none()).count();
    let unpictured = (unpictured > 0).then(|| {
        let pages = counted(unpictured, "more changed page has", "more changed pages have");
        let words = format!("{pages} no pictures: there are pictures of up to {MOST_PICTURED_PAGES} pages.");
        view! { <p class="small quiet">{words}</p> }
    });
    let changed = compared.pages.into_iter().filter(|page| page.pictures.is_some());
    let changed = changed.map(|page| view! { <ChangedPage page versions /> });
    view! {
        {partial}
        {changed.collect_view()}
        {unpictured}
        {unchanged}
    }
}

#[component]
fn ChangedPage(page: ComparedPage, versions: (i32, i32)) -> impl IntoView {
    let (older, newer) = versions;
    let number = page.number;
    let extent = page.extent().map(|words| view! { <p class="small quiet">{words}</p> });
    let change = match page.change {
        PageChange::Unchanged | PageChange::Changed { .. } => "",
        PageChange::Added => ", added",
        PageChange::Removed => ", removed",
    };
    let pictures = page.pictures.map(|pictures| {
        [
            (pictures.before, "Before", format!("Page {number} in version {older}")),
            (pictures.after, "After", format!("Page {number} in version {newer}")),
            (
                pictures.difference,
                "Difference: removed in red, added in green",
                format!("Page {number}: removed areas in red, added areas in green"),
            ),
        ]
    });
    let figures = pictures.into_iter().flatten().filter_map(|(picture, caption, alt)| {
        let Picture { width, height, png } = picture?;
        Some(view! {
            <figure class="page-comparison__picture">
                <figcaption class="small">{caption}</figcaption>
                <img
                    class="page-image"
                    src=format!("data:image/png;base64,{png}")
                    width=width
                    height=height
                    alt=alt
                    loading="lazy"
                />
            </figure>
        })
    });
    view! {
        <section class="stack stack--tight">
            <h3>{format!("Page {number}{change}")}</h3>
            {extent}
            <div class="page-comparison__pictures">{figures.collect_view()}</div>
        </section>
    }
}

/// Returns ascending numbers such as `1–3, 5`.
fn ranges(numbers: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let ranges = ranges.into_iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}–{last}"),
    });
    ranges.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_pages_are_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1–3, 5, 7–8");
        assert_eq!(ranges(&[4]), "4");
    }
}
