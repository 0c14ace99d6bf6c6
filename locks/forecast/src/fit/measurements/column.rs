//! What a column holds, by its name.

use kilocore_locks::LockId;

use super::unit::{Quantity, Unit, unit};

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    /// The number of cores.
    Cores,
    /// The number of threads.
    Threads,
    /// What else may count threads if no column is called so: `clients`, `n`.
    Counts,
    /// The name of a lock or of another variant.
    Variant,
    /// What must be the same in all rows: a program, a machine.
    Subject,
    /// The throughput that was measured where `throughput` is a forecast.
    Given,
    /// Figures of which throughputs follow.
    Figures {
        /// The variant that they are of; empty if the name does not say.
        variant: String,
        /// What they are of.
        quantity: Quantity,
        /// By what they are multiplied.
        scale: f64,
    },
    /// Whether the figures were measured, simulated or something else.
    Provenance,
    /// The unit of the figures, in words.
    Unit,
    /// What is not needed: deviations, percentiles, counters.
    Other,
    /// The name says nothing. It may be the name of a variant.
    Unknown,
}

const CORES: [&str; 13] = [
    "cores",
    "core",
    "cpus",
    "cpu",
    "vcpus",
    "vcpu",
    "procs",
    "processors",
    "ncores",
    "ncpus",
    "num cores",
    "number of cores",
    "gomaxprocs",
];
const THREADS: [&str; 14] = [
    "threads",
    "thread",
    "nthreads",
    "num threads",
    "number of threads",
    "thread count",
    "nthread",
    "workers",
    "goroutines",
    "parallelism",
    "concurrency",
    "parameter threads",
    "t",
    "threads per run",
];
const COUNTS: [&str; 9] =
    ["clients", "connections", "processes", "tasks", "jobs", "users", "n", "p", "x"];
const VARIANTS: [&str; 16] = [
    "lock",
    "locks",
    "variant",
    "mutex type",
    "lock type",
    "implementation",
    "impl",
    "algorithm",
    "algo",
    "version",
    "config",
    "configuration",
    "benchmark",
    "series",
    "method",
    "name",
];
const OTHERS: [&str; 27] = [
    "user",
    "sys",
    "system",
    "cpu time",
    "user time",
    "sys time",
    "stddev",
    "std dev",
    "std",
    "sd",
    "err",
    "error",
    "score error",
    "ci",
    "b/op",
    "allocs/op",
    "iterations",
    "samples",
    "run",
    "rep",
    "repeat",
    "trial",
    "seed",
    "mode",
    "percent",
    "efficiency",
    "speedup %",
];

/// Names of rates; the last word of a column's name or all of it.
const RATES: [&str; 11] = [
    "throughput",
    "throughputs",
    "thruput",
    "thrpt",
    "rate",
    "rates",
    "bandwidth",
    "score",
    "speed",
    "speedup",
    "performance",
];
/// Names of the time of a run. Without a unit it is taken in seconds, which changes no comparison.
const ELAPSED: [&str; 12] = [
    "time",
    "real",
    "elapsed",
    "wall",
    "walltime",
    "runtime",
    "duration",
    "makespan",
    "wall clock",
    "real time",
    "wall time",
    "run time",
];
const LATENCIES: [&str; 3] = ["latency", "latencies", "response time"];
/// Words that change nothing: `mean latency`, `total time`.
const PLAIN: [&str; 10] = [
    "mean",
    "avg",
    "average",
    "median",
    "total",
    "execution",
    "elapsed",
    "measured",
    "the",
    "overall",
];

/// Percentiles and extremes, from which no throughput follows: `p99 latency`, `max time`.
fn is_percentile(word: &str) -> bool {
    matches!(word, "min" | "max" | "minimum" | "maximum" | "stddev" | "percentile")
        || word.strip_prefix('p').is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit())
                && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
        })
}

impl Role {
    /// What a column of this name holds.
    pub(super) fn of(name: &str) -> Self {
        let name = name.replace(['*', '`'], "");
        let name = name.trim();
        let words = plain_words(name);
        let is = |names: &[&str]| names.contains(&words.as_str());
        match words.as_str() {
            "given" => return Self::Given,
            "program" | "machine" => return Self::Subject,
            "provenance" => return Self::Provenance,
            "unit" | "units" => return Self::Unit,
            _ if is(&CORES) => return Self::Cores,
            _ if is(&THREADS) => return Self::Threads,
            _ if is(&COUNTS) => return Self::Counts,
            _ if is(&VARIANTS) => return Self::Variant,
            _ if is(&OTHERS) || words.split(' ').any(is_percentile) => return Self::Other,
            // No lock is taken for a time, whatever it is called.
            _ if LockId::named(name).is_some() => return Self::Unknown,
            _ => {}
        }
        let (rest, unit) = without_unit(name);
        let (variant, quantity) = without_quantity(&rest);
        let Some(quantity) = more_exact(quantity, unit.quantity) else { return Self::Unknown };
        Self::Figures { variant, quantity, scale: unit.scale }
    }

    /// Whether it counts threads or cores.
    pub(super) fn counts(&self) -> bool {
        matches!(self, Self::Cores | Self::Threads | Self::Counts)
    }
}

