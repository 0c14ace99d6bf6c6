//! Units that people write behind a figure or into the name of a column, and how a throughput follows
//! from a figure in them.
//!
//! The rule is one for all tables:
//!
//! | figure | throughput |
//! | --- | --- |
//! | a rate, such as `ops/s` | the figure |
//! | a time, such as `ns/op`, `s` or `elapsed` | 1 divided by it |
//! | a latency, which is so called | the number of threads divided by it |
//!
//! A time is that of a fixed amount of work which all threads share, be it a whole run or, in `ns/op` as
//! Go prints it, one operation of any of them. A latency is what one operation takes its own thread, and
//! each thread has one under way (Little's law).

/// What a figure is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Work for each unit of time.
    Rate,
    /// The time of a run that does a fixed amount of work.
    Elapsed,
    /// The time of one operation, if all threads' operations are counted.
    PerOperation,
    /// The time that one operation takes its thread.
    Latency,
}

/// What a unit says of the figures in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    /// What the figures are of, if the unit tells.
    pub(super) quantity: Option<Quantity>,
    /// By what a figure is multiplied, so that it is a rate in work for each second, or a time in seconds.
    pub(super) scale: f64,
}

impl Quantity {
    /// The throughput that follows from a figure, for so many threads.
    pub(super) fn throughput(self, figure: f64, threads: u32) -> f64 {
        match self {
            Self::Rate => figure,
            Self::Elapsed | Self::PerOperation => figure.recip(),
            Self::Latency => f64::from(threads) / figure,
        }
    }

    pub(super) fn is_time(self) -> bool {
        self != Self::Rate
    }

    /// How a throughput was made of figures that are not throughputs.
    pub(super) fn assumption(self) -> Option<&'static str> {
        match self {
            Self::Rate => None,
            Self::Elapsed => Some(
                "the elapsed time of a fixed amount of work, so that the throughput is 1 divided by it",
            ),
            Self::PerOperation => Some(
                "the time of one operation, those of all threads counted, so that the throughput is 1 \
                 divided by it",
            ),
            Self::Latency => Some(
                "what one operation takes its thread, so that the throughput is the number of threads \
                 divided by it",
            ),
        }
    }
}

/// Seconds in a unit of time.
fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => 1e-9,
        "us" | "µs" | "μs" | "usec" | "usecs" | "microsecond" | "microseconds" => 1e-6,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "min" | "mins" | "minute" | "minutes" => 60.0,
        _ => return None,
    })
}

/// What a prefix of large figures stands for: `1.2M`, `350k`.
fn prefix(letter: &str) -> Option<f64> {
    Some(match letter {
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return None,
    })
}

/// What a prefix of small figures stands for. Only times have them: `105n` under `sec/op`.
pub(super) fn small_prefix(letter: &str) -> Option<f64> {
    Some(match letter {
        "n" => 1e-9,
        "u" | "µ" | "μ" => 1e-6,
        "m" => 1e-3,
        _ => return None,
    })
}

/// Work that is counted, as it is abbreviated behind a prefix: `Mops/s`.
const WORK: [&str; 16] = [
    "op",
    "ops",
    "operations",
    "req",
    "reqs",
    "requests",
    "tx",
    "txn",
    "txns",
    "queries",
    "iter",
    "iters",
    "items",
    "keys",
    "msgs",
    "events",
];
/// Rates by names of their own.
const RATES: [&str; 8] = ["ops", "iops", "rps", "qps", "tps", "hz", "/s", "1/s"];

/// The unit of this text; none if it is not one. Nothing at all is the unit 1.
pub(super) fn unit(text: &str) -> Option<Unit> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Unit { quantity: None, scale: 1.0 });
    }
    if let Some(scale) = prefix(text) {
        return Some(Unit { quantity: None, scale });
    }
    let lower = text.to_lowercase();
    if let Some(scale) = seconds(&lower) {
        return Some(Unit { quantity: Some(Quantity::Elapsed), scale });
    }
    let rate = |scale| Some(Unit { quantity: Some(Quantity::Rate), scale });
    // `ops per second` and `ops_per_s` are `ops/s`.
    let lower = lower.replace("_per_", "/").replace(" per ", "/");
    let Some((over, under)) = lower.split_once('/') else {
        let counted = prefixed(text, &RATES)?;
        return rate(counted);
    };
    let (over, under) = (over.trim(), under.trim());
    if under.is_empty() || under.contains('/') {
        return None;
    }
    if let Some(under) = seconds(under) {
        // What is counted may have any name: records/s.
        let scale = prefixed(text.split(['/', '_', ' ']).next().unwrap_or_default(), &WORK);
        let is_count = !over.starts_with(|c: char| c.is_ascii_digit()) || over == "1";
        return rate(scale.unwrap_or(1.0) / under).filter(|_| is_count);
    }
    let is_work = !under.starts_with(|c: char| c.is_ascii_digit());
    let per_operation = |scale| Unit { quantity: Some(Quantity::PerOperation), scale };
    match over {
        "time" => Some(per_operation(1.0)),
        over => seconds(over).map(per_operation),
    }
    .filter(|_| is_work)
}

/// By what a count of one of these is multiplied; none if it is none of them: `Mops`.
fn prefixed(text: &str, names: &[&str]) -> Option<f64> {
    let text = text.trim();
    if names.iter().any(|name| name.eq_ignore_ascii_case(text)) {
        return Some(1.0);
    }
    let (letter, rest) = text.split_at_checked(1)?;
    let rest = rest.trim_start();
    prefix(letter).filter(|_| names.iter().any(|name| name.eq_ignore_ascii_case(rest)))
}

#[cfg(test)]
mod tests {
    use super::{Quantity, unit};

    #[test]
    fn units_tell_rates_from_times() {
        use Quantity::{Elapsed, PerOperation, Rate};
        for (text, quantity, scale) in [
            ("", None, 1.0),
            ("M", None, 1e6),
            ("k", None, 1e3),
            ("ns/op", Some(PerOperation), 1e-9),
            ("sec/op", Some(PerOperation), 1.0),
            ("time/op", Some(PerOperation), 1.0),
            ("us per request", Some(PerOperation), 1e-6),
            ("ms", Some(Elapsed), 1e-3),
            ("Seconds", Some(Elapsed), 1.0),
            ("ops/s", Some(Rate), 1.0),
            ("Mops/s", Some(Rate), 1e6),
            ("Mops", Some(Rate), 1e6),
            ("ops/us", Some(Rate), 1e6),
            ("kqps", Some(Rate), 1e3),
            ("MB/s", Some(Rate), 1.0),
            ("ìps/s", Some(Rate), 1.0),
            ("throughput_per_s", Some(Rate), 1.0),
            ("ops per second", Some(Rate), 1.0),
        ] {
            let read = unit(text).unwrap_or_else(|| panic!("{text} is a unit"));
            assert_eq!(read.quantity, quantity, "{text}");
            assert!((read.scale / scale - 1.0).abs() < 1e-12, "{text}: {}", read.scale);
        }
        for text in ["mutex", "B/op", "allocs/op", "a/b/c", "m", "%", "9/s", "s/", "é"] {
            assert_eq!(unit(text), None, "{text}");
        }
    }

    #[test]
    fn throughput_follows_by_one_rule() {
        for (quantity, expected) in [
            (Quantity::Rate, 4.0),
            (Quantity::Elapsed, 0.25),
            (Quantity::PerOperation, 0.25),
            (Quantity::Latency, 2.0),
        ] {
            assert_eq!(quantity.throughput(4.0, 8), expected, "{quantity:?}");
        }
    }
}
