//! Waits until an element has an attribute.

use std::time::Duration;

use serde_json::Value;

use super::{StepError, evaluate::Evaluate};
use crate::{devtools::DevToolsError, error::RenderFault, job::WaitFor, session::Session};

/// How long the attribute is waited for.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(20);
/// Characters of a faulty selector that the fault repeats.
const SELECTOR_SHOWN: usize = 200;
/// The page is asked from outside, so that waiting also works where its scripts are off or its timers are tampered with.
const ASK_EVERY: Duration = Duration::from_millis(25);

/// Returns once the first element that matches the selector has the attribute.
pub(crate) async fn wait_for(session: &Session, wanted: &WaitFor) -> Result<(), StepError> {
    match tokio::time::timeout(WAIT_LIMIT, ask_until_there(session, wanted)).await {
        Ok(result) => result,
        Err(_) => Err(RenderFault::WaitForUnsatisfied { after: WAIT_LIMIT }.into()),
    }
}

async fn ask_until_there(session: &Session, wanted: &WaitFor) -> Result<(), StepError> {
    // An exception stays in the page: its text may have any length.
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
                    return Err(RenderFault::InvalidSelector { message }.into());
                }
                _ => {}
            },
            // The page is on its way to another document.
            Err(DevToolsError::Refused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}