/// What figures are of, as a word and a unit say: a latency in ms is a latency.
fn more_exact(word: Option<Quantity>, unit: Option<Quantity>) -> Option<Quantity> {
    match (word, unit) {
        (Some(Quantity::Latency), Some(unit)) if unit.is_time() => word,
        (Some(word), Some(unit)) if word.is_time() != unit.is_time() => Some(unit),
        (_, Some(unit)) => Some(unit),
        (word, None) => word,
    }
}

/// The words of a name in small letters, with one blank between them.
fn plain_words(name: &str) -> String {
    let small = name.to_lowercase();
    let words = small.split(['_', ' ', '-', '#', '\n', '\t']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// A name without the unit in it, and the unit: `mutex (ms)`, `latency_us`, `mutex ns/op`.
fn without_unit(name: &str) -> (String, Unit) {
    let none = Unit { quantity: None, scale: 1.0 };
    if let Some(unit) = unit(name).filter(|unit| unit.quantity.is_some()) {
        return (String::new(), unit);
    }
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((front, inside)) =
            name.strip_suffix(close).and_then(|name| name.rsplit_once(open))
            && let Some(unit) = unit(inside)
        {
            return (front.trim().to_owned(), unit);
        }
    }
    for (at, mark) in name.match_indices([' ', '_', ',', '-']) {
        let behind = name[at + mark.len()..].trim();
        let behind = behind.strip_prefix("in ").unwrap_or(behind);
        if let Some(unit) = unit(behind).filter(|unit| unit.quantity.is_some()) {
            return (name[..at].trim_end_matches([',', ' ']).to_owned(), unit);
        }
    }
    (name.to_owned(), none)
}

/// A name without the word for a quantity in it, and the quantity: `mutex throughput`.
fn without_quantity(name: &str) -> (String, Option<Quantity>) {
    let kinds: [(&[&str], Quantity); 3] =
        [(&LATENCIES, Quantity::Latency), (&RATES, Quantity::Rate), (&ELAPSED, Quantity::Elapsed)];
    let words = plain_words(name);
    for (names, quantity) in kinds {
        for &wanted in names {
            let Some(front) = words.strip_suffix(wanted) else { continue };
            let front = front.trim_end();
            if front.split(' ').all(|word| word.is_empty() || PLAIN.contains(&word)) {
                return (String::new(), Some(quantity));
            }
            // The variant keeps the letters and marks of its name.
            if let Some(variant) = name.get(..name.len().saturating_sub(wanted.len() + 1))
                && words[..words.len() - wanted.len()].ends_with(' ')
            {
                return (variant.trim().to_owned(), Some(quantity));
            }
        }
    }
    if let Some((first, variant)) = name.split_once([' ', '_'])
        && first.eq_ignore_ascii_case("throughput")
    {
        return (variant.trim().to_owned(), Some(Quantity::Rate));
    }
    (name.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::{Quantity, Role};

    #[test]
    fn names_tell_what_columns_hold() {
        for (names, role) in [
            (
                &["threads", "Threads", "# threads", "num_threads", "Number of threads"][..],
                Role::Threads,
            ),
            (&["cores", "CPUs", "GOMAXPROCS"], Role::Cores),
            (&["clients", "n"], Role::Counts),
            (&["lock", "Variant", "impl"], Role::Variant),
            (&["B/op", "allocs/op", "p99 latency", "p99.9", "max (ms)", "stddev"], Role::Other),
            (&["mutex", "spinlock", "mcs-tp", "std::mutex", "size", "mcs_spin"], Role::Unknown),
        ] {
            for name in names {
                assert_eq!(Role::of(name), role, "{name}");
            }
        }
    }

    #[test]
    fn figures_have_a_quantity_a_scale_and_perhaps_a_variant() {
        use Quantity::{Elapsed, Latency, PerOperation, Rate};
        for (name, variant, quantity, scale) in [
            ("throughput", "", Rate, 1.0),
            ("throughput_per_s", "", Rate, 1.0),
            ("ops/s", "", Rate, 1.0),
            ("Throughput (Mops/s)", "", Rate, 1e6),
            ("Throughput\n(ops/s)", "", Rate, 1.0),
            ("ns/op", "", PerOperation, 1e-9),
            ("time/op", "", PerOperation, 1.0),
            ("ms", "", Elapsed, 1e-3),
            ("real", "", Elapsed, 1.0),
            ("Time (s)", "", Elapsed, 1.0),
            ("elapsed_ms", "", Elapsed, 1e-3),
            ("total time [min]", "", Elapsed, 60.0),
            ("time per op", "", PerOperation, 1.0),
            ("latency", "", Latency, 1.0),
            ("latency_us", "", Latency, 1e-6),
            ("avg latency (ms)", "", Latency, 1e-3),
            ("Response time in ms", "", Latency, 1e-3),
            ("mutex (ms)", "mutex", Elapsed, 1e-3),
            ("mutex_ns", "mutex", Elapsed, 1e-9),
            ("RwLock ns/op", "RwLock", PerOperation, 1e-9),
            ("std::Mutex throughput", "std::Mutex", Rate, 1.0),
            ("throughput_mutex", "mutex", Rate, 1.0),
            ("spin lock latency (us)", "spin lock", Latency, 1e-6),
        ] {
            let Role::Figures { variant: of, quantity: what, scale: by } = Role::of(name) else {
                panic!("{name}: {:?}", Role::of(name));
            };
            assert_eq!((of.as_str(), what), (variant, quantity), "{name}");
            assert!((by / scale - 1.0).abs() < 1e-12, "{name}: {by}");
        }
    }
}
