//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write};

use platen_domain::health::histogram::{BOUNDS, Histogram};

/// Value of `Content-Type`.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Names and values of labels.
pub(super) type Pairs<'a> = Vec<(&'static str, &'a str)>;

/// Builder of the text.
#[derive(Default)]
pub(super) struct Exposition(String);

impl Exposition {
    /// Adds a counter.
    pub(super) fn counter<'a>(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (Pairs<'a>, u64)>) {
        self.head(name, "counter", help);
        for (pairs, value) in samples {
            self.sample(name, "", &pairs, value);
        }
    }

    /// Adds a gauge.
    pub(super) fn gauge<'a>(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (Pairs<'a>, f64)>) {
        self.head(name, "gauge", help);
        for (pairs, value) in samples {
            self.sample(name, "", &pairs, value);
        }
    }

    /// Adds a histogram.
    pub(super) fn histogram<'a>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Pairs<'a>, &'a Histogram)>,
    ) {
        self.head(name, "histogram", help);
        for (pairs, histogram) in samples {
            let mut so_far = 0;
            let bounds = BOUNDS.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
            for (bound, count) in bounds.zip(histogram.counts) {
                so_far += count;
                let mut pairs = pairs.clone();
                pairs.push(("le", &bound));
                self.sample(name, "_bucket", &pairs, so_far);
            }
            self.sample(name, "_sum", &pairs, histogram.sum);
            self.sample(name, "_count", &pairs, so_far);
        }
    }

    /// Returns the text.
    pub(super) fn into_text(self) -> String {
        self.0
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, suffix: &str, pairs: &[(&'static str, &str)], value: impl Display) {
        self.0.push_str(name);
        self.0.push_str(suffix);
        let mut separator = '{';
        for (label, text) in pairs {
            let _ = write!(self.0, "{separator}{label}=\"{}\"", escaped(text));
            separator = ',';
        }
        if !pairs.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_format() {
        let mut exposition = Exposition::default();
        exposition.counter(
            "a_total",
            "Counts.",
            [(vec![("x", "1\"\\\n"), ("y", "2")], 3), (vec![], 4)],
        );
        exposition.gauge("b_seconds", "Measures.", [(vec![], 0.25)]);
        assert_eq!(
            exposition.into_text(),
            "# HELP a_total Counts.\n# TYPE a_total counter\na_total{x=\"1\\\"\\\\\\n\",y=\"2\"} 3\na_total 4\n\
             # HELP b_seconds Measures.\n# TYPE b_seconds gauge\nb_seconds 0.25\n"
        );
    }

    #[test]
    fn buckets_count_all_that_is_below_their_bounds() {
        let mut histogram = Histogram::default();
        for seconds in [0.001, 0.3, 100_000.0] {
            histogram.observe(Duration::from_secs_f64(seconds));
        }
        let mut exposition = Exposition::default();
        exposition.histogram("a_seconds", "Spreads.", [(vec![("x", "1")], &histogram)]);
        let text = exposition.into_text();
        for line in [
            "a_seconds_bucket{x=\"1\",le=\"0.001\"} 1",
            "a_seconds_bucket{x=\"1\",le=\"0.25\"} 1",
            "a_seconds_bucket{x=\"1\",le=\"0.5\"} 2",
            "a_seconds_bucket{x=\"1\",le=\"+Inf\"} 3",
            "a_seconds_sum{x=\"1\"} 100000.301",
            "a_seconds_count{x=\"1\"} 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }
}
