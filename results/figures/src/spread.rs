//! What several rounds of one measurement come to.

use crate::median;

/// The middle of several figures, and their extremes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl Spread {
    /// That of some figures. None of none.
    ///
    /// ```
    /// use kilocore_figures::Spread;
    ///
    /// let spread = Spread::of([4.0, 1.0, 9.0]);
    /// assert_eq!(spread, Some(Spread { median: 4.0, low: 1.0, high: 9.0 }));
    /// assert_eq!(Spread::of([]), None);
    /// ```
    #[must_use]
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let figures: Vec<f64> = figures.into_iter().collect();
        let low = figures.iter().copied().reduce(f64::min)?;
        let high = figures.iter().copied().reduce(f64::max)?;
        Some(Self { median: median(figures)?, low, high })
    }
}
