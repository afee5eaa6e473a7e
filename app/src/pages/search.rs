//! `/dashboard/search`: pages, actions, templates, assets and renders that match `q` of the query. The command palette shows
//! the results of this page.

use std::sync::Arc;

use leptos::prelude::*;
use platen_domain::{
    ids::RenderId,
    role::{Permission, Role},
    template::TemplateFilter,
};

use crate::{
    backend::Backend,
    error::AppError,
    layout::{
        page::{PageHead, loaded},
        shell::{
            Shell, admin,
            rail::{Entry, GROUPS},
        },
    },
    pages::{assets, query::ListQuery, renders, templates},
    ui::icon::{Glyph, Icon},
};

pub(crate) const PATH: &str = "/dashboard/search";
/// Maximum length of a search.
pub(crate) const MOST_CHARACTERS: usize = 200;
/// Maximum number of templates in the results.
const MOST_TEMPLATES: usize = 6;

/// Actions: name, synonyms, the page with the dialog that its fragment opens, icon, and the permission that it requires.
const ACTIONS: [(&str, &str, &str, Glyph, Permission); 7] = [
    (
        "New render",
        "create document pdf",
        "/dashboard/playground",
        Glyph::Play,
        Permission::Produce,
    ),
    (
        "New template",
        "create design",
        "/dashboard/templates#create",
        Glyph::Add,
        Permission::Produce,
    ),
    (
        "Upload files",
        "asset image picture logo font style sheet",
        "/dashboard/assets#upload",
        Glyph::Add,
        Permission::Produce,
    ),
    (
        "New batch",
        "csv rows upload bulk",
        "/dashboard/batches/new",
        Glyph::Add,
        Permission::Produce,
    ),
    (
        "New API key",
        "create token",
        "/dashboard/api-keys#create",
        Glyph::Add,
        Permission::ManageKeys,
    ),
    (
        "Connect a bucket",
        "storage connection s3 google cloud",
        "/dashboard/destinations#connect",
        Glyph::Add,
        Permission::ManageDestinations,
    ),
    (
        "Invite members",
        "team people add",
        "/dashboard/team#invite",
        Glyph::Add,
        Permission::ManagePeople,
    ),
];

/// Pages that the rail doesn't list: name, synonyms, path, icon, and the permission that they require.
const MORE_PAGES: [(&str, &str, &str, Glyph, Permission); 4] = [
    (
        "Failed renders",
        "errors failures",
        "/dashboard/renders?state=failed",
        Glyph::Sheets,
        Permission::Produce,
    ),
    (
        "Activity",
        "log history audit",
        "/dashboard/team/log",
        Glyph::Audit,
        Permission::ReadLog,
    ),
    (
        "Second factor",
        "authenticator passkey security",
        "/dashboard/settings/second-factor",
        Glyph::Settings,
        Permission::SeeAccount,
    ),
    (
        "Docs",
        "api reference help",
        "/docs",
        Glyph::Paper,
        Permission::SeeAccount,
    ),
];

/// A result.
struct Hit {
    name: String,
    href: String,
    icon: Glyph,
}

