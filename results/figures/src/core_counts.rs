//! The numbers of cores on which something is measured.

/// Returns the powers of two below `most`, and `most`, which is taken for 1 if it is 0.
///
/// ```
/// use kilocore_figures::core_counts;
///
/// assert_eq!(core_counts(6), [1, 2, 4, 6]);
/// ```
#[must_use]
pub fn core_counts(most: u32) -> Vec<u32> {
    let most = most.max(1);
    let powers = (0..u32::BITS).map(|power| 1 << power).take_while(|&count| count < most);
    powers.chain([most]).collect()
}
