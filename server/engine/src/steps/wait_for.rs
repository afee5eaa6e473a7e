//! Waits until an element has an attribute.

use std::time::Duration;

use serde_json::Value;

use super::{StepError, evaluate::Evaluate};
use crate::{devtools::DevToolsError, error::RenderProblem, job::WaitFor, session::Session};

/// Time limit for the attribute to appear.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(20);
/// Maximum number of characters of an invalid selector in the error message.
const SELECTOR_SHOWN: usize = 200;
/// Polling interval. Polling from outside works even if the page's scripts are disabled or it tampers with timers.
const ASK_EVERY: Duration = Duration::from_millis(25);

/// Returns once the first element that matches the selector has the attribute. Fails if the selector is invalid, or
/// after [`WAIT_LIMIT`].
pub(crate) async fn wait_for(session: &Session, wanted: &WaitFor) -> Result<(), StepError> {
    match tokio::time::timeout(WAIT_LIMIT, ask_until_there(session, wanted)).await {
        Ok(result) => result,
        Err(_) => Err(RenderProblem::WaitForUnsatisfied { after: WAIT_LIMIT }.into()),
    }
}

async fn ask_until_there(session: &Session, wanted: &WaitFor) -> Result<(), StepError> {
    // Exceptions are caught in the page, because their text may have any length.
    let ask = Evaluate::new(format!(
        "(() => {{ try {{ return document.querySelector({})?.hasAttribute({}) === true }} catch {{ return 'invalid' }} }})()",
        Value::from(wanted.selector.as_str()),
        Value::from(wanted.attribute.as_str()),
    ));
    loop {
        match session.execute(&ask).await {
            Ok(answer) => match answer.result.value {
                Some(Value::Bool(true)) => return Ok(()),
                Some(Value::String(_)) => {
                    let selector: String = wanted.selector.chars().take(SELECTOR_SHOWN).collect();
                    let message = format!("{selector:?} is not a CSS selector");
                    return Err(RenderProblem::InvalidSelector { message }.into());
                }
                _ => {}
            },
            // The page is navigating to another document.
            Err(DevToolsError::Refused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}
