//! Families of counters, gauges and histograms.

use platen_domain::health::histogram::{BOUNDS, Histogram};
use prometheus::{
    GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry, Result,
    core::{Collector, Metric, MetricVec, MetricVecBuilder},
    proto::Bucket,
};

/// Registers counters. The `known` label values exist before their first event, so that they can be distinguished from
/// missing ones.
pub(super) fn counters<const N: usize>(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: [&str; N],
    known: &[[&str; N]],
) -> IntCounterVec {
    with_known(
        registered(registry, IntCounterVec::new(Opts::new(name, help), &labels)),
        known,
    )
}

/// Registers histograms of seconds; see [`counters`].
pub(super) fn histograms<const N: usize>(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: [&str; N],
    known: &[[&str; N]],
) -> HistogramVec {
    with_known(
        registered(registry, HistogramVec::new(seconds(name, help), &labels)),
        known,
    )
}

/// Describes a histogram of seconds.
pub(super) fn seconds(name: &str, help: &str) -> HistogramOpts {
    HistogramOpts::new(name, help).buckets(BOUNDS.to_vec())
}

/// Registers gauges with their values.
pub(super) fn gauges<'a, const N: usize>(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: [&str; N],
    samples: impl IntoIterator<Item = ([&'a str; N], f64)>,
) {
    let gauges = registered(registry, GaugeVec::new(Opts::new(name, help), &labels));
    for (values, sample) in samples {
        gauges.with_label_values(&values).set(sample);
    }
}

/// Registers a gauge without labels, with its value.
pub(super) fn gauge(registry: &Registry, name: &str, help: &str, value: f64) {
    gauges(registry, name, help, [], [([], value)]);
}

/// Returns what a histogram has observed.
pub(super) fn durations(histogram: &prometheus::Histogram) -> Histogram {
    let metric = histogram.metric();
    let observed = metric.get_histogram();
    let cumulative = observed.get_bucket().iter().map(Bucket::cumulative_count);
    let mut durations = Histogram {
        sum: observed.get_sample_sum(),
        ..Histogram::default()
    };
    let mut below = 0;
    for (count, up_to) in durations
        .counts
        .iter_mut()
        .zip(cumulative.chain([observed.get_sample_count()]))
    {
        *count = up_to - below;
        below = up_to;
    }
    durations
}

/// Registers an instrument.
pub(super) fn registered<C: Collector + Clone + 'static>(registry: &Registry, collector: Result<C>) -> C {
    let collector = collector.expect("valid names");
    let registered = registry.register(Box::new(collector.clone()));
    registered.expect("a name of its own");
    collector
}

fn with_known<B: MetricVecBuilder, const N: usize>(family: MetricVec<B>, known: &[[&str; N]]) -> MetricVec<B> {
    for values in known {
        family.with_label_values(values);
    }
    family
}

#[cfg(test)]
mod tests {
    use prometheus::TextEncoder;

    use super::*;

    fn exposed(registry: &Registry) -> String {
        let text = TextEncoder::new().encode_to_string(&registry.gather());
        text.expect("valid metrics")
    }

    #[test]
    fn the_format() {
        let registry = Registry::new();
        let counted = counters(
            &registry,
            "a_total",
            "Counts.",
            ["x", "y"],
            &[["1\"\\\n", "2"], ["2", ""]],
        );
        counted.with_label_values(&["1\"\\\n", "2"]).inc_by(3);
        gauges(&registry, "b_seconds", "Measures.", [], [([], 0.25)]);
        assert_eq!(
            exposed(&registry),
            "# HELP a_total Counts.\n# TYPE a_total counter\na_total{x=\"1\\\"\\\\\\n\",y=\"2\"} 3\na_total{x=\"2\",y=\"\"} 0\n\
             # HELP b_seconds Measures.\n# TYPE b_seconds gauge\nb_seconds 0.25\n"
        );
    }

    #[test]
    fn buckets_count_all_that_is_below_their_bounds() {
        let registry = Registry::new();
        let histogram = histograms(&registry, "a_seconds", "Spreads.", ["x"], &[]).with_label_values(&["1"]);
        for seconds in [0.001, 0.3, 100_000.0] {
            histogram.observe(seconds);
        }
        let text = exposed(&registry);
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
        // The health page reads the same.
        let mut expected = Histogram::default();
        (expected.counts[0], expected.counts[8], expected.counts[BOUNDS.len()]) = (1, 1, 1);
        assert_eq!(durations(&histogram).counts, expected.counts);
    }
}
