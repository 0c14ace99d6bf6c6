//! Chooses which of a sample's numbers to take.

use crate::{Rate, Unit};

/// A sample type with its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    /// What is counted: `cpu`, for instance.
    pub(crate) name: String,
    /// What it is counted in: `nanoseconds`, for instance.
    pub(crate) unit: String,
}

/// Which number is the weight, and which one counts samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) weight: usize,
    pub(crate) count: Option<usize>,
}

impl Kind {
    /// The number of nanoseconds in its unit, if the unit is one of time.
    fn nanoseconds(&self) -> Option<u64> {
        match &*self.unit {
            "nanoseconds" | "nanosecond" | "ns" => Some(1),
            "microseconds" | "microsecond" | "us" => Some(1_000),
            "milliseconds" | "millisecond" | "ms" => Some(1_000_000),
            "seconds" | "second" | "s" => Some(1_000_000_000),
            _ => None,
        }
    }

    /// Whether it counts samples.
    fn is_count(&self) -> bool {
        self.unit == "count" && matches!(&*self.name, "samples" | "sample")
    }

    /// Whether it is how long threads waited: for locks and the like, as profiles of mutexes and of
    /// blocking have it.
    fn is_delay(&self) -> bool {
        self.name == "delay"
    }

    /// The unit of the weights, and the factor that converts a number to it.
    pub(crate) fn weighs(&self) -> (Unit, u64) {
        match self.nanoseconds() {
            Some(factor) if self.is_delay() => (Unit::Waiting, factor),
            Some(factor) => (Unit::Nanoseconds, factor),
            None if self.is_count() => (Unit::Samples, 1),
            None => (Unit::Events(self.name.clone()), 1),
        }
    }

    /// The sampling rate, if one sample was taken in each `period` of this kind.
    pub(crate) fn rate(&self, period: i64, weighed: &Self) -> Option<Rate> {
        let period = u64::try_from(period).ok().filter(|&period| period > 0)?;
        let factor = self.nanoseconds().unwrap_or(1);
        let period = period.checked_mul(factor)?;
        match (self.nanoseconds(), weighed.nanoseconds()) {
            (Some(_), None) => Some(Rate::Hertz(1e9 / period as f64)),
            (None, Some(_)) => None,
            _ => Some(Rate::Period(period)),
        }
    }
}

/// Chooses the sample type that was asked for. Without one, it chooses processor time, else
/// samples, else the type that the file prefers, else the last one, as the pprof tool does. Returns
/// `None` if the type that was asked for does not exist.
pub(crate) fn choose(kinds: &[Kind], asked: Option<&str>, preferred: &str) -> Option<Choice> {
    let named = |name: &str| kinds.iter().position(|kind| kind.name == name);
    let count = kinds.iter().position(Kind::is_count);
    let weight = match asked {
        Some(asked) => named(asked)?,
        None => kinds
            .iter()
            .position(|kind| kind.name == "cpu" && kind.nanoseconds().is_some())
            .or(count)
            .or_else(|| named(preferred))
            .or(kinds.len().checked_sub(1))?,
    };
    // A delay has the number of waits beside it.
    let count = count.or_else(|| named("contentions").filter(|_| kinds[weight].is_delay()));
    Some(Choice { weight, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(texts: &[&str]) -> Vec<Kind> {
        texts
            .iter()
            .map(|text| {
                let (name, unit) = text.split_once('/').unwrap();
                Kind { name: name.to_owned(), unit: unit.to_owned() }
            })
            .collect()
    }

    #[test]
    fn processor_time_goes_before_samples_before_what_the_file_prefers() {
        let of = |texts: &[&str], asked, preferred| {
            choose(&kinds(texts), asked, preferred).map(|choice| (choice.weight, choice.count))
        };
        let heap = &["alloc_objects/count", "alloc_space/bytes", "inuse_space/bytes"];
        assert_eq!(of(&["samples/count", "cpu/nanoseconds"], None, ""), Some((1, Some(0))));
        assert_eq!(
            of(&["samples/count", "cpu/nanoseconds"], Some("samples"), ""),
            Some((0, Some(0)))
        );
        assert_eq!(of(&["wall/nanoseconds", "samples/count"], None, ""), Some((1, Some(1))));
        assert_eq!(of(heap, None, "alloc_space"), Some((1, None)));
        assert_eq!(of(heap, None, ""), Some((2, None)));
        assert_eq!(of(heap, Some("cpu"), ""), None);
        assert_eq!(of(&["contentions/count", "delay/nanoseconds"], None, ""), Some((1, Some(0))));
        assert_eq!(of(&[], None, ""), None);
    }

    #[test]
    fn times_are_nanoseconds() {
        let kinds = kinds(&["cpu/microseconds", "samples/count", "delay/bytes", "delay/ms"]);
        assert_eq!(kinds[0].weighs(), (Unit::Nanoseconds, 1_000));
        assert_eq!(kinds[1].weighs(), (Unit::Samples, 1));
        assert_eq!(kinds[2].weighs(), (Unit::Events("delay".to_owned()), 1));
        assert_eq!(kinds[3].weighs(), (Unit::Waiting, 1_000_000));
        assert_eq!(kinds[0].rate(10_000, &kinds[0]), Some(Rate::Period(10_000_000)));
        assert_eq!(kinds[0].rate(10_000, &kinds[1]), Some(Rate::Hertz(100.0)));
        assert_eq!(kinds[2].rate(10_000, &kinds[0]), None);
        assert_eq!(kinds[0].rate(-1, &kinds[0]), None);
    }
}