/// Results under a heading.
type Group = (&'static str, Vec<Hit>);

/// The page of results.
#[component]
pub fn Search() -> impl IntoView {
    let search = ListQuery::of_page(&["q"]).text("q").unwrap_or_default();
    let search = search.trim().chars().filter(|character| !character.is_control());
    let search: String = search.take(MOST_CHARACTERS).collect();
    let typed = search.clone();
    view! {
        <Shell title="Search" current=Entry::Overview>
            <PageHead title="Search" lede="Pages, actions, templates and assets by name, and renders by title or id." />
            <form class="cluster" action=PATH role="search">
                <input
                    class="input"
                    type="search"
                    name="q"
                    value=typed
                    maxlength=MOST_CHARACTERS
                    aria-label="Search"
                    autocomplete="off"
                />
                <button class="button">"Search"</button>
            </form>
            {loaded(
                {
                    let search = search.clone();
                    move |backend| find(backend, search)
                },
                move |groups| view! { <Results groups search /> },
            )}
        </Shell>
    }
}

#[component]
fn Results(groups: Vec<Group>, search: String) -> impl IntoView {
    let nothing = groups.is_empty().then(|| {
        view! { <p class="palette__hint">"No results for “" {search} "”. Search for part of a name or title, or for the id of a render."</p> }
    });
    let groups = groups.into_iter().map(|(heading, hits)| {
        let hits = hits.into_iter().map(|Hit { name, href, icon }| {
            view! {
                <li>
                    <a class="results__item" href=href>
                        <Icon glyph=icon />
                        <span>{name}</span>
                    </a>
                </li>
            }
        });
        view! {
            <section class="results__group">
                <h2 class="results__heading">{heading}</h2>
                <ul class="results__list">{hits.collect_view()}</ul>
            </section>
        }
    });
    view! { <div class="results" id="results">{groups.collect_view()} {nothing}</div> }
}

/// Returns what matches the search and may be used by the user. Without a search, that is every page and action, and the
/// newest templates.
async fn find(backend: Arc<dyn Backend>, search: String) -> Result<Vec<Group>, AppError> {
    let summary = backend.summary().await?;
    let (mut templates, mut found_assets, mut renders) = (Vec::new(), Vec::new(), Vec::new());
    if summary.role.may(Permission::Produce) {
        let filter = TemplateFilter {
            search: Some(search.clone()).filter(|search| !search.is_empty()),
            has_draft: None,
        };
        let found = backend.templates(filter, None).await?;
        templates.extend(found.items.into_iter().take(MOST_TEMPLATES).map(|(found, hint)| Hit {
            name: hint.map_or_else(|| found.name.clone(), |hint| format!("{} ({hint})", found.name)),
            href: format!("{}/{}", templates::PATH, found.id),
            icon: Glyph::Template,
        }));
        if !search.is_empty() {
            let found = backend.find_assets(&search).await?.into_iter();
            found_assets.extend(found.map(|(id, name)| hit(&name, &format!("{}/{id}", assets::PATH), Glyph::Picture)));
        }
        renders = find_renders(&*backend, &search).await?;
    }
    let mut pages = find_pages(&search, summary.role);
    if summary.operator && matches(&search, "Operator area", "admin accounts") {
        pages.push(hit("Operator area", admin::PATH, Glyph::Pulse));
    }
    let mut actions = Vec::new();
    if summary.read_only.is_none() {
        actions = choose(&ACTIONS, &search, summary.role);
    }
    let groups = [
        ("Renders", renders),
        ("Pages", pages),
        ("Actions", actions),
        ("Templates", templates),
        ("Assets", found_assets),
    ];
    Ok(groups.into_iter().filter(|(_, hits)| !hits.is_empty()).collect())
}

/// Returns the render with the searched id, or the latest renders whose titles contain the search.
async fn find_renders(backend: &dyn Backend, search: &str) -> Result<Vec<Hit>, AppError> {
    let Some(id) = RenderId::parse(search) else {
        if search.is_empty() {
            return Ok(Vec::new());
        }
        let found = backend.find_renders_by_title(search.to_owned()).await?;
        return Ok(found.into_iter().map(|(id, title)| render_hit(id, &title)).collect());
    };
    match backend.render(id).await {
        Ok(_) => Ok(vec![render_hit(id, &id.to_string())]),
        Err(AppError::NotFound) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn render_hit(id: RenderId, name: &str) -> Hit {
    hit(name, &format!("{}/{id}", renders::PATH), Glyph::Sheets)
}

fn find_pages(search: &str, role: Role) -> Vec<Hit> {
    let entries = GROUPS.iter().flat_map(|(_, entries)| entries.iter());
    let entries =
        entries.filter(|entry| role.may(entry.permission()) && matches(search, entry.name(), entry.synonyms()));
    let entries = entries.map(|entry| hit(entry.name(), entry.path(), entry.icon()));
    entries.chain(choose(&MORE_PAGES, search, role)).collect()
}

fn choose(offered: &[(&str, &str, &str, Glyph, Permission)], search: &str, role: Role) -> Vec<Hit> {
    let offered = offered
        .iter()
        .filter(|(name, synonyms, _, _, permission)| role.may(*permission) && matches(search, name, synonyms));
    offered.map(|(name, _, path, icon, _)| hit(name, path, *icon)).collect()
}

fn hit(name: &str, href: &str, icon: Glyph) -> Hit {
    Hit {
        name: name.to_owned(),
        href: href.to_owned(),
        icon,
    }
}

/// Returns whether each word of the search begins a word of the name or of its synonyms.
fn matches(search: &str, name: &str, synonyms: &str) -> bool {
    let known = format!("{name} {synonyms}").to_lowercase();
    let search = search.to_lowercase();
    search
        .split_whitespace()
        .all(|wanted| known.split_whitespace().any(|word| word.starts_with(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_a_search_begins_a_word() {
        for (search, found) in [
            ("", true),
            ("usage", true),
            ("BILL us", true),
            ("credits", true),
            ("illing", false),
            ("usage keys", false),
        ] {
            assert_eq!(matches(search, "Usage and billing", "credits plan"), found, "{search}");
        }
    }

    #[test]
    fn roles_find_only_what_they_may_open() {
        let names = |role| find_pages("", role).into_iter().map(|hit| hit.name).collect::<Vec<_>>();
        assert!(names(Role::Owner).contains(&"API keys".to_owned()));
        assert!(!names(Role::Member).contains(&"API keys".to_owned()));
        assert!(names(Role::Member).contains(&"Usage and billing".to_owned()));
    }
}
