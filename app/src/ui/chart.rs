//! Bars over time, as SVG and as a table.

use leptos::{either::Either, prelude::*};
use platen_domain::number::grouped;

use crate::ui::{gauge::percent, sentence_case::sentence_case};

/// Vertical positions in pixels: the axis, the uppermost grid line, and the labels under the axis.
const AXIS: f64 = 192.0;
const TOP: f64 = 10.0;
const LABELS: &str = "210";
/// Share of the width left of the first bar, for the labels of the grid.
const MARGIN: f64 = 0.05;
/// Share of its slot that a bar occupies.
const BAR: f64 = 0.72;
/// Pixels: the minimum height of an upper part, so that it is visible, and its distance from the lower one.
const THINNEST: f64 = 3.0;
const APART: f64 = 1.5;
/// Approximate maximum number of labels under the axis.
const MOST_LABELS: usize = 5;

/// A bar of two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Label under the axis, if there is room: `1 Nov`.
    pub label: String,
    /// Name in the table: `1 November`.
    pub name: String,
    /// Value of the lower part.
    pub lower: i64,
    /// Value of the upper part.
    pub upper: i64,
    /// Whether its time is in the future.
    pub later: bool,
    /// Address of the renders behind it.
    pub href: Option<String>,
}

/// Meaning of the two parts of bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Name of the lower part: `succeeded`.
    pub lower: &'static str,
    /// Name of the upper part: `failed`.
    pub upper: &'static str,
    /// Whether the upper part means failure.
    pub upper_is_failure: bool,
}

impl Bar {
    /// Returns name and values: `1 November: 12 succeeded, 0 failed`.
    fn title(&self, parts: Parts) -> String {
        if self.later {
            return format!("{}: not yet", self.name);
        }
        let (lower, upper) = (grouped(self.lower), grouped(self.upper));
        format!("{}: {lower} {}, {upper} {}", self.name, parts.lower, parts.upper)
    }
}

/// A chart and its table.
#[component]
pub fn Chart(
    /// Unique in the page.
    id: &'static str,
    /// Title with unit and period, such as `Renders per day, 1 to 30 November`.
    title: String,
    /// Description for screen readers, in a sentence or two.
    description: String,
    /// Heading of the table's first column, such as `Day`.
    step: &'static str,
    parts: Parts,
    /// From left to right.
    bars: Vec<Bar>,
) -> impl IntoView {
    let highest = bars.iter().map(|bar| bar.lower + bar.upper).max().unwrap_or_default();
    let scale = Scale::over(highest);
    let upper_class = if parts.upper_is_failure {
        "chart__bar chart__bar--failed"
    } else {
        "chart__bar chart__bar--second"
    };
    let place = (1.0 - MARGIN) / bars.len().max(1) as f64;
    let every = bars.len().div_ceil(MOST_LABELS).max(1);
    let grid = (1..=scale.lines).map(|line| {
        let value = scale.distance * line;
        let y = AXIS - scale.height(value);
        view! {
            <line class="chart__grid" x1="0" x2="100%" y1=pixels(y) y2=pixels(y) />
            <text class="chart__label" x="0" y=pixels(y - 4.0)>
                {grouped(value)}
            </text>
        }
    });
    let columns = bars.iter().enumerate().map(|(index, bar)| {
        let x = MARGIN + place * index as f64;
        let centre = percent(x + place / 2.0);
        let (left, width) = (percent(x + place * (1.0 - BAR) / 2.0), percent(place * BAR));
        let lower = scale.height(bar.lower);
        let upper = if bar.upper > 0 {
            scale.height(bar.upper).max(THINNEST)
        } else {
            0.0
        };
        let title = bar.title(parts);
        let label = (index % every == 0).then(|| {
            view! {
                <text class="chart__label chart__label--middle" x=centre y=LABELS>
                    {bar.label.clone()}
                </text>
            }
        });
        let content = view! {
            <g class="chart__day">
                <title>{title.clone()}</title>
                {(bar.lower > 0)
                    .then(|| {
                        view! {
                            <rect
                                class="chart__bar"
                                x=left.clone()
                                width=width.clone()
                                y=pixels(AXIS - lower)
                                height=pixels(lower)
                            />
                        }
                    })}
                {(bar.upper > 0)
                    .then(|| {
                        view! {
                            <rect
                                class=upper_class
                                x=left
                                width=width
                                y=pixels(AXIS - lower - APART - upper)
                                height=pixels(upper)
                            />
                        }
                    })}
            </g>
        };
        let href = bar.href.clone().filter(|_| bar.lower + bar.upper > 0);
        view! {
            {linked(href, title, content)}
            {label}
        }
    });
    let [title_id, description_id] = ["title", "description"].map(|part| format!("{id}-{part}"));
    let name = title.clone();
    // The content of an image can't be reached.
    let role = if bars.iter().any(|bar| bar.href.is_some()) {
        "group"
    } else {
        "img"
    };
    let labelled_by = format!("{title_id} {description_id}");
    view! {
        <div class="chart-key">
            <span class="chart-key__title">{title.clone()}</span>
            <Key class="chart__bar" name=sentence_case(parts.lower) />
            <Key class=upper_class name=sentence_case(parts.upper) />
        </div>
        <svg class="chart" role=role aria-labelledby=labelled_by>
            <title id=title_id>{name}</title>
            <desc id=description_id>{description}</desc>
            <line class="chart__axis" x1="0" x2="100%" y1=pixels(AXIS) y2=pixels(AXIS) />
            {grid.collect_view()}
            {columns.collect_view()}
        </svg>
        <Table title step parts bars />
    }
}

