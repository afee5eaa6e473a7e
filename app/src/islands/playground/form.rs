//! The form's groups of options.

use leptos::prelude::*;

use super::{
    fields::{Area, Choice, Line, Radio, Tick, words},
    options::{CUSTOM, DEFAULT_STORAGE, DEMANDS, Options, SIDES, SIZES, UNITS},
};

/// Class of fields for numbers, which are right-aligned.
const FIGURE: &str = "input input--figure";
const CODE: &str = "input input--code";

/// A collapsible group. Its head summarizes the current values.
#[component]
fn Group(
    name: &'static str,
    #[prop(into)] sum: Signal<String>,
    #[prop(optional)] open: bool,
    children: Children,
) -> impl IntoView {
    view! {
        <details class="option-group" open=open>
            <summary>{name} <span class="option-group__sum">{move || sum.get()}</span></summary>
            <div class="option-group__body">{children()}</div>
        </details>
    }
}

/// Page size, orientation, margins, scale and backgrounds.
#[component]
pub(super) fn Paper(options: Options) -> impl IntoView {
    let sum = move || format!("{}, {}", options.size.get(), options.orientation.get());
    let sides = options.margin.into_iter().zip(SIDES).map(|(value, (side, label))| {
        view! {
            <Line id=format!("margin-{side}") label value at=format!("/margin/{side}") class=FIGURE />
        }
    });
    view! {
        <Group name="Paper" sum=Signal::derive(sum) open=true>
            <div class="fields fields--2">
                <Choice id="size" label="Size" value=options.size at="/size" options=words(SIZES) />
                <Choice
                    id="orientation"
                    label="Orientation"
                    value=options.orientation
                    at="/orientation"
                    options=words(["portrait", "landscape"])
                />
            </div>
            <Show when=move || options.size.get() == CUSTOM>
                <div class="fields fields--3">
                    <Line id="width" label="Width" value=options.width at="/size/width" class=FIGURE />
                    <Line id="height" label="Height" value=options.height at="/size/height" class=FIGURE />
                    <Choice id="size-unit" label="Unit" value=options.size_unit at="/size/unit" options=words(UNITS) />
                </div>
            </Show>
            <fieldset class="fieldset">
                <legend class="fieldset__legend">"Margins"</legend>
                <div class="fields fields--4">{sides.collect_view()}</div>
            </fieldset>
            <div class="fields fields--2">
                <Choice
                    id="margin-unit"
                    label="Unit"
                    value=options.margin_unit
                    at="/margin/unit"
                    options=words(UNITS)
                />
                <Line id="scale" label="Scale, 0.1 to 2" value=options.scale at="/scale" class=FIGURE />
            </div>
            <Tick label="Paper size from CSS" value=options.css_size hint="@page overrides the size above" />
            <Tick label="Print backgrounds" value=options.backgrounds />
        </Group>
    }
}

/// Header and footer of every page.
#[component]
pub(super) fn HeaderAndFooter(options: Options) -> impl IntoView {
    let sum = move || {
        let (header, footer) = (options.header.read().is_empty(), options.footer.read().is_empty());
        let sum = match (options.header_footer.get(), header, footer) {
            (false, ..) | (true, true, true) => "None",
            (true, false, true) => "Header",
            (true, true, false) => "Footer",
            (true, false, false) => "Both",
        };
        sum.to_owned()
    };
    view! {
        <Group name="Header and footer" sum=Signal::derive(sum)>
            <Tick
                label="Print header and footer"
                value=options.header_footer
                hint="Classes filled in: date, title, url, pageNumber, totalPages"
            />
            <Area id="header" label="Header" value=options.header at="/header_template" optional=true />
            <Area id="footer" label="Footer" value=options.footer at="/footer_template" optional=true />
        </Group>
    }
}

/// Page selection, CSS media type and output format.
#[component]
pub(super) fn Output(options: Options) -> impl IntoView {
    let sum = move || {
        let pages = options.pages.get();
        let pages = if pages.is_empty() {
            "All pages".to_owned()
        } else {
            format!("Pages {pages}")
        };
        let format = if options.format.get() == "pdf" { "PDF" } else { "PDF/A" };
        format!("{pages}, {format}")
    };
    let format = move |word: &'static str, label, hint| {
        view! {
            <Radio
                class="check"
                name="format"
                label
                hint
                checked=Signal::derive(move || options.format.get() == word)
                on_choose=move || options.format.set(word.to_owned())
            />
        }
    };
    let demands = DEMANDS.into_iter().zip(options.demands);
    let demands = demands.map(|((_, label), value)| view! { <Tick label value /> });
    view! {
        <Group name="Pages and output" sum=Signal::derive(sum)>
            <div class="fields fields--2">
                <Line
                    id="pages"
                    label="Pages"
                    value=options.pages
                    at="/pages"
                    hint="For example, 1, 3-5. Leave empty for all pages."
                />
                <Choice
                    id="media"
                    label="Media: which CSS rules apply"
                    value=options.media
                    at="/emulate_media_type"
                    options=words(["print", "screen"])
                />
            </div>
            <fieldset class="fieldset">
                <legend class="fieldset__legend">"Format"</legend>
                {format("pdf/a", "PDF/A", "For archiving. Fonts, colours, tags and metadata are complete.")}
                {format("pdf", "PDF", "As the browser prints it.")}
            </fieldset>
            <div class="fields fields--2">
                <Line
                    id="language"
                    label="Language"
                    value=options.language
                    at="/language"
                    hint="Of pages without a lang attribute, such as en or pt-BR."
                />
                <fieldset class="fieldset">
                    <legend class="fieldset__legend">"Conformance"</legend>
                    {demands.collect_view()}
                </fieldset>
            </div>
        </Group>
    }
}

