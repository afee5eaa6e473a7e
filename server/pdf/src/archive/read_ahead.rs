//! Reads the content of pages on another thread, ahead of the pass that repairs it.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, Scope};

use crate::content::{StreamReader, may_need_repair};
use crate::document::Document;
use crate::object::{Object, ObjectNumber, Stream};

/// Fewest pages for which a thread is worth its start.
const LEAST_PAGES: usize = 8;
/// Longest content that is read ahead, and most contents that wait. Together they bound the memory: a content's buffer has up to
/// twice its length.
const LONGEST: usize = 1024 * 1024;
const MOST_WAITING: usize = 16;

/// The content of a stream, uncompressed.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// Whether it may contain anything that PDF/A forbids.
    pub(super) may_need_repair: bool,
}

impl Content {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let may_need_repair = may_need_repair(&bytes);
        Self { bytes, may_need_repair }
    }
}

/// Contents that are read on another thread, by the numbers of their streams. `None` for one that is too long or can't be read, so that
/// the consumer need not wait for the next one.
pub(super) struct ReadAhead {
    receiver: Receiver<(ObjectNumber, Option<Content>)>,
    next: Option<(ObjectNumber, Option<Content>)>,
}

impl ReadAhead {
    /// Begins to read the contents of pages. Reads nothing ahead if there are fewer than eight pages, or if the system has no more
    /// threads.
    pub(super) fn start<'scope, 'a: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        document: &Document<'a>,
        pages: &[ObjectNumber],
    ) -> Self {
        let (sender, receiver) = sync_channel(MOST_WAITING);
        if pages.len() >= LEAST_PAGES {
            let streams = streams(document, pages);
            // Without a thread, nothing is received.
            let _ = Builder::new().spawn_scoped(scope, move || {
                let mut reader = StreamReader::default();
                for (number, stream) in streams {
                    let mut bytes = Vec::new();
                    let content = match reader.read_up_to(LONGEST, &stream, &mut bytes) {
                        Ok(()) => Some(Content::new(bytes)),
                        Err(_) => None,
                    };
                    // Nothing is received any more after an error.
                    if sender.send((number, content)).is_err() {
                        return;
                    }
                }
            });
        }
        Self { receiver, next: None }
    }

    /// Returns the content of a stream if it was read ahead. Streams are asked for in the order of the pages.
    pub(super) fn take(&mut self, number: ObjectNumber) -> Option<Content> {
        let (next, content) = self.next.take().or_else(|| self.receiver.recv().ok())?;
        if next == number {
            return content;
        }
        self.next = Some((next, content));
        None
    }
}

/// Returns the content streams of pages, each once, because the first page may change a stream.
fn streams<'a>(document: &Document<'a>, pages: &[ObjectNumber]) -> Vec<(ObjectNumber, Stream<'a>)> {
    let mut seen = BTreeSet::new();
    let pages = pages
        .iter()
        .filter_map(|page| document.get_dictionary(*page, "expected a page").ok());
    let numbers = pages.flat_map(|page| {
        page.items("Contents")
            .iter()
            .filter_map(Object::as_reference)
            .collect::<Vec<_>>()
    });
    let streams = numbers
        .filter(|number| seen.insert(*number))
        .filter_map(|number| match document.get(number) {
            Ok(Object::Stream(stream)) => Some((number, stream)),
            _ => None,
        });
    streams.collect()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::object::Dictionary;
    use crate::object_streams::unpack;
    use crate::page_tree::list_pages;
    use crate::{Assembly, OutputFormat, PageFacts, PrintedPart, assemble};

    const REPORT: &[u8] = include_bytes!("../../tests/fixtures/report.pdf");

    /// Returns a document of `count` times the pages of the report.
    fn reports(count: usize) -> Vec<u8> {
        let part = || PrintedPart {
            bytes: REPORT.into(),
            facts: PageFacts::default(),
        };
        let assembly = Assembly {
            parts: (0..count).map(|_| part()).collect(),
            stamps: Vec::new(),
            page_limit: usize::MAX,
            selection: None,
            watermark: None,
            format: OutputFormat::Pdf,
            instant: time::OffsetDateTime::UNIX_EPOCH,
        };
        assemble(assembly).expect("a document that can be assembled").bytes
    }

    #[test]
    fn long_contents_are_left_out_without_a_wait_for_others() {
        let bytes = reports(LEAST_PAGES);
        let bytes = unpack(&bytes).expect("valid");
        let mut document = Document::open(&[&bytes]).expect("valid");
        let pages = list_pages(&document, document.root().expect("a catalog")).expect("pages");
        let contents: Vec<ObjectNumber> = streams(&document, &pages).iter().map(|(number, _)| *number).collect();
        let long = vec![b' '; LONGEST + 1];
        for number in &contents[1..] {
            let stream = Stream::plain(Dictionary::default(), long.clone());
            document.set(*number, Object::Stream(stream));
        }
        thread::scope(|scope| {
            let mut ahead = ReadAhead::start(scope, &document, &pages);
            let lengths = contents
                .iter()
                .map(|number| ahead.take(*number).map(|content| content.bytes.len()));
            let lengths: Vec<_> = lengths.collect();
            assert!(lengths[0].is_some_and(|length| length < LONGEST));
            assert!(lengths[1..].iter().all(Option::is_none));
        });
    }

    #[test]
    fn contents_of_many_pages_are_read_ahead_in_their_order() {
        let bytes = reports(LEAST_PAGES);
        let bytes = unpack(&bytes).expect("valid");
        let document = Document::open(&[&bytes]).expect("valid");
        let all = list_pages(&document, document.root().expect("a catalog")).expect("pages");
        for (count, are_read_ahead) in [(LEAST_PAGES - 2, false), (all.len(), true)] {
            let pages = &all[..count];
            // The contents of a page that is listed twice are read once.
            let listed = [pages, &pages[..1]].concat();
            thread::scope(|scope| {
                let mut ahead = ReadAhead::start(scope, &document, &listed);
                let mut reader = StreamReader::default();
                for (number, stream) in streams(&document, pages) {
                    assert!(ahead.take(0).is_none(), "there is no such stream");
                    let mut expected = Vec::new();
                    reader.read(&stream, &mut expected).expect("valid");
                    let content = ahead.take(number).map(|content| content.bytes);
                    assert!(content == are_read_ahead.then_some(expected));
                    assert!(ahead.take(number).is_none(), "it is read once");
                }
            });
        }
    }
}
