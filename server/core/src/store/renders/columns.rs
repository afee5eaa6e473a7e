//! Conversion of a render's outcome to columns.

use std::time::Duration;

use platen_engine::{job::PhaseTimes, render_log::Seen};
use serde_json::{Value, json};

/// Maximum length of a stored title, in characters.
const LONGEST_TITLE: usize = 300;

/// Maximum length of any other stored text, in bytes. An error may quote a selector as long as its request.
const LONGEST_TEXT: usize = 4096;

/// Returns a title as it is stored: truncated to [`LONGEST_TITLE`], without U+0000.
pub(super) fn kept_title(title: &str) -> String {
    title
        .chars()
        .take(LONGEST_TITLE)
        .collect::<String>()
        .replace('\0', "\u{fffd}")
}

/// Returns the durations of phases, in milliseconds. `None` if no phase has begun.
pub(super) fn phase_times(phases: &PhaseTimes) -> Option<Value> {
    let times = phases.by_phase();
    let begun = times.iter().any(|(_, duration)| !duration.is_zero());
    begun.then(|| {
        let times = times.into_iter();
        times
            .map(|(phase, duration)| (phase.to_string(), milliseconds(duration)))
            .collect()
    })
}

/// Returns the network requests of the pages.
pub(super) fn requests(seen: &Seen) -> Value {
    let requests = seen.requests.iter().map(|request| {
        json!({
            "part": request.part, "url": request.url, "type": request.kind, "status": request.status,
            "bytes": request.bytes, "duration_ms": request.took.map(milliseconds), "error": request.error,
            "refused": request.refused,
        })
    });
    storable(requests.collect())
}

/// Returns the console messages of the pages.
pub(super) fn console(seen: &Seen) -> Value {
    let messages = seen
        .console
        .iter()
        .map(|message| json!({"part": message.part, "level": message.level, "text": message.text}));
    storable(messages.collect())
}

/// Converts a duration to the unit of columns.
pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Replaces U+0000, which pages and requests may contain but PostgreSQL's `jsonb` rejects, and truncates texts to
/// [`LONGEST_TEXT`].
pub(in crate::store) fn storable(value: Value) -> Value {
    with_texts(value, |mut text: String| {
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        text_without_nul(text)
    })
}

/// Replaces U+0000, as [`storable`] does.
pub(in crate::store) fn without_nul(value: Value) -> Value {
    with_texts(value, text_without_nul)
}

fn text_without_nul(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    }
}

/// Changes all texts in a value, and the names of members.
fn with_texts(value: Value, change: fn(String) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => items.into_iter().map(|item| with_texts(item, change)).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (change(name), with_texts(value, change)))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_database_takes() {
        let sent = json!({"a": ["x\0y", {"b\0": "\0"}, 1, null]});
        let stored = json!({"a": ["x\u{fffd}y", {"b\u{fffd}": "\u{fffd}"}, 1, null]});
        assert_eq!(without_nul(sent.clone()), stored);
        assert_eq!(storable(sent), stored);
        let long = storable(json!(["ä".repeat(LONGEST_TEXT)]));
        assert_eq!(long[0].as_str().map(str::len), Some(LONGEST_TEXT));
    }
}
