//! Lists of shares of updates: `99`, `50,66,75`, `50..99`.

use std::str::FromStr;

use thiserror::Error;

/// Percentages in ascending order, each once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Updates(pub(crate) Vec<f64>);

/// Why a list of shares of updates is none.
#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum UpdatesError {
    #[error("'{0}' is not a percentage; write numbers and ranges, as in 99 or 50,66,75 or 50..99")]
    Number(String),
    #[error("there is no mix with {0} % updates; choose more than 0, and at most 100")]
    OutOfRange(String),
    #[error("the range {0} runs backwards; write the smaller number first")]
    Backwards(String),
    #[error(
        "the range {0} holds none of 50, 66, 75, 80, 85, 90 and 99, which ranges are made of; \
         write the numbers themselves, with commas"
    )]
    Empty(String),
}

/// What a range is made of: the steps of the paper.
const STEPS: [f64; 7] = [50.0, 66.0, 75.0, 80.0, 85.0, 90.0, 99.0];

impl FromStr for Updates {
    type Err = UpdatesError;

    fn from_str(text: &str) -> Result<Self, UpdatesError> {
        let mut shares = Vec::new();
        for part in text.split(',') {
            let Some((first, last)) = part.split_once("..") else {
                shares.push(share(part)?);
                continue;
            };
            let (first, last) = (share(first)?, share(last)?);
            if first > last {
                return Err(UpdatesError::Backwards(part.to_owned()));
            }
            let before = shares.len();
            shares.extend(STEPS.iter().filter(|step| (first..=last).contains(*step)));
            if shares.len() == before {
                return Err(UpdatesError::Empty(part.to_owned()));
            }
        }
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        Ok(Self(shares))
    }
}

fn share(text: &str) -> Result<f64, UpdatesError> {
    match text.trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 100.0 => Ok(share),
        Ok(share) if share.is_finite() => Err(UpdatesError::OutOfRange(text.to_owned())),
        _ => Err(UpdatesError::Number(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Updates, UpdatesError};

    #[test]
    fn numbers_lists_and_the_papers_steps_are_understood() {
        let parse = |text: &str| text.parse::<Updates>().map(|updates| updates.0);
        assert_eq!(parse("99"), Ok(vec![99.0]));
        assert_eq!(parse("75,50,66.5,75"), Ok(vec![50.0, 66.5, 75.0]));
        assert_eq!(parse("50..99").map(|steps| steps.len()), Ok(7));
        assert_eq!(parse("70..85,100"), Ok(vec![75.0, 80.0, 85.0, 100.0]));
        assert_eq!(parse("0"), Err(UpdatesError::OutOfRange("0".into())));
        assert_eq!(parse("101"), Err(UpdatesError::OutOfRange("101".into())));
        assert_eq!(parse("-1"), Err(UpdatesError::OutOfRange("-1".into())));
        assert_eq!(parse("99..50"), Err(UpdatesError::Backwards("99..50".into())));
        assert_eq!(parse("10..20"), Err(UpdatesError::Empty("10..20".into())));
        for text in ["", "x", "nan", "inf", "50..", "50,,60"] {
            assert!(matches!(parse(text), Err(UpdatesError::Number(_))), "{text}");
        }
    }
}
