//! Numbers that must lie within bounds.

/// A number from 0 to `most`.
///
/// # Errors
/// What it must be.
pub fn within(text: &str, most: f64) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=most).contains(number));
    number.ok_or_else(|| format!("it must be a number from 0 to {most}"))
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn bounds_are_kept() {
        assert_eq!(within("0.5", 1.0), Ok(0.5));
        for text in ["-0.1", "1.1", "nan", "x", ""] {
            assert!(within(text, 1.0).is_err_and(|error| error.contains("from 0 to 1")), "{text}");
        }
    }
}
