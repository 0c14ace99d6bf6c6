//! Lists of factors, which are numbers of stripes: `256`, `8,32,256`.

use std::str::FromStr;

use kilocore_lab::lru::LARGEST_FACTOR;
use thiserror::Error;

/// Numbers of stripes in ascending order, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Factors(pub(crate) Vec<u32>);

/// Why a list of factors is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum FactorsError {
    #[error("'{0}' is not a number of stripes; write numbers with commas, as in 8,32,256")]
    Number(String),
    #[error("there are no lists in {0} stripes; choose 1 to {LARGEST_FACTOR}")]
    OutOfRange(u64),
}

impl FromStr for Factors {
    type Err = FactorsError;

    fn from_str(text: &str) -> Result<Self, FactorsError> {
        let factor = |part: &str| {
            let number = part.trim().parse::<u64>();
            let number = number.map_err(|_| FactorsError::Number(part.to_owned()))?;
            let factor = u32::try_from(number).ok().filter(|n| (1..=LARGEST_FACTOR).contains(n));
            factor.ok_or(FactorsError::OutOfRange(number))
        };
        text.split(',').map(factor).collect::<Result<Vec<u32>, _>>().map(Self::sorted)
    }
}

impl Factors {
    /// Those of the paper's comparison of its two versions, and as many as the machine has hardware
    /// threads.
    pub(crate) fn for_machine(threads: u32) -> Self {
        Self::sorted(vec![8, 32, threads])
    }

    fn sorted(mut factors: Vec<u32>) -> Self {
        factors.sort_unstable();
        factors.dedup();
        Self(factors)
    }
}

#[cfg(test)]
mod tests {
    use super::{Factors, FactorsError};

    #[test]
    fn lists_are_sorted_and_out_of_range_is_refused() {
        let parse = |text: &str| text.parse::<Factors>().map(|factors| factors.0);
        assert_eq!(parse("256,8, 32,8"), Ok(vec![8, 32, 256]));
        assert_eq!(parse("0"), Err(FactorsError::OutOfRange(0)));
        assert_eq!(parse("65537"), Err(FactorsError::OutOfRange(65_537)));
        for text in ["", "x", "8,,32", "-1", "1.5"] {
            assert!(matches!(parse(text), Err(FactorsError::Number(_))), "{text}");
        }
        assert_eq!(Factors::for_machine(256).0, [8, 32, 256]);
        assert_eq!(Factors::for_machine(8).0, [8, 32]);
    }
}