/// Wait condition, script and cookie, which apply before the page is printed.
#[component]
pub(super) fn BeforePrinting(options: Options) -> impl IntoView {
    let sum = move || {
        let set = [
            (options.wait_selector, "Wait"),
            (options.script, "JavaScript"),
            (options.cookie_name, "Cookie"),
        ];
        let set: Vec<_> = set
            .into_iter()
            .filter(|(text, _)| !text.read().is_empty())
            .map(|(_, name)| name)
            .collect();
        if set.is_empty() {
            "None".to_owned()
        } else {
            set.join(", ")
        }
    };
    view! {
        <Group name="Before printing" sum=Signal::derive(sum)>
            <div class="fields fields--2">
                <Line
                    id="wait-selector"
                    label="Wait for selector"
                    value=options.wait_selector
                    at="/wait_for/selector"
                    class=CODE
                    optional=true
                />
                <Line
                    id="wait-attribute"
                    label="Required attribute"
                    value=options.wait_attribute
                    at="/wait_for/attribute"
                    class=CODE
                    optional=true
                />
            </div>
            <Area
                id="script"
                label="Evaluate JavaScript"
                value=options.script
                at="/evaluate_js/expression"
                optional=true
                hint="A returned promise is awaited."
            />
            <div class="fields fields--3">
                <Line
                    id="cookie-name"
                    label="Cookie name"
                    value=options.cookie_name
                    at="/set_cookie/name"
                    optional=true
                />
                <Line id="cookie-value" label="Value" value=options.cookie_value at="/set_cookie/value" optional=true />
                <Line
                    id="cookie-domain"
                    label="Domain"
                    value=options.cookie_domain
                    at="/set_cookie/domain"
                    optional=true
                />
            </div>
        </Group>
    }
}

/// Execution, encoding or destination of the document, webhook and idempotency key.
#[component]
pub(super) fn Delivery(options: Options) -> impl IntoView {
    let queued = options.queued;
    let sum = move || if queued.get() { "Asynchronous" } else { "Synchronous" }.to_owned();
    let providers = [
        (DEFAULT_STORAGE, "Default storage"),
        ("aws_s3", "Amazon S3 or compatible"),
        ("google_cloud_storage", "Google Cloud Storage"),
    ];
    view! {
        <Group name="Delivery" sum=Signal::derive(sum)>
            <fieldset class="fieldset">
                <legend class="fieldset__legend">"Execution"</legend>
                <Radio
                    class="check"
                    name="mode"
                    label="Synchronous"
                    hint="POST /api/v1/renderers/pdf"
                    checked=Signal::derive(move || !queued.get())
                    on_choose=move || queued.set(false)
                />
                <Radio
                    class="check"
                    name="mode"
                    label="Asynchronous"
                    hint="POST /api/v1/renderers/pdf/async, with destination and webhook"
                    checked=queued
                    on_choose=move || queued.set(true)
                />
            </fieldset>
            <Show
                when=move || queued.get()
                fallback=move || {
                    view! {
                        <Choice
                            id="encoding"
                            label="Encoding"
                            value=options.encoding
                            at="/output_encoding"
                            options=words(["binary", "base64"])
                        />
                    }
                }
            >
                <Line
                    id="callback"
                    label="Webhook URL"
                    value=options.callback
                    at="/callback/url"
                    class=CODE
                    optional=true
                />
                <Choice
                    id="provider"
                    label="Destination"
                    value=options.provider
                    at="/destination/provider"
                    options=providers
                />
                <Show when=move || options.provider.get() != DEFAULT_STORAGE>
                    <div class="fields fields--2">
                        <Line id="bucket" label="Bucket" value=options.bucket at="/destination/bucket" class=CODE />
                        <Line id="path" label="Path" value=options.path at="/destination/path" class=CODE />
                    </div>
                </Show>
            </Show>
            <Line
                id="idempotency-key"
                label="Idempotency key"
                value=options.idempotency_key
                at=""
                optional=true
            />
        </Group>
    }
}
