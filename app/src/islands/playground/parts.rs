//! The form's list of parts.

use leptos::{either::EitherOf3, prelude::*, task::spawn_local};
use strum::VariantArray;

use super::{
    api::sample_of_template,
    fields::{Area, Choice, HtmlArea, Line, Radio},
    options::{Kind, Options, Part},
};
use crate::{
    model::playground::TemplateName,
    ui::{
        button::{Button, Rank, Size},
        icon::{Glyph, Icon},
    },
};

/// Maximum number of parts that the API accepts.
const MOST: usize = 50;

/// The list of parts, which can be edited, added and removed.
#[component]
pub(super) fn Parts(options: Options, templates: Vec<TemplateName>) -> impl IntoView {
    let parts = options.parts;
    let templates = StoredValue::new(templates);
    let add = move || {
        let next = parts
            .read_untracked()
            .iter()
            .map(|part| part.id + 1)
            .max()
            .unwrap_or_default();
        let template = templates.with_value(|templates| templates.first().map(|first| first.id.clone()));
        parts
            .write()
            .push(Part::new(next, "<h1>Another part</h1>", &template.unwrap_or_default()));
    };
    view! {
        <ol class="stack stack--tight">
            <ForEnumerate
                each=move || parts.get()
                key=|part| part.id
                children=move |index, part| view! { <PartField options part index templates /> }
            />
        </ol>
        <div class="cluster">
            <Show when=move || parts.read().len() < MOST>
                <Button size=Size::Small on_press=add>
                    <Icon glyph=Glyph::Add />
                    "Add part"
                </Button>
            </Show>
            <span class="small quiet">{move || format!("{} of {MOST}", parts.read().len())}</span>
        </div>
    }
}

#[component]
fn PartField(
    options: Options,
    part: Part,
    index: ReadSignal<usize>,
    templates: StoredValue<Vec<TemplateName>>,
) -> impl IntoView {
    let id = part.id;
    let remove = move || options.parts.write().retain(|other| other.id != id);
    let name = move || format!("Part {}", index.get() + 1);
    let kinds = Kind::VARIANTS.iter().map(|&kind| {
        view! {
            <Radio
                class="segmented__option"
                name=format!("kind-{id}")
                label=kind.name()
                checked=Signal::derive(move || part.kind.get() == kind)
                on_choose=move || part.kind.set(kind)
            />
        }
    });
    view! {
        <li class="part">
            <div class="part__head">
                <span class="part__number">{name}</span>
                <fieldset class="segmented segmented--small">
                    <legend class="visually-hidden">"Type of " {name}</legend>
                    {kinds.collect_view()}
                </fieldset>
                <Show when=move || { options.parts.read().len() > 1 }>
                    <Button rank=Rank::Quiet size=Size::Small label="Remove part" on_press=remove>
                        <Icon glyph=Glyph::Close />
                    </Button>
                </Show>
            </div>
            {move || {
                let at = format!("/parts/{}", index.get());
                let content = format!("{at}/content");
                match part.kind.get() {
                    Kind::Html => {
                        EitherOf3::A(
                            view! {
                                <HtmlArea id=format!("html-{id}") label="HTML" value=part.html at=at />
                            },
                        )
                    }
                    Kind::Url => {
                        EitherOf3::B(
                            view! {
                                <Line
                                    id=format!("url-{id}")
                                    label="URL"
                                    value=part.url
                                    at=content
                                    class="input input--code"
                                />
                            },
                        )
                    }
                    Kind::Template => EitherOf3::C(view! { <TemplateField part at=content templates /> }),
                }
            }}
        </li>
    }
}

#[component]
fn TemplateField(part: Part, at: String, templates: StoredValue<Vec<TemplateName>>) -> impl IntoView {
    let id = part.id;
    let names = templates.get_value();
    let names = names.into_iter().map(|template| (template.id, template.name));
    let take_sample = move || {
        spawn_local(async move {
            let sample = sample_of_template(part.template.get_untracked()).await;
            part.context.set(sample.unwrap_or_else(|error| error.to_string()));
        });
    };
    view! {
        <div class="fields fields--2">
            <Choice
                id=format!("template-{id}")
                label="Template"
                value=part.template
                at=format!("{at}/template_id")
                options=names
            />
            <Line id=format!("channel-{id}") label="Channel" value=part.channel at=format!("{at}/channel") />
            <div class="field">
                <span class="field__label">"Data"</span>
                <div class="cluster">
                    <Button size=Size::Small on_press=take_sample>
                        "Use sample data"
                    </Button>
                </div>
            </div>
        </div>
        <Area id=format!("context-{id}") label="Data, JSON (context)" value=part.context at=format!("{at}/context") />
    }
}
