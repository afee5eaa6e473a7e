//! Limits on what an account stores: exact under concurrency, with errors that name the next step.

mod queue;
mod responses;
mod retention;
mod rows;

use reqwest::Response;
use serde_json::Value;

/// Returns the message of a refusal by a limit.
async fn refusal(answer: Response) -> String {
    let status = answer.status();
    let body: Value = answer.json().await.expect("JSON");
    assert_eq!(
        (status.as_u16(), &body["error"]),
        (403, &Value::from("forbidden")),
        "{body}"
    );
    let message = body["message"].as_str().expect("text").to_owned();
    assert!(message.contains("/dashboard/billing"), "it says what to do: {message}");
    message
}
