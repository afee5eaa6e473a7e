//! First steps, for an account without renders.

use leptos::{either::Either, prelude::*};
use platen_domain::role::Permission;

use super::Credits;

use crate::{
    backend::backend,
    layout::page::{PageHead, loaded},
    model::account_summary::CreditPeriod,
    ui::{
        badge::{Badge, State},
        button::{ButtonLink, Rank},
        code::Code,
        icon::Glyph,
    },
};

/// Three steps to the first document.
#[component]
pub fn FirstRun(
    /// Credits of this period.
    credits: CreditPeriod,
) -> impl IntoView {
    let base_url = backend().base_url();
    let curl = format!(
        "curl {base_url}/api/v1/renderers/pdf \\\n  -H \"Authorization: Bearer $PLATEN_KEY\" \\\n  \
         -H \"Content-Type: application/json\" \\\n  \
         -d '{{\"parts\":[\"<h1>Hello, paper</h1>\"],\"output_encoding\":\"binary\"}}' \\\n  -o hello.pdf\n"
    );
    let shown = curl.trim_end().to_owned();
    view! {
        {loaded(
            |backend| async move { backend.summary().await },
            move |summary| {
                let has_key = summary.keys > 0;
                let may_have_keys = summary.role.may(Permission::ManageKeys);
                let has_template = summary.templates > 0;
                let name = summary.person.name.split_whitespace().next().map(|name| format!(", {name}"));
                let done = usize::from(has_key) + usize::from(has_template);
                view! {
                    <PageHead title=format!("Welcome{}", name.unwrap_or_default()) lede="Three steps to your first document.">
                        <ButtonLink href="/dashboard/playground" rank=Rank::Primary icon=Glyph::Play>
                            "Try the playground"
                        </ButtonLink>
                    </PageHead>
                    <section class="section">
                        <div class="section__head">
                            <h2>"First run"</h2>
                            <span class="section__note">{format!("{done} of 3 done")}</span>
                        </div>
                        <ol class="steps">
                            <Step number=1 title="Create a key" is_done=has_key>
                                {has_key.then(|| done_note("There is a key"))}
                                <p>"Keep it in " <code>"PLATEN_KEY"</code> "."</p>
                                <KeyLink has_key may=may_have_keys />
                            </Step>
                            <Step number=2 title="Render with curl">
                                <p>"Paste this in a terminal, then load this page again."</p>
                                <Code title="curl" label="curl" text=curl>
                                    {shown}
                                </Code>
                            </Step>
                            <Step number=3 title="Store a template" is_done=has_template>
                                <p>"Write HTML once, send only data from then on. You see the page while you type."</p>
                                {has_template.then(|| done_note("There is a template"))}
                                <ButtonLink href="/dashboard/templates" icon=Glyph::Template>
                                    "Templates"
                                </ButtonLink>
                            </Step>
                        </ol>
                    </section>
                    <Credits credits>""</Credits>
                }
            },
        )}
    }
}

#[component]
fn KeyLink(has_key: bool, may: bool) -> impl IntoView {
    if !may {
        return Either::Left(view! { <p>"Ask the owner or an admin of this account for one."</p> });
    }
    Either::Right(view! {
        <ButtonLink href="/dashboard/api-keys" icon=Glyph::Key>
            {if has_key { "API keys" } else { "New key" }}
        </ButtonLink>
    })
}

#[component]
fn Step(number: u8, title: &'static str, #[prop(optional)] is_done: bool, children: Children) -> impl IntoView {
    let class = if is_done {
        "steps__item steps__item--done"
    } else {
        "steps__item"
    };
    view! {
        <li class=class>
            <span class="steps__number" aria-hidden="true">
                {number}
            </span>
            <h3 class="steps__title">{title}</h3>
            <div class="steps__body">{children()}</div>
        </li>
    }
}

fn done_note(words: &'static str) -> impl IntoView {
    view! {
        <p>
            <Badge state=State::Good>{words}</Badge>
        </p>
    }
}
