//! The worker process: reads tasks from standard input, writes answers to standard output, and can do nothing else.
//!
//! A worker serves many accounts, one after the other. No data of one task remains for the next: each task has its own
//! environment, made of its template and context and dropped with them. Everything that lives longer (the filters, the
//! tables of locales and time zones) is the same for all accounts and never written to by a template. This package has
//! no `unsafe`, so freed memory cannot be read. A task that does not end normally ends the worker.

use std::io::{self, Read, Write};

use minijinja::Value;
use serde::Serialize;

use crate::{
    analysis,
    diagnostic::{Diagnostic, DiagnosticKind},
    language::{self, Undefined},
    partials,
    wire::{LONGEST_FRAME, Work, read_frame, write_frame},
};

/// Memory limit of a worker process in bytes, in addition to what the program itself maps when it starts.
pub const MEMORY: u64 = 256 << 20;
/// Processor time for one task, in seconds.
const PROCESSOR_SECONDS: u64 = 1;

/// Runs a worker process. The command that [`crate::pool::Pool`] starts calls this, and before it nothing that opens a
/// file, starts a thread or reads standard input. Returns when standard input ends, so that no worker outlives its
/// parent for long. Fails if the limits cannot be set, in which case no task is run, or if the parent is gone.
pub fn run() -> io::Result<()> {
    warm_up();
    platen_confined::confine(MEMORY)?;
    serve(&mut io::stdin().lock(), &mut io::stdout().lock())
}

/// Initializes everything that is initialized once, so that the first task is as fast as the others.
fn warm_up() {
    let template = "{{ 1|number }}{{ 1|currency('EUR') }}{{ '2026-11-21'|date }}{{ 'a'|markdown }}";
    // It cannot fail, and if it did, so would the first task, which reports it.
    let _ = language::render(template, Value::from(()), Undefined::Refuse);
}

fn serve(input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    // An empty frame signals that the worker is ready.
    write_frame(output, &[])?;
    while let Some(frame) = read_frame(input)? {
        platen_confined::grant_processor_time(PROCESSOR_SECONDS)?;
        let answer = answer(&frame)?;
        write_frame(output, &answer)?;
    }
    Ok(())
}

fn answer(frame: &[u8]) -> io::Result<Vec<u8>> {
    // The only frames of the parent that cannot be parsed contain contexts that are nested too deeply.
    let Ok(work) = serde_json::from_slice(frame) else {
        return encoded(&Err::<(), _>(Diagnostic::limit(DiagnosticKind::Input)));
    };
    match work {
        Work::Render {
            sources,
            context,
            undefined,
        } => encoded(&language::render(sources, context, undefined)),
        Work::Trace {
            sources,
            context,
            undefined,
        } => encoded(&language::trace(sources, context, undefined)),
        Work::Check { template } => encoded(&language::check(&template)),
        Work::Missing { sources, own } => encoded(&partials::missing(&sources, own.as_deref())),
        Work::Schema { sources } => encoded(&analysis::schema(sources)),
        Work::TranslationKeys { sources } => encoded(&analysis::translation_keys(sources)),
        Work::Unused { sources, context } => encoded(&analysis::unused(sources, &context)),
    }
}

fn encoded<T: Serialize>(result: &Result<T, Diagnostic>) -> io::Result<Vec<u8>> {
    let answer = serde_json::to_vec(result)?;
    if answer.len() <= LONGEST_FRAME {
        return Ok(answer);
    }
    Ok(serde_json::to_vec(&Err::<(), _>(Diagnostic::limit(
        DiagnosticKind::Output,
    )))?)
}
