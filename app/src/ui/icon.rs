//! Icons on a grid of 16 units, in the color of the text. They are decorative: adjacent text conveys the meaning.

use leptos::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyph {
    /// A house: an account.
    Account,
    /// A plus.
    Add,
    /// A sheet with ticks: audit log.
    Audit,
    /// A card: usage and billing.
    Billing,
    /// Bars: overview.
    Chart,
    ChevronDown,
    /// A clock that is turned back: earlier versions.
    Clock,
    /// A cross.
    Close,
    /// Two sheets: copies.
    Copy,
    /// A tray with an arrow into it.
    Destination,
    /// A circle with a tick.
    Done,
    Download,
    Eye,
    /// A circle with an exclamation mark: an error.
    Problem,
    /// A circle with an i: information.
    Info,
    /// A key.
    Key,
    /// Three layers: batches.
    Layers,
    /// An arrow out of a box.
    Leave,
    /// A capital A: fonts.
    Letter,
    /// Three bars.
    Menu,
    /// Three dots.
    More,
    Next,
    /// A sheet with a dog-ear.
    Paper,
    /// A picture with a mountain: assets.
    Picture,
    /// A triangle: run.
    Play,
    /// A sheet with a triangle: playground.
    Playground,
    Previous,
    /// A pulse: webhooks, health.
    Pulse,
    /// A bin.
    Remove,
    /// Two arrows in a circle: retry or replace.
    Rotate,
    /// A magnifying glass.
    Search,
    /// An arrow to the right.
    Send,
    /// Two sliders: settings.
    Settings,
    /// Two sheets: renders.
    Sheets,
    /// Two brackets: code.
    Tags,
    /// A sheet with lines.
    Template,
    /// Two people.
    Team,
    /// A half-filled disc: light and dark.
    Theme,
    /// A tick: the current item.
    Tick,
    /// A triangle with an exclamation mark.
    Warning,
}

impl Glyph {
    /// Returns the path data.
    fn path(self) -> &'static str {
        match self {
            Self::Add => "M8 3v10M3 8h10",
            Self::Account => "M2 14V6l6-4 6 4v8M6 14v-4h4v4",
            Self::Audit => "M3 2h10v12H3zM5.5 6l1 1 2-2M5.5 10.5l1 1 2-2M10.5 6.5h.5M10.5 11h.5",
            Self::Billing => "M2 3.5h12v9H2zM2 6.5h12M4.5 10h3",
            Self::Chart => "M2 13h12M3.5 13V8M8 13V3M12.5 13V6",
            Self::ChevronDown => "m4 6 4 4 4-4",
            Self::Clock => "M3 3v3h3M3.2 6A5.5 5.5 0 1 1 2.5 8.5M8 5v3.5l2.5 1.5",
            Self::Close => "m4 4 8 8M12 4l-8 8",
            Self::Copy => "M5.5 5.5h8v8.5h-8zM10.5 5.5V2h-8v8.5h3",
            Self::Destination => "M2 9.5V14h12V9.5M8 1.75v8M4.75 6.75 8 10l3.25-3.25",
            Self::Done => "M1.75 8a6.25 6.25 0 1 0 12.5 0a6.25 6.25 0 1 0 -12.5 0zM5.25 8.25l2 2 3.5-4",
            Self::Download => "M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
            Self::Eye => {
                "M1.5 8C3 5 5.3 3.5 8 3.5S13 5 14.5 8C13 11 10.7 12.5 8 12.5S3 11 1.5 8zM6 8a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z"
            }
            Self::Problem => "M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 0 1 0-12.5zM8 4.75v4M8 11v.25",
            Self::Info => "M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 0 1 0-12.5zM8 7.5V11M8 5v.1",
            Self::Key => "M2 11a3 3 0 1 0 6 0a3 3 0 1 0 -6 0zM7.2 8.8 13.5 2.5M11 5l2 2",
            Self::Layers => "m8 2 6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3",
            Self::Leave => "M6 3H3v10h10v-3M9 2.5h4.5V7M13 3 7.5 8.5",
            Self::Letter => "M2.5 13.5 8 2l5.5 11.5M4.6 9.5h6.8",
            Self::Menu => "M2 4h12M2 8h12M2 12h12",
            Self::More => "M3.5 8h.1M8 8h.1M12.5 8h.1",
            Self::Next => "m6 4 4 4-4 4",
            Self::Paper => "M3.5 1.75h6l3 3v9.5h-9zM9.5 1.75v3h3",
            Self::Picture => "M2 3h12v10H2zM2 11l3.5-4 3 3.5L10.5 8 14 11.5M10.5 5.5h.1",
            Self::Play => "M4 2.5 13 8l-9 5.5z",
            Self::Playground => "M3 2h10v12H3zM6.5 5.5l4 2.5-4 2.5z",
            Self::Previous => "m10 4-4 4 4 4",
            Self::Pulse => "M2 8h3l2-5 3 10 2-5h2",
            Self::Remove => "M2.5 4h11M6 4V2h4v2M4 4l.75 10h6.5L12 4",
            Self::Rotate => "M13 6A5.3 5.3 0 0 0 3.2 5.5M3 10a5.3 5.3 0 0 0 9.8.5M3 2.5v3h3M13 13.5v-3h-3",
            Self::Search => "M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0zM10.25 10.25 14 14",
            Self::Send => "M2 8h11M9 4l4 4-4 4",
            Self::Settings => {
                "M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M8.25 4.5a1.75 1.75 0 1 0 3.5 0a1.75 1.75 0 1 0 -3.5 0zM4.25 11.5a1.75 1.75 0 1 0 3.5 0a1.75 1.75 0 1 0 -3.5 0z"
            }
            Self::Sheets => "M5 1.75h8.25V11M2.75 4.5h8v9.75h-8z",
            Self::Tags => "m5.5 4-4 4 4 4M10.5 4l4 4-4 4",
            Self::Team => {
                "M3.5 5a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0zM1.5 14c0-3 2-4.5 4.5-4.5s4.5 1.5 4.5 4.5M11 3a2.5 2.5 0 0 1 0 4.5M12 9.75c1.7.5 2.5 2 2.5 4.25"
            }
            Self::Template => "M3 2h10v12H3zM5.5 5h5M5.5 8h5M5.5 11h2.5",
            Self::Theme => "M8 2a6 6 0 1 1 0 12a6 6 0 0 1 0-12z",
            Self::Tick => "m3 8.5 3.25 3.25L13 4.75",
            Self::Warning => "M8 2 1.5 13.5h13zM8 6.5v3M8 11.5v.1",
        }
    }

    /// Returns the path data of the filled area.
    fn filled(self) -> Option<&'static str> {
        (self == Self::Theme).then_some("M8 2a6 6 0 0 0 0 12z")
    }
}

/// An icon, hidden from screen readers.
#[component]
pub fn Icon(glyph: Glyph) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path d=glyph.path() />
            {glyph.filled().map(|path| view! { <path d=path fill="currentcolor" /> })}
        </svg>
    }
}
