//! Lists of initial delays: `1,10,1000`.

use std::str::FromStr;

use thiserror::Error;

/// Delays in ascending order, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delays(pub(crate) Vec<u32>);

/// Why a list of delays is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is not a delay; write numbers from 1 to 4294967294 with commas, as in 1,100,5000")]
pub(crate) struct NoDelay(String);

impl FromStr for Delays {
    type Err = NoDelay;

    fn from_str(text: &str) -> Result<Self, NoDelay> {
        let delay = |part: &str| {
            let number = part.trim().parse::<u32>().ok();
            let delay = number.filter(|&delay| delay > 0 && delay < u32::MAX);
            delay.ok_or_else(|| NoDelay(part.to_owned()))
        };
        let mut delays = text.split(',').map(delay).collect::<Result<Vec<u32>, _>>()?;
        delays.sort_unstable();
        delays.dedup();
        Ok(Self(delays))
    }
}

#[cfg(test)]
mod tests {
    use super::{Delays, NoDelay};

    #[test]
    fn lists_are_sorted_and_what_is_no_delay_is_refused() {
        let parse = |text: &str| text.parse::<Delays>().map(|delays| delays.0);
        assert_eq!(parse("1000,1, 10,1"), Ok(vec![1, 10, 1000]));
        for text in ["0", "", "x", "1,,2", "-1", "4294967295"] {
            assert!(matches!(parse(text), Err(NoDelay(_))), "{text}");
        }
    }
}
