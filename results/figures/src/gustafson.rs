//! Gustafson's law, fitted to a curve of speedups.
//!
//! Each core does as much work as one does alone, but for a serial share s. So the speedup on N
//! cores is S(N) = N − s(N − 1). The law cannot fall.

/// Gustafson's law, fitted to a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// The serial share: at 0 a curve scales linearly, at 1 not at all. The law knows no more than 1.
    pub serial: f64,
}

impl Law {
    /// The speedup over one core on so many.
    #[must_use]
    pub fn at(&self, cores: f64) -> f64 {
        cores - self.serial * (cores - 1.0)
    }
}

/// Fits the law to points of cores and speedup, so that the sum of the squared errors of the
/// speedup is least. Of points on one core alone, the share is not a number.
#[must_use]
pub fn fit(speedups: &[(f64, f64)]) -> Law {
    let missing: f64 = speedups.iter().map(|(n, s)| (n - s) * (n - 1.0)).sum();
    let most: f64 = speedups.iter().map(|(n, _)| (n - 1.0).powi(2)).sum();
    Law { serial: (missing / most).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::{Law, fit};

    #[test]
    fn a_share_is_found_again_and_is_never_beyond_its_bounds() {
        let law = Law { serial: 0.3 };
        let found = fit(&[1.0, 2.0, 4.0, 16.0].map(|cores| (cores, law.at(cores))));
        assert!((found.serial - 0.3).abs() < 1e-12, "{found:?}");
        assert_eq!(fit(&[(1.0, 1.0), (4.0, 5.0)]).serial, 0.0);
        assert_eq!(fit(&[(1.0, 1.0), (4.0, 0.5)]).serial, 1.0);
    }
}
