//! What a program says: where its lock is when it is ready, and the truth at its end.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

/// What a program says when its threads begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The number of its process.
    pub pid: u32,
    /// Where the lock object begins, if the language can tell. The word that threads wait for may lie
    /// some bytes further.
    pub lock: Option<u64>,
    /// The same of the second process, if there is one.
    pub second: Option<(u32, u64)>,
}

/// The truth about a run. Means are zero where there was nothing to take a mean of.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Truth {
    pub language: String,
    pub lock: String,
    /// How many threads there were.
    pub threads: usize,
    /// How often the work of the section was done: for a lock that excludes, how often it was taken.
    pub acquisitions: u64,
    /// For how long a section's thread ran, on average.
    #[serde(rename = "hold_ns_mean", deserialize_with = "nanoseconds")]
    pub hold: Duration,
    /// How long a section took by the wall clock, on average.
    #[serde(rename = "hold_wall_ns_mean", deserialize_with = "nanoseconds")]
    pub hold_wall: Duration,
    /// For how long a thread ran between two sections, on average.
    #[serde(rename = "think_ns_mean", deserialize_with = "nanoseconds")]
    pub think: Duration,
    /// How long the run took, from when its threads began.
    #[serde(rename = "wall_ns", deserialize_with = "nanoseconds")]
    pub wall: Duration,
    /// Acquisitions in each full second of the run.
    pub per_second: Vec<u64>,
    /// What readers did, if the lock is one for readers and writers.
    pub reads: Option<Reads>,
    /// How many items went through a queue or all of a pipeline.
    pub items: Option<u64>,
    /// How many rounds there were.
    pub rounds: Option<u64>,
    /// How often a thread came back from a condition variable, each of which takes the mutex once
    /// more.
    pub condition_waits: Option<u64>,
}

/// The truth about readers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Reads {
    /// How often a reader got the lock.
    pub acquisitions: u64,
    /// For how long a reader ran while it had the lock, on average.
    #[serde(rename = "hold_ns_mean", deserialize_with = "nanoseconds")]
    pub hold: Duration,
    /// How long a reader had the lock by the wall clock, on average.
    #[serde(rename = "hold_wall_ns_mean", deserialize_with = "nanoseconds")]
    pub hold_wall: Duration,
    /// Acquisitions in each full second of the run.
    pub per_second: Vec<u64>,
}

/// A line that is none of a planted program.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableTruth {
    /// It is no line `ready PID [ADDRESS]`.
    #[error("not a line `ready PID [ADDRESS]`: {0:?}")]
    Ready(String),
    /// No line begins like the truth.
    #[error("no line with the truth in {0:?}")]
    None(String),
    /// The truth is not as it should be.
    #[error("{line}: {error}")]
    Malformed { line: String, error: serde_json::Error },
}

fn nanoseconds<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    let nanoseconds = f64::deserialize(value)?;
    Duration::try_from_secs_f64(nanoseconds / 1e9).map_err(serde::de::Error::custom)
}

impl Ready {
    /// Reads the line that a program prints first.
    ///
    /// # Errors
    /// If it is no such line.
    pub fn read(line: &str) -> Result<Ready, UnreadableTruth> {
        let unreadable = || UnreadableTruth::Ready(line.to_owned());
        let pid = |text: &str| text.parse().map_err(|_| unreadable());
        let address = |text: &str| {
            let digits = text.strip_prefix("0x").ok_or_else(unreadable)?;
            u64::from_str_radix(digits, 16).map_err(|_| unreadable())
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["ready", one] => Ok(Ready { pid: pid(one)?, lock: None, second: None }),
            ["ready", one, lock] => {
                Ok(Ready { pid: pid(one)?, lock: Some(address(lock)?), second: None })
            }
            ["ready", one, lock, two, there] => Ok(Ready {
                pid: pid(one)?,
                lock: Some(address(lock)?),
                second: Some((pid(two)?, address(there)?)),
            }),
            _ => Err(unreadable()),
        }
    }
}

impl Truth {
    /// Reads the truth out of what a program printed, which may stand among other lines.
    ///
    /// # Errors
    /// If no line is the truth, or it is not as it should be.
    pub fn read(output: &str) -> Result<Truth, UnreadableTruth> {
        let line = output
            .lines()
            .rfind(|line| line.starts_with("{\"language\""))
            .ok_or_else(|| UnreadableTruth::None(output.to_owned()))?;
        serde_json::from_str(line)
            .map_err(|error| UnreadableTruth::Malformed { line: line.to_owned(), error })
    }

    /// Returns for how long sections ran in all.
    pub fn held(&self) -> Duration {
        self.hold.mul_f64(self.acquisitions as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"language":"c","lock":"pthread_mutex","threads":2,"acquisitions":7,
        "hold_ns_mean":1500.2,"hold_wall_ns_mean":2000,"think_ns_mean":0.0,"wall_ns":1000000000,
        "per_second":[7]}"#;

    #[test]
    fn the_truth_is_found_among_other_lines() {
        let line = LINE.replace("\n        ", "");
        let truth = Truth::read(&format!("ready 1 0x2\n{line}\nmeasured\n")).expect("it is there");
        assert_eq!(truth.hold, Duration::from_nanos(1500));
        assert_eq!((truth.acquisitions, truth.per_second), (7, vec![7]));
        assert_eq!((truth.reads, truth.items), (None, None));
    }

    #[test]
    fn what_is_not_the_truth_is_an_error() {
        assert!(matches!(Truth::read("ready 1\n"), Err(UnreadableTruth::None(_))));
        let negative = LINE.replace("\n        ", "").replace("1500.2", "-1");
        let malformed = [r#"{"language":"c"}"#, "{\"language\"", &negative];
        for line in malformed {
            let read = Truth::read(line);
            assert!(matches!(read, Err(UnreadableTruth::Malformed { .. })), "{line}: {read:?}");
        }
    }

    #[test]
    fn the_first_line_is_read() {
        let ready = |lock, second| Ready { pid: 12, lock, second };
        assert_eq!(Ready::read("ready 12\n").expect("it is one"), ready(None, None));
        assert_eq!(Ready::read("ready 12 0xff").expect("it is one"), ready(Some(255), None));
        let two = Ready::read("ready 12 0xff 13 0x10").expect("it is one");
        assert_eq!(two, ready(Some(255), Some((13, 16))));
        for line in ["", "ready", "ready 0x1", "ready 1 2", "ready 1 0xg", "ready 1 0x2 3", "1 0x2"]
        {
            assert!(Ready::read(line).is_err(), "{line}");
        }
    }
}
