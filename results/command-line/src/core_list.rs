//! Lists of core counts: `1,6,12`, `1-8`, `8-128:8`.

use std::str::FromStr;

use thiserror::Error;

/// Core counts in ascending order, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreList(pub Vec<u32>);

/// Why a list of core counts is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CoreListError {
    /// A part of it is no number.
    #[error("'{0}' is not a number of cores; write numbers and ranges, as in 1,2,4-8 or 8-64:8")]
    Number(String),
    /// No machine has so many.
    #[error("there is no machine with {0} cores; choose 1 to 1024")]
    OutOfRange(u64),
    /// A range whose end is below its beginning.
    #[error("the range {0} runs backwards; write the smaller number first")]
    Backwards(String),
    /// A range that stands still.
    #[error("the step of {0} is zero")]
    Step(String),
}

const MOST: u64 = 1024;

impl FromStr for CoreList {
    type Err = CoreListError;

    fn from_str(text: &str) -> Result<Self, CoreListError> {
        let mut cores = Vec::new();
        for part in text.split(',') {
            let (range, step) = match part.split_once(':') {
                Some((range, step)) => (range, number(step, part)?),
                None => (part, 1),
            };
            if step == 0 {
                return Err(CoreListError::Step(part.to_owned()));
            }
            let (first, last) = match range.split_once('-') {
                Some((first, last)) => (count(first, part)?, count(last, part)?),
                None => (count(range, part)?, count(range, part)?),
            };
            if first > last {
                return Err(CoreListError::Backwards(part.to_owned()));
            }
            cores.extend((first..=last).step_by(step as usize));
        }
        cores.sort_unstable();
        cores.dedup();
        Ok(Self(cores))
    }
}

fn number(text: &str, part: &str) -> Result<u64, CoreListError> {
    text.trim().parse().map_err(|_| CoreListError::Number(part.to_owned()))
}

fn count(text: &str, part: &str) -> Result<u32, CoreListError> {
    match number(text, part)? {
        0 => Err(CoreListError::OutOfRange(0)),
        cores if cores > MOST => Err(CoreListError::OutOfRange(cores)),
        cores => Ok(cores as u32),
    }
}

impl CoreList {
    /// The counts that show the shape of a curve on a machine with so many hardware threads in
    /// nodes of so many: powers of two within a node, whole nodes beyond, at most a dozen.
    #[must_use]
    pub fn for_machine(threads: u32, per_node: u32) -> Self {
        let most = threads.min(MOST as u32);
        let mut cores: Vec<u32> = (0..).map(|power| 1 << power).take_while(|&n| n < most).collect();
        if most > per_node {
            cores.retain(|&n| n <= per_node);
            let nodes = most / per_node;
            let step = nodes.div_ceil(8);
            cores.extend((1..=nodes).step_by(step as usize).map(|n| n * per_node));
        }
        cores.push(most);
        cores.sort_unstable();
        cores.dedup();
        Self(cores)
    }
}

#[cfg(test)]
mod tests {
    use super::{CoreList, CoreListError};

    #[test]
    fn numbers_ranges_and_steps_are_understood() {
        let parse = |text: &str| text.parse::<CoreList>().map(|list| list.0);
        assert_eq!(parse("6,1,12,6"), Ok(vec![1, 6, 12]));
        assert_eq!(parse("1-3,8-16:4"), Ok(vec![1, 2, 3, 8, 12, 16]));
        assert_eq!(parse("0"), Err(CoreListError::OutOfRange(0)));
        assert_eq!(parse("1000000000"), Err(CoreListError::OutOfRange(1_000_000_000)));
        assert_eq!(parse("4-2"), Err(CoreListError::Backwards("4-2".into())));
        assert_eq!(parse("1-4:0"), Err(CoreListError::Step("1-4:0".into())));
        assert!(matches!(parse("x"), Err(CoreListError::Number(_))));
        assert!(matches!(parse(""), Err(CoreListError::Number(_))));
    }

    #[test]
    fn a_machine_is_swept_by_powers_of_two_and_then_by_nodes() {
        assert_eq!(CoreList::for_machine(48, 6).0, [1, 2, 4, 6, 12, 18, 24, 30, 36, 42, 48]);
        assert_eq!(CoreList::for_machine(8, 8).0, [1, 2, 4, 8]);
        assert_eq!(CoreList::for_machine(1, 1).0, [1]);
        assert_eq!(*CoreList::for_machine(1024, 16).0.last().unwrap(), 1024);
    }
}