/// Links a bar to what is behind it. With the keyboard, the links of the table are used.
fn linked(href: Option<String>, title: String, content: impl IntoView) -> impl IntoView {
    match href {
        Some(href) => Either::Left(view! {
            <a href=href tabindex="-1" aria-label=title>
                {content}
            </a>
        }),
        None => Either::Right(content),
    }
}

/// An entry of the legend.
#[component]
pub(super) fn Key(#[prop(into)] class: String, #[prop(into)] name: String) -> impl IntoView {
    view! {
        <span>
            <svg viewBox="0 0 12 12" aria-hidden="true">
                <rect class=class width="12" height="12" />
            </svg>
            {name}
        </span>
    }
}

/// The values as a table.
#[component]
fn Table(title: String, step: &'static str, parts: Parts, bars: Vec<Bar>) -> impl IntoView {
    let name = title.clone();
    let rows = bars.iter().filter(|bar| !bar.later).map(|bar| {
        let name = match bar.href.clone() {
            Some(href) => Either::Left(view! { <a href=href>{bar.name.clone()}</a> }),
            None => Either::Right(bar.name.clone()),
        };
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td class="table__figure">{grouped(bar.lower)}</td>
                <td class="table__figure">{grouped(bar.upper)}</td>
            </tr>
        }
    });
    view! {
        <details class="chart-data">
            <summary>"Show as a table"</summary>
            <section class="table-scroll" tabindex="0" aria-label=name>
                <table class="table table--dense">
                    <caption>{title}</caption>
                    <thead>
                        <tr>
                            <th scope="col">{step}</th>
                            <th scope="col" class="table__figure">
                                {sentence_case(parts.lower)}
                            </th>
                            <th scope="col" class="table__figure">
                                {sentence_case(parts.upper)}
                            </th>
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </section>
        </details>
    }
}

/// Grid lines at round values.
struct Scale {
    distance: i64,
    lines: i64,
}

impl Scale {
    /// Returns at most five lines, of which the uppermost is at or above the highest bar.
    fn over(highest: i64) -> Self {
        let mut distance = 1;
        loop {
            for factor in [1, 2, 5] {
                let distance = distance * factor;
                // The smallest number whose last line is at or above the highest bar.
                let lines = (highest.max(1) + distance - 1) / distance;
                if lines <= 5 {
                    return Self { distance, lines };
                }
            }
            distance *= 10;
        }
    }

    /// Returns the height above the axis, in pixels.
    fn height(&self, value: i64) -> f64 {
        (AXIS - TOP) * value as f64 / (self.distance * self.lines) as f64
    }
}

fn pixels(length: f64) -> String {
    format!("{length:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_round_figures_and_room_for_the_highest_bar() {
        for (highest, distance, lines) in [
            (0, 1, 1),
            (1, 1, 1),
            (5, 1, 5),
            (6, 2, 3),
            (11, 5, 3),
            (1406, 500, 3),
            (5000, 1000, 5),
            (5001, 2000, 3),
        ] {
            let scale = Scale::over(highest);
            assert_eq!((scale.distance, scale.lines), (distance, lines), "{highest}");
            assert!(scale.height(highest) <= AXIS - TOP, "{highest}");
        }
    }
}
