//! The middle of several figures, and the figures that some share of them does not exceed.

/// The median; of an even number of values, what lies halfway between the two in the middle. None
/// of none.
///
/// ```
/// use kilocore_figures::median;
///
/// assert_eq!(median([4.0, 1.0, 9.0]), Some(4.0));
/// assert_eq!(median([4.0, 1.0, 9.0, 3.0]), Some(3.5));
/// ```
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values = ascending(values);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

/// The median; of an even number of values, the lower of the two in the middle. None of none.
///
/// It suits times of one thing done several times: disturbances only ever lengthen a few of them,
/// so that the lower one is the nearer to what the thing itself takes.
#[must_use]
pub fn lower_median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    percentile(&ascending(values), 50)
}

/// The value that `percent` of a hundred of these values do not exceed: that value itself, never one
/// between two. 0 is for the smallest and 100 for the largest. None of none.
///
/// ```
/// use kilocore_figures::percentile;
///
/// let times = [1, 2, 3, 5, 8];
/// assert_eq!((percentile(&times, 50), percentile(&times, 90)), (Some(3), Some(5)));
/// ```
#[must_use]
pub fn percentile<T: Copy>(ascending: &[T], percent: usize) -> Option<T> {
    ascending.get(ascending.len().saturating_sub(1) * percent / 100).copied()
}

/// The values in ascending order.
#[must_use]
pub fn ascending(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::{lower_median, median, percentile};

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([9.0, 1.0, 4.0, 2.0]), Some(3.0));
        assert_eq!(median([]), None);
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<u32> = (0..=100).collect();
        for percent in [0, 10, 99, 100] {
            assert_eq!(percentile(&values, percent), Some(percent as u32));
        }
        assert_eq!(percentile(&[7], 99), Some(7));
        assert_eq!(percentile::<u8>(&[], 50), None);
    }

    #[test]
    fn the_lower_median_is_one_of_the_values() {
        assert_eq!(lower_median([]), None);
        assert_eq!(lower_median([3.0]), Some(3.0));
        assert_eq!(lower_median([9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(lower_median([4.0, 2.0]), Some(2.0));
    }
}
