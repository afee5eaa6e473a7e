//! Timeline of a render, from its recorded phase times and its deliveries.

use platen_domain::{
    callback::Attempt,
    render::detail::{Phase, Step, StepTime, Timeline},
};
use serde_json::Value;

use crate::{service::renders::log::milliseconds, store::renders::history::Render};

/// Computes the timeline. `first` is the first attempt of the delivery; `failed_in` is the phase in which the deadline
/// passed.
pub(super) fn timeline(render: &Render, first: Option<&Attempt>, failed_in: Option<Phase>) -> Timeline {
    let since_accepted = |at| milliseconds(at - render.inserted_at);
    let Some(times) = &render.phase_times else {
        return Timeline {
            steps: Vec::new(),
            whole_ms: render.finished_at.map(since_accepted),
        };
    };
    let taken = |phase: Phase| times[phase.into_str()].as_f64().unwrap_or_default();
    let failed_in = failed_in.or_else(|| {
        let last = Phase::OF_ENGINE.into_iter().rev().find(|&phase| taken(phase) > 0.0);
        last.filter(|_| render.error.is_some())
    });
    // The phases follow each other. For asynchronous renders, the time in the queue precedes them.
    let mut steps = Vec::new();
    let mut from_ms = 0.0;
    let mut reached = true;
    for phase in Phase::OF_ENGINE {
        let mut took_ms = taken(phase);
        if phase == Phase::Queue && render.mode == "async" {
            took_ms += render.started_at.map_or(0.0, since_accepted);
        }
        let what = if !reached {
            StepTime::NotReached
        } else if took_ms == 0.0 && !is_asked_for(phase, &render.options) {
            StepTime::NotAskedFor
        } else {
            StepTime::Taken { from_ms, took_ms }
        };
        if reached {
            from_ms += took_ms;
        }
        let failed = failed_in == Some(phase);
        reached &= !failed;
        steps.push(Step { phase, what, failed });
    }
    if let Some(took_ms) = times[Phase::Upload.into_str()].as_f64() {
        let what = StepTime::Taken { from_ms, took_ms };
        steps.push(Step {
            phase: Phase::Upload,
            what,
            failed: false,
        });
        from_ms += took_ms;
    }
    let mut whole_ms = render.finished_at.map(since_accepted);
    if let Some(attempt) = first {
        let took_ms = f64::from(attempt.duration_ms);
        let from_ms = since_accepted(attempt.inserted_at).max(from_ms);
        let what = StepTime::Taken { from_ms, took_ms };
        let failed = !attempt.was_received();
        steps.push(Step {
            phase: Phase::Callback,
            what,
            failed,
        });
        whole_ms = Some(from_ms + took_ms);
    }
    Timeline { steps, whole_ms }
}

/// Returns whether a phase is part of every render, or was requested for this one.
fn is_asked_for(phase: Phase, options: &Value) -> bool {
    match phase {
        Phase::Evaluate => options.get("evaluate_js").is_some(),
        Phase::Wait => options.get("wait_for").is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use platen_domain::ids::RenderId;
    use serde_json::json;
    use time::{Duration, OffsetDateTime, macros::datetime};

    use super::*;

    const AT: OffsetDateTime = datetime!(2026-11-22 10:00 UTC);

    fn render(mode: &str, phase_times: Value, took_ms: i64) -> Render {
        Render {
            id: RenderId::generate(),
            mode: mode.to_owned(),
            state: "succeeded".to_owned(),
            livemode: true,
            page_count: Some(1),
            bytes: Some(1),
            conformance: None,
            credits: Some(1),
            warnings: json!([]),
            error: None,
            result: None,
            options: json!({}),
            phase_times: Some(phase_times),
            requests: json!([]),
            console: json!([]),
            title: None,
            object_expires_at: None,
            inserted_at: AT,
            started_at: Some(AT + Duration::milliseconds(100)),
            finished_at: Some(AT + Duration::milliseconds(took_ms)),
        }
    }

    fn seen(timeline: &Timeline) -> Vec<String> {
        let step = |step: &Step| {
            let time = match step.what {
                StepTime::Taken { from_ms, took_ms } => format!("{from_ms}+{took_ms}"),
                StepTime::NotAskedFor => "not asked for".to_owned(),
                StepTime::NotReached => "not reached".to_owned(),
            };
            format!(
                "{} {time}{}",
                step.phase.into_str(),
                if step.failed { " failed" } else { "" }
            )
        };
        timeline.steps.iter().map(step).collect()
    }

    #[test]
    fn phases_lie_one_after_the_other() {
        let times = json!({"queue": 1.0, "load": 20.0, "evaluate": 0.0, "wait": 4.0, "print": 30.0, "post": 5.0, "upload": 7.0});
        let mut render = render("async", times, 170);
        render.options = json!({"wait_for": {"selector": "p"}});
        let attempt = Attempt {
            status: Some(503),
            error: None,
            answer: String::new(),
            duration_ms: 30,
            inserted_at: AT + Duration::milliseconds(180),
        };
        let timeline = timeline(&render, Some(&attempt), None);
        assert_eq!(
            seen(&timeline),
            [
                "queue 0+101",
                "load 101+20",
                "evaluate not asked for",
                "wait 121+4",
                "print 125+30",
                "post 155+5",
                "upload 160+7",
                "callback 180+30 failed",
            ]
        );
        assert_eq!((timeline.whole_ms, timeline.axis_ms()), (Some(210.0), 210.0));
    }

    #[test]
    fn what_a_failed_render_did_not_come_to() {
        let times = json!({"queue": 1.0, "load": 20.0, "evaluate": 0.0, "wait": 0.0, "print": 0.0, "post": 0.0});
        let mut render = render("sync", times, 22);
        render.error = Some(json!({"message": "…"}));
        let expected = [
            "queue 0+1",
            "load 1+20 failed",
            "evaluate not reached",
            "wait not reached",
            "print not reached",
            "post not reached",
        ];
        assert_eq!(seen(&timeline(&render, None, None)), expected);
        // The recorded phase of the deadline takes precedence.
        assert_eq!(
            seen(&timeline(&render, None, Some(Phase::Queue)))[0],
            "queue 0+1 failed"
        );
    }

    #[test]
    fn what_never_began_has_no_phases() {
        let mut render = render("async", Value::Null, 5);
        render.phase_times = None;
        let timeline = timeline(&render, None, None);
        assert_eq!((timeline.steps.len(), timeline.whole_ms), (0, Some(5.0)));
    }
}
