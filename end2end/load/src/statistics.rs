//! Medians, percentiles and ratios.

/// Returns the smallest value that at least `percent` of all values don't exceed (nearest rank); `None` without values.
pub(crate) fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Returns the middle value, or the mean of the two middle ones; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(*sorted.get(middle - 1)?, upper))
}

/// Returns the median of the ratios round by round, which cancels out the machine's speed in each round.
pub(crate) fn median_ratio(values: &[f64], references: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = values
        .iter()
        .zip(references)
        .map(|(value, reference)| value / reference)
        .collect();
    median(&ratios)
}

#[cfg(test)]
mod tests {
    use super::{median, median_ratio, percentile};

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(percentile(&values, 50.0), Some(10.0));
        assert_eq!(percentile(&values, 95.0), Some(19.0));
        assert_eq!(percentile(&values, 100.0), Some(20.0));
        assert_eq!(percentile(&[7.0], 95.0), Some(7.0));
        assert_eq!(percentile(&[], 50.0), None);
    }

    #[test]
    fn median_of_an_even_number_lies_between() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_slow_round_does_not_move_the_ratio() {
        assert_eq!(median_ratio(&[24.0, 48.0, 24.0], &[20.0, 40.0, 20.0]), Some(1.2));
    }
}
