//! Shares of references: `50,36,13,1`.

use std::str::FromStr;

use thiserror::Error;

/// Private reads, private writes, shared reads and shared writes, that count by their sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shares(pub(crate) [f64; 4]);

/// Why these are no shares.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "write four numbers from 0 on, of private reads, private writes, shared reads and shared writes, as in 50,36,13,1"
)]
pub(crate) struct NoShares;

impl FromStr for Shares {
    type Err = NoShares;

    fn from_str(text: &str) -> Result<Self, NoShares> {
        let share = |part: &str| {
            let share = part.trim().parse::<f64>().ok();
            share.filter(|share| share.is_finite() && *share >= 0.0).ok_or(NoShares)
        };
        let shares = text.split(',').map(share).collect::<Result<Vec<f64>, _>>()?;
        let shares: [f64; 4] = shares.try_into().map_err(|_| NoShares)?;
        if shares.iter().sum::<f64>() > 0.0 { Ok(Self(shares)) } else { Err(NoShares) }
    }
}

#[cfg(test)]
mod tests {
    use super::{NoShares, Shares};

    #[test]
    fn four_numbers_are_shares() {
        assert_eq!("50,36, 13.5,0.6".parse(), Ok(Shares([50.0, 36.0, 13.5, 0.6])));
        for text in ["", "1,2,3", "1,2,3,4,5", "1,2,3,-4", "0,0,0,0", "1,2,3,inf", "a,1,1,1"] {
            assert_eq!(text.parse::<Shares>(), Err(NoShares), "{text}");
        }
    }
}
