//! Scores as text.

use kilocore_show::number;

use crate::summary::Share;

/// A share as a percentage.
pub(crate) fn percent(value: Option<f64>) -> String {
    number::percent(value.unwrap_or(f64::NAN))
}

/// By how much forecasts are too high or too low, from the logarithm of the ratio.
pub(crate) fn bias(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |v| format!("{:+.0} %", 100.0 * (v.exp() - 1.0)))
}

/// How many of how many.
pub(crate) fn share(share: Share) -> String {
    if share.of == 0 { "–".to_owned() } else { format!("{} of {}", share.having, share.of) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_a_dash() {
        assert_eq!([percent(None), bias(None), share(Share::default())], ["–", "–", "–"]);
        assert_eq!(percent(Some(0.123)), "12 %");
        assert_eq!(bias(Some(-(2.0_f64.ln()))), "-50 %");
        assert_eq!(share(Share { having: 1, of: 2 }), "1 of 2");
    }
}
