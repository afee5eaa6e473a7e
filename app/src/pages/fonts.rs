//! `/dashboard/fonts`: the fonts among the account's assets, with specimens.

use leptos::prelude::*;
use platen_domain::{
    asset::{
        Asset,
        font_sheet::{FONT_SHEET, quoted, specimen_class},
        properties::{FontFace, ScriptCoverage},
    },
    number::{counted, grouped},
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::asset::Fonts as Found,
    pages::{
        assets::{PATH as ASSETS, Uploaded, upload::UploadDialog},
        query::{ListQuery, address},
    },
    ui::{
        button::{OpenButton, Rank},
        copy_button::CopyButton,
        filters::{FilterForm, SearchFilter},
        icon::Glyph,
        notice::InfoNotice,
    },
};

/// Path of the page.
pub const PATH: &str = "/dashboard/fonts";
/// Path of the style sheet of its specimens.
pub const SHEET_PATH: &str = "/dashboard/fonts.css";

/// The text of specimens, unless the user enters another one.
const SPECIMEN: &str = "The quick brown fox jumps over the lazy dog. 0123456789 €";
/// Maximum length of the user's text, in characters.
const LONGEST_SPECIMEN: usize = 200;
/// Number of scripts that are named.
const NAMED_SCRIPTS: usize = 4;

/// The page of fonts, filtered by `q` of the query, with the text of specimens in `text`.
#[component]
pub fn Fonts() -> impl IntoView {
    let query = ListQuery::of_page(&["q", "text"]);
    let search = query.text("q");
    view! {
        <Shell title="Fonts" current=Entry::Fonts>
            <PageHead title="Fonts" lede="The fonts among your assets. They are used only where a page or template declares them.">
                <OpenButton dialog="upload" rank=Rank::Primary icon=Glyph::Add>
                    "Upload fonts"
                </OpenButton>
            </PageHead>
            {loaded(|backend| async move { backend.fonts(search).await }, move |found| view! { <Content found query /> })}
            <UploadDialog to_fonts=true />
        </Shell>
    }
}

#[component]
fn Content(found: Found, query: ListQuery) -> impl IntoView {
    let Found {
        fonts,
        left_out,
        upload,
    } = found;
    let upload = upload.map(|report| view! { <Uploaded report /> });
    let search = query.text("q");
    if fonts.is_empty() {
        return match search {
            None => view! { {upload} <Empty /> }.into_any(),
            Some(_) => view! {
                {upload}
                <Search />
                <p>"No font has this in its name. " <a href=PATH>"Show all"</a></p>
            }
            .into_any(),
        };
    }
    let text = query.text("text").unwrap_or_else(|| SPECIMEN.to_owned());
    let text: String = text.chars().take(LONGEST_SPECIMEN).collect();
    let families = by_family(fonts).into_iter();
    let families = families.map(|(family, fonts)| view! { <Family family fonts text=text.clone() /> });
    let families = families.collect_view();
    let more = (left_out > 0).then(|| {
        let others = counted(left_out, "more font isn’t", "more fonts aren’t");
        view! { <InfoNotice>{others} " shown. Find them by family or file."</InfoNotice> }
    });
    view! {
        {upload}
        <link rel="stylesheet" href=address(SHEET_PATH, [("q", search)]) />
        <Usage />
        <Search />
        {families}
        {more}
    }
    .into_any()
}

/// How templates use the fonts.
#[component]
fn Usage() -> impl IntoView {
    let link = sheet_link();
    view! {
        <Section heading="Use them in a template" body="section__body stack stack--tight">
            <p>
                "This style sheet declares all of them by the names of their families. Only those that a page uses are loaded."
            </p>
            <p>
                <code class="break">{link.clone()}</code>
                " "
                <CopyButton label="Copy the link to the style sheet".to_owned() text=link />
            </p>
        </Section>
    }
}

#[component]
fn Search() -> impl IntoView {
    view! {
        <Section heading="Specimens">
            <FilterForm path=PATH action="Show">
                <SearchFilter label="Find by family or file" />
                <SearchFilter label="Text of specimens" name="text" />
            </FilterForm>
        </Section>
    }
}

