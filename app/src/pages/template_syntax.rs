//! `/docs/templates`: the template syntax, with recipes and filters.

pub mod guide;

use leptos::{either::Either, prelude::*};
use leptos_meta::Title;

use crate::{
    layout::public::Public,
    pages::template_syntax::guide::{Block, GUIDE, Heading},
    ui::code::Code,
};

/// The page of the template syntax.
#[component]
pub fn TemplateSyntax() -> impl IntoView {
    let entry = |heading: &'static Heading| {
        view! {
            <li>
                <a href=format!("#{}", heading.id)>{heading.title.as_str()}</a>
            </li>
        }
    };
    view! {
        <Title text="Template syntax" />
        <Public>
            <div class="guide">
                <header class="guide__head">
                    <h1>"Template syntax"</h1>
                    <p class="guide__lede">
                        "Placeholders, loops and filters of templates, and recipes for documents."
                    </p>
                </header>
                <nav class="guide__contents" aria-labelledby="contents">
                    <h2 class="guide__label" id="contents">
                        "Contents"
                    </h2>
                    <ul class="guide__list">{GUIDE.headings.iter().map(entry).collect_view()}</ul>
                </nav>
                <div class="guide__text">{GUIDE.blocks.iter().map(block).collect_view()}</div>
            </div>
        </Public>
    }
}

fn block(block: &'static Block) -> impl IntoView {
    match block {
        Block::Html(html) => Either::Left(view! { <div class="prose" inner_html=html.as_str()></div> }),
        Block::Code { title, label, code } => Either::Right(view! {
            <Code title=title.as_str() label=label.as_str() text=code.as_str() class="code--wrap">
                {code.trim_end()}
            </Code>
        }),
    }
}
