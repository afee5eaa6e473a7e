//! A line gauge, like a typesetter's ruler.

use leptos::prelude::*;

/// A gauge of usage. All shares are from 0 to 1.
#[component]
pub fn Gauge(
    /// Accessible name.
    label: String,
    /// The used share.
    used: f64,
    /// Position of the mark for the current time.
    #[prop(optional)]
    now: Option<f64>,
    /// Label at its end. Without one, the gauge is small and has no text.
    #[prop(optional)]
    end: Option<String>,
) -> impl IntoView {
    let large = end.is_some();
    // Heights in pixels: long and short ticks, the bar, and the mark of "now".
    let (ticks, short, bar, height) = if large {
        ("10", "7", "12", "16")
    } else {
        ("4", "2", "4", "10")
    };
    let (from, to) = if large { ("4", "31") } else { ("0", "14") };
    let tick = |index: usize| {
        let x = format!("{}%", index * 5);
        view! { <line class="gauge__tick" x1=x.clone() x2=x y1=if index.is_multiple_of(2) { "0" } else { short } y2=ticks /> }
    };
    let state = match used {
        used if used >= 1.0 => " gauge--bad",
        used if used >= 0.9 => " gauge--warn",
        _ => "",
    };
    let size = if large { "" } else { " gauge--small" };
    view! {
        <svg class=format!("gauge{size}{state}") role="img" aria-label=label>
            {(0..=20).map(tick).collect_view()}
            <rect class="gauge__ground" x="0" y=bar width="100%" height=height />
            <rect class="gauge__used" x="0" y=bar width=percent(used) height=height />
            {now
                .map(|now| {
                    view! { <line class="gauge__today" x1=percent(now) x2=percent(now) y1=from y2=to /> }
                })}
            {end
                .map(|end| {
                    // Near the ends, the text would overlap the figures.
                    let middle = now.filter(|now| (0.1..0.85).contains(now));
                    view! {
                        <text class="gauge__label" x="0" y="45">
                            "0"
                        </text>
                        {middle
                            .map(|now| {
                                view! {
                                    <text class="gauge__label gauge__label--middle" x=percent(now) y="45">
                                        "today"
                                    </text>
                                }
                            })}
                        <text class="gauge__label gauge__label--end" x="100%" y="45">
                            {end}
                        </text>
                    }
                })}
        </svg>
    }
}

/// Formats a share as an SVG length, such as `12.5%`.
pub fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
