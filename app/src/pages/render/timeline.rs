//! Timeline of a render: its phases on one time axis. It is a table; the bars only illustrate its figures.

use leptos::prelude::*;
use platen_domain::{
    number::duration,
    render::detail::{Step, StepTime, Timeline},
};

use crate::ui::gauge::percent;

/// Table of the phases, with bars.
#[component]
pub fn Waterfall(
    /// Phases of the render.
    timeline: Timeline,
) -> impl IntoView {
    let axis_ms = timeline.axis_ms();
    let rows = timeline.steps.into_iter().map(|step| row(step, axis_ms));
    view! {
        <table class="table waterfall">
            <caption>"Phases of the render"</caption>
            <thead>
                <tr>
                    <th scope="col" class="table__tight">
                        "Phase"
                    </th>
                    <th scope="col" class="waterfall__track">
                        "Time axis"
                    </th>
                    <th scope="col" class="table__figure table__medium">
                        "Start"
                    </th>
                    <th scope="col" class="table__figure">
                        "Duration"
                    </th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
            <tfoot>
                <tr class="waterfall__total">
                    <th scope="row" colspan="2">
                        "Total"
                    </th>
                    <td class="table__medium"></td>
                    <td class="table__figure">{timeline.whole_ms.map(duration)}</td>
                </tr>
            </tfoot>
        </table>
    }
}

fn row(step: Step, axis_ms: f64) -> impl IntoView + use<> {
    let (track, from, took) = match step.what {
        StepTime::Taken { from_ms, took_ms } => {
            let class = match (step.failed, step.phase.is_waiting()) {
                (true, _) => "waterfall__bar waterfall__bar--failed",
                (false, true) => "waterfall__bar waterfall__bar--wait",
                (false, false) => "waterfall__bar",
            };
            let share = |time: f64| percent(if axis_ms > 0.0 { time / axis_ms } else { 0.0 });
            let bar = view! {
                <svg class="waterfall__svg" aria-hidden="true">
                    <line class="waterfall__ground" x1="0" x2="100%" y1="7" y2="7" />
                    <rect class=class x=share(from_ms) width=share(took_ms) y="1" height="12" />
                </svg>
            };
            (bar.into_any(), duration(from_ms), duration(took_ms))
        }
        StepTime::NotAskedFor => nothing("not requested"),
        StepTime::NotReached => nothing("not reached"),
    };
    view! {
        <tr>
            <th scope="row" class="table__tight">
                {step.phase.name()}
                {step.failed.then(|| view! { <span class="visually-hidden">", failed"</span> })}
            </th>
            <td class="waterfall__track">{track}</td>
            <td class="table__figure table__medium">{from}</td>
            <td class="table__figure">{took}</td>
        </tr>
    }
}

fn nothing(why: &'static str) -> (AnyView, String, String) {
    let why = view! { <span class="quiet small">{why}</span> };
    (why.into_any(), "–".to_owned(), "–".to_owned())
}
