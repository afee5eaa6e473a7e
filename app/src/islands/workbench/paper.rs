//! Page setup of the preview. These are options of a render, which templates don't store.

use leptos::{ev::Event, prelude::*};

use super::live::Live;
use crate::{
    model::live_preview::Paper,
    ui::{copy_button::CopyText, field::FieldFrame},
};

const SIZES: [&str; 6] = ["A4", "A3", "A5", "Letter", "Legal", "Tabloid"];
const SIDES: [&str; 4] = ["Top, mm", "Right, mm", "Bottom, mm", "Left, mm"];

/// The panel of options. Their `input` events bubble to the form, which then renders the preview again.
#[component]
pub(super) fn PaperOptions(live: Live, open: RwSignal<bool>) -> impl IntoView {
    let set = move |change: fn(&mut Paper, String)| {
        move |event: Event| {
            let value = event_target_value(&event);
            live.paper.update(|paper| change(paper, value));
        }
    };
    let sizes = SIZES.map(|size| view! { <option value=size>{size}</option> });
    let orientations = [("portrait", "Portrait", false), ("landscape", "Landscape", true)];
    let orientations = orientations.map(|(value, label, landscape)| {
        view! {
            <label class="segmented__option">
                <input
                    type="radio"
                    name="paper-orientation"
                    value=value
                    checked=!landscape
                    on:input=move |_| live.paper.update(|paper| paper.landscape = landscape)
                />
                {label}
            </label>
        }
    });
    view! {
        <fieldset class="viewer__options" id="paper" hidden=move || !open.get()>
            <legend class="visually-hidden">"Paper"</legend>
            <div class="fields fields--3">
                <FieldFrame id="paper-size" label="Paper">
                    <select
                        class="input"
                        id="paper-size"
                        name="paper-size"
                        on:input=set(|paper, size| paper.size = size)
                    >
                        {sizes.into_iter().collect_view()}
                    </select>
                </FieldFrame>
                <div class="field">
                    <span class="field__label" aria-hidden="true">
                        "Orientation"
                    </span>
                    <fieldset class="segmented">
                        <legend class="visually-hidden">"Orientation"</legend>
                        {orientations.into_iter().collect_view()}
                    </fieldset>
                </div>
                <FieldFrame id="paper-scale" label="Scale">
                    <input
                        class="input input--figure"
                        id="paper-scale"
                        type="text"
                        name="paper-scale"
                        value="1"
                        inputmode="decimal"
                        autocomplete="off"
                        on:input=set(|paper, scale| paper.scale = scale)
                    />
                </FieldFrame>
            </div>
            <Margins live />
            <label class="check">
                <input
                    class="check__box"
                    type="checkbox"
                    name="paper-from-page"
                    checked
                    on:input=move |event| live.paper.update(|paper| paper.prefer_css = event_target_checked(&event))
                />
                <span class="check__label">"Take the paper from @page"</span>
                <span class="check__hint">
                    <code>"prefer_css_page_size"</code>
                    ". Otherwise pages are scaled to the paper above; @page still sets orientation and margins."
                </span>
            </label>
            <label class="check">
                <input
                    class="check__box"
                    type="checkbox"
                    name="paper-backgrounds"
                    checked
                    on:input=move |event| live.paper.update(|paper| paper.backgrounds = event_target_checked(&event))
                />
                <span class="check__label">"Print backgrounds"</span>
                <span class="check__hint">
                    <code>"include_backgrounds"</code>
                </span>
            </label>
            <Request live />
        </fieldset>
    }
}

/// The members of a request that have the same effect as the panel.
#[component]
fn Request(live: Live) -> impl IntoView {
    let members = Signal::derive(move || {
        let options = serde_json::to_string(&live.paper.read().options()).unwrap_or_default();
        let members = options.strip_prefix('{').and_then(|members| members.strip_suffix('}'));
        members.unwrap_or_default().to_owned()
    });
    view! {
        <div class="stack stack--tight">
            <p class="small quiet">
                "For this preview only: templates don’t store their paper. Set it in the CSS with "
                <code>"@page"</code> ", or send these members with each request:"
            </p>
            <div class="viewer__request">
                <code>{members}</code>
                <CopyText text=members label="Copy: options" />
            </div>
        </div>
    }
}

/// The four margins. Empty fields use the API's defaults.
#[component]
fn Margins(live: Live) -> impl IntoView {
    let margins = SIDES.into_iter().enumerate().map(|(side, label)| {
        let id = format!("paper-margin-{side}");
        let change = move |event: Event| {
            let value = event_target_value(&event);
            live.paper.update(|paper| paper.margins[side] = value);
        };
        view! {
            <FieldFrame id=id.clone() label>
                <input
                    class="input input--figure"
                    id=id.clone()
                    type="text"
                    name=id
                    inputmode="decimal"
                    autocomplete="off"
                    on:input=change
                />
            </FieldFrame>
        }
    });
    view! { <div class="fields fields--4">{margins.collect_view()}</div> }
}
