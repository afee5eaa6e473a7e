//! The engine's errors: their class, and the member of the request that caused them.

use platen_domain::health::failure_kind::FailureKind;
use platen_engine::{
    error::{RenderError, RenderProblem},
    job::Phase,
};

use crate::service::renders::failure::{Disclosure, FailureClass, Retry};

/// Classifies an error of the engine. A slow page counts as caused by its author; waiting for a slot, or completing
/// the document too slowly, counts as caused by the service.
pub(super) fn class_of_engine_error(error: &RenderError) -> FailureClass {
    use Disclosure::{InternalError, Message};
    let (kind, disclosure, retry) = match error {
        RenderError::Problem { problem, .. } => (kind_of_problem(problem), Message, Retry::Never),
        RenderError::TooManyConcurrent { .. } => (FailureKind::Conflict, Message, Retry::NotCounted),
        RenderError::QueueFull | RenderError::ShuttingDown => (FailureKind::NoSlot, Message, Retry::NotCounted),
        RenderError::Deadline { phase, .. } => {
            let kind = match phase {
                Phase::Queue => FailureKind::NoSlot,
                Phase::Post => FailureKind::Internal,
                Phase::Load | Phase::Wait | Phase::Evaluate | Phase::Print => FailureKind::TooSlow,
            };
            (kind, Message, Retry::Later)
        }
        RenderError::Browser(_) => (FailureKind::Browser, InternalError, Retry::Later),
    };
    FailureClass {
        kind,
        disclosure,
        retry,
    }
}

fn kind_of_problem(problem: &RenderProblem) -> FailureKind {
    match problem {
        RenderProblem::Unreachable { .. } | RenderProblem::HttpStatus { .. } | RenderProblem::NotHtml { .. } => {
            FailureKind::Unreachable
        }
        RenderProblem::AddressRefused { .. } => FailureKind::AddressRefused,
        RenderProblem::NavigatedAway { .. }
        | RenderProblem::EvaluateThrew { .. }
        | RenderProblem::EvaluateTooLarge { .. }
        | RenderProblem::MessageTooLarge { .. }
        | RenderProblem::InvalidSelector { .. }
        | RenderProblem::WaitForUnsatisfied { .. } => FailureKind::Script,
        RenderProblem::Crashed => FailureKind::Crashed,
        RenderProblem::MemoryExceeded { .. } => FailureKind::Memory,
        RenderProblem::TooManyPages { .. }
        | RenderProblem::TooLarge { .. }
        | RenderProblem::PrintedTooLarge { .. }
        | RenderProblem::HeaderFooterTooLarge { .. } => FailureKind::TooLarge,
        RenderProblem::PageBeyondEnd { .. }
        | RenderProblem::PageSize { .. }
        | RenderProblem::NotConformant { .. }
        | RenderProblem::PrintFailed { .. } => FailureKind::Document,
    }
}

/// Returns the JSON pointer to the part of the request that caused an error. `part` is counted from 0.
pub(super) fn error_pointer(part: usize, problem: &RenderProblem) -> String {
    let member = match problem {
        RenderProblem::EvaluateThrew { .. } | RenderProblem::EvaluateTooLarge { .. } => "/evaluate_js/expression",
        RenderProblem::HeaderFooterTooLarge { template, .. } => return format!("/{template}"),
        RenderProblem::InvalidSelector { .. } => "/wait_for/selector",
        RenderProblem::WaitForUnsatisfied { .. } => "/wait_for",
        RenderProblem::PageBeyondEnd { .. } => "/pages",
        RenderProblem::TooLarge { .. } => "/parts",
        RenderProblem::NotConformant { .. } => "/output_format",
        RenderProblem::Unreachable { .. }
        | RenderProblem::AddressRefused { .. }
        | RenderProblem::HttpStatus { .. }
        | RenderProblem::NotHtml { .. }
        | RenderProblem::NavigatedAway { .. }
        | RenderProblem::Crashed
        | RenderProblem::MemoryExceeded { .. }
        | RenderProblem::MessageTooLarge { .. }
        | RenderProblem::PrintedTooLarge { .. }
        | RenderProblem::TooManyPages { .. }
        | RenderProblem::PageSize { .. }
        | RenderProblem::PrintFailed { .. } => return format!("/parts/{part}"),
    };
    member.to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_is_to_blame_for_time_depends_on_what_took_it() {
        let late = |phase| {
            let after = Duration::from_mins(1);
            class_of_engine_error(&RenderError::Deadline { phase, after }).kind
        };
        for phase in [Phase::Load, Phase::Evaluate, Phase::Wait, Phase::Print] {
            assert!(late(phase).is_the_callers(), "{phase}");
        }
        assert!(!late(Phase::Queue).is_the_callers() && !late(Phase::Post).is_the_callers());
    }
}
