//! The child process: reads work from its standard input and answers on its standard output, and can do nothing else.
//!
//! A child serves many accounts, one after the other. Nothing of one call is left for the next: each has an environment of
//! its own, made of the template and the context of that call and dropped with them; what lives longer (the filters, the
//! tables of locales and time zones) is the same for everybody and is never written to by a template. This package has
//! no `unsafe`, so that freed memory cannot be read. Whatever does not end as it should ends the child.

use std::io::{self, Read, Write};

use minijinja::Value;
use serde::Serialize;

use crate::{
    analysis,
    fault::{Fault, FaultKind},
    language::{self, Undefined},
    wire::{LONGEST_FRAME, Work, read_frame, write_frame},
};

/// Memory that one child may have beyond what the program itself is mapped into when it starts, in bytes.
pub const MEMORY: u64 = 256 << 20;
/// Processor time for one piece of work.
const PROCESSOR_SECONDS: u64 = 1;

/// What a child runs: the command that [`crate::pool::Pool`] starts calls this, and nothing before it that opens a file,
/// starts a thread or reads standard input. Ends when standard input does, so no child outlives its parent for long.
///
/// # Errors
/// When the limits cannot be set, in which case no work is done, or when the parent is gone.
pub fn run() -> io::Result<()> {
    warm_up();
    platen_confined::confine(MEMORY)?;
    serve(&mut io::stdin().lock(), &mut io::stdout().lock())
}

/// Makes what is made once, so that the first call is as fast as the others.
fn warm_up() {
    let template = "{{ 1|number }}{{ 1|currency('EUR') }}{{ '2026-11-21'|date }}{{ 'a'|markdown }}";
    // It cannot fail, and if it did, so would the first call, which reports it.
    let _ = language::render(template, Value::from(()), Undefined::Refuse);
}

fn serve(input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    // An empty frame says that the child is ready.
    write_frame(output, &[])?;
    while let Some(frame) = read_frame(input)? {
        platen_confined::grant_processor_time(PROCESSOR_SECONDS)?;
        let answer = answer(&frame)?;
        write_frame(output, &answer)?;
    }
    Ok(())
}

fn answer(frame: &[u8]) -> io::Result<Vec<u8>> {
    // The parent writes nothing that cannot be read but contexts that are nested too deeply.
    let Ok(work) = serde_json::from_slice(frame) else {
        return encoded(&Err::<(), _>(Fault::limit(FaultKind::Input)));
    };
    match work {
        Work::Render {
            template,
            context,
            undefined,
        } => encoded(&language::render(&template, context, undefined)),
        Work::Check { template } => encoded(&language::check(&template)),
        Work::Schema { template } => encoded(&analysis::schema(&template)),
        Work::Unused { template, context } => encoded(&analysis::unused(&template, &context)),
    }
}

fn encoded<T: Serialize>(result: &Result<T, Fault>) -> io::Result<Vec<u8>> {
    let answer = serde_json::to_vec(result)?;
    if answer.len() <= LONGEST_FRAME {
        return Ok(answer);
    }
    Ok(serde_json::to_vec(&Err::<(), _>(Fault::limit(FaultKind::Output)))?)
}
