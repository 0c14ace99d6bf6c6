//! How far a law is from a curve.

/// The root mean square of the relative errors of a law at measured points of cores and throughput.
#[must_use]
pub fn misfit(points: &[(f64, f64)], law: impl Fn(f64) -> f64) -> f64 {
    let squares = points.iter().map(|&(cores, measured)| (law(cores) / measured - 1.0).powi(2));
    (squares.sum::<f64>() / points.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::misfit;

    #[test]
    fn errors_are_shares_of_what_was_measured() {
        assert_eq!(misfit(&[(1.0, 2.0), (2.0, 4.0)], |cores| 2.0 * cores), 0.0);
        assert!((misfit(&[(1.0, 2.0), (2.0, 4.0)], |cores| 2.2 * cores) - 0.1).abs() < 1e-12);
    }
}
