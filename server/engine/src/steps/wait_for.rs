//! Waits until an element has an attribute.

use std::time::Duration;

use chromiumoxide::cdp::js_protocol::runtime::EvaluateParams;

use super::StepError;
use crate::{error::RenderFault, job::WaitFor, session::Session};

/// How long the attribute is waited for.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(20);
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
    let expression = format!(
        "document.querySelector({})?.hasAttribute({}) === true",
        serde_json::Value::from(wanted.selector.as_str()),
        serde_json::Value::from(wanted.attribute.as_str()),
    );
    let mut evaluate = EvaluateParams::new(expression);
    evaluate.return_by_value = Some(true);
    evaluate.silent = Some(true);
    loop {
        let answer = session.execute(&evaluate).await?;
        if answer.exception_details.is_some() {
            let message = format!("{:?} is not a CSS selector", wanted.selector);
            return Err(RenderFault::InvalidSelector { message }.into());
        }
        if answer.result.value == Some(serde_json::Value::Bool(true)) {
            return Ok(());
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}
