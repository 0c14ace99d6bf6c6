//! Ranges of numbers: `1-9:2, 100`.

use thiserror::Error;

use crate::limits::MOST_RUNS;

/// Why a text is no range.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RangeError {
    /// A part of it is no number.
    #[error(
        "'{0}' is no number and no range; write ranges as in \"1-9:2, 100\", and words as a list, as in [\"a\", \"b\"]"
    )]
    Number(String),
    /// Its end is below its beginning.
    #[error("the range {0} runs backwards; write the smaller number first")]
    Backwards(String),
    /// It stands still.
    #[error("the step of {0} is zero; write one of at least 1")]
    Step(String),
    /// It has more numbers than a plan may have runs.
    #[error("{0} has more than {MOST_RUNS} numbers; write fewer, or a greater step")]
    Long(String),
}

/// The numbers of a text, in its order.
pub(crate) fn numbers(text: &str) -> Result<Vec<u64>, RangeError> {
    let mut numbers = Vec::new();
    for part in text.split(',').map(str::trim) {
        let number = |text: &str| {
            text.trim().parse::<u64>().map_err(|_| RangeError::Number(part.to_owned()))
        };
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, number(step)?),
            None => (part, 1),
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range)?, number(range)?),
        };
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        if step == 0 {
            return Err(RangeError::Step(part.to_owned()));
        }
        if first > last {
            return Err(RangeError::Backwards(part.to_owned()));
        }
        let more = (last - first) / step as u64;
        if more >= (MOST_RUNS - numbers.len()) as u64 {
            return Err(RangeError::Long(part.to_owned()));
        }
        numbers.extend((first..=last).step_by(step));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::{RangeError, numbers};

    #[test]
    fn numbers_ranges_and_steps_are_understood() {
        assert_eq!(numbers("1-9:2, 100"), Ok(vec![1, 3, 5, 7, 9, 100]));
        assert_eq!(numbers("3,1"), Ok(vec![3, 1]));
        assert_eq!(numbers("18446744073709551615"), Ok(vec![u64::MAX]));
        assert_eq!(numbers("0-18446744073709551615:18446744073709551615"), Ok(vec![0, u64::MAX]));
    }

    #[test]
    fn what_is_none_is_refused_with_its_part() {
        for text in ["", "a", "1-", "1,,2", "-1", "1-2-3", "1:2:3", "1.5"] {
            assert!(matches!(numbers(text), Err(RangeError::Number(_))), "{text}");
        }
        assert_eq!(numbers("1,9-3"), Err(RangeError::Backwards("9-3".into())));
        assert_eq!(numbers("1-9:0"), Err(RangeError::Step("1-9:0".into())));
        assert_eq!(numbers("0-100000"), Err(RangeError::Long("0-100000".into())));
        assert_eq!(numbers("1-99999,1-2"), Err(RangeError::Long("1-2".into())));
        assert_eq!(
            numbers("0-18446744073709551615"),
            Err(RangeError::Long("0-18446744073709551615".into()))
        );
    }
}