/// Groups fonts by family, in alphabetical order.
fn by_family(fonts: Vec<Asset>) -> Vec<(String, Vec<Asset>)> {
    let mut families: Vec<(String, Vec<Asset>)> = Vec::new();
    for font in fonts {
        let family = font.family();
        match families.iter_mut().find(|(name, _)| name == family) {
            Some((_, fonts)) => fonts.push(font),
            None => families.push((family.to_owned(), vec![font])),
        }
    }
    families.sort_by_cached_key(|(family, _)| family.to_lowercase());
    for (_, fonts) in &mut families {
        fonts.sort_by_key(|asset| asset.font().map(|font| (font.weight, font.italic, font.width)));
    }
    families
}

#[component]
fn Family(
    family: String,
    fonts: Vec<Asset>,
    /// Text of the specimens.
    text: String,
) -> impl IntoView {
    let rule = format!("font-family: {};", quoted(&family));
    let note = counted(fonts.len(), "file", "files");
    let fonts = fonts.into_iter();
    let fonts = fonts
        .map(|asset| view! { <Style asset text=text.clone() /> })
        .collect_view();
    let beside = view! { <CopyButton label=format!("Copy {rule}") text=rule /> }.into_any();
    view! {
        <Section heading=family note beside>
            <ul class="specimens">{fonts}</ul>
        </Section>
    }
}

/// A file of a family.
#[component]
fn Style(asset: Asset, text: String) -> impl IntoView {
    let file = view! {
        <a href=format!("{ASSETS}/{}", asset.id)>
            <code class="break">{asset.name.clone()}</code>
        </a>
    };
    let Some(font) = asset.font() else {
        return view! {
            <li class="specimen">
                <p class="specimen__facts">{file} " " <span class="quiet">"Upload the file again to see it here."</span></p>
            </li>
        }
        .into_any();
    };
    let specimens = font.shown_weights().into_iter().map(|weight| {
        let class = format!("specimen__text {}", specimen_class(&asset, weight));
        view! { <p class=class>{text.clone()}</p> }
    });
    let specimens = specimens.collect_view();
    let licence = font.licence_warning();
    let licence = licence.map(|warning| view! { <p class="specimen__warning">{warning} "."</p> });
    view! {
        <li class="specimen">
            {specimens} <p class="specimen__facts">{description(font)} " · " {coverage(font)} " · " {file}</p> {licence}
        </li>
    }
    .into_any()
}

/// Describes the style of a font: `SemiBold Italic, 600`.
pub(super) fn description(font: &FontFace) -> String {
    let [lightest, heaviest] = font.weight;
    let weight = if lightest == heaviest {
        lightest.to_string()
    } else {
        format!("{lightest} to {heaviest}")
    };
    let style = font.style.clone().unwrap_or_else(|| "Regular".to_owned());
    let variable = if font.axes.is_empty() {
        String::new()
    } else {
        format!(", variable ({})", font.axes.join(", "))
    };
    format!("{style}, {weight}{variable}")
}

/// Describes the characters of a font: `245 characters: Latin 180, Greek 20`.
pub(super) fn coverage(font: &FontFace) -> String {
    let characters = format!("{} characters", grouped(font.characters.into()));
    let named = font.scripts.iter().take(NAMED_SCRIPTS);
    let named =
        named.map(|ScriptCoverage { script, characters }| format!("{script} {}", grouped((*characters).into())));
    let named: Vec<_> = named.collect();
    if named.is_empty() {
        return characters;
    }
    let others = font.scripts.len() - named.len();
    let others = if others > 0 {
        format!(" and {}", counted(others, "other script", "other scripts"))
    } else {
        String::new()
    };
    format!("{characters}: {}{others}", named.join(", "))
}

#[component]
fn Empty() -> impl IntoView {
    view! {
        <Section heading="No fonts yet" body="section__body stack">
            <p>
                "Upload font files (WOFF2, WOFF, TrueType, OpenType), and see them here. Templates then use them by the names of their families, after "
                <code class="break">{sheet_link()}</code> "."
            </p>
            <p>
                <OpenButton dialog="upload" icon=Glyph::Add>
                    "Upload fonts"
                </OpenButton>
            </p>
        </Section>
    }
}

/// Returns the element by which templates use the style sheet of fonts.
fn sheet_link() -> String {
    format!("<link rel=\"stylesheet\" href=\"asset:{FONT_SHEET}\">")
}
