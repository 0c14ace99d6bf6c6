//! The throughput of the stock kernel on some numbers of cores, as far as it was published.
//!
//! The paper's figures of throughput against cores are lost. What remains is its text, its table
//! 2.1, and figures for 120 cores. A level that follows from these by a sentence of the text counts
//! as inferred, and says how it follows.

use serde::Serialize;

use crate::ldu::workload::Workload;

/// How a level is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The level is printed.
    Published,
    /// The level follows from what is printed.
    Inferred,
    /// The level is neither printed nor follows from what is.
    NotPublished,
}

/// The throughput of the stock kernel on some cores of the paper's machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Level {
    /// The workload that was run.
    pub workload: Workload,
    /// On how many cores.
    pub cores: u32,
    /// Units per second, if that is known.
    pub per_s: Option<f64>,
    /// How it is known.
    pub origin: Origin,
    /// Where the level comes from, or why there is none.
    pub from: &'static str,
}

/// The cores for which there are levels.
pub const LEVEL_CORES: [u32; 4] = [15, 30, 60, 120];

/// The levels of a workload, one for each of [`LEVEL_CORES`].
#[must_use]
pub fn levels(workload: Workload) -> [Level; 4] {
    LEVEL_CORES.map(|cores| {
        let (per_s, origin, from) = match workload {
            Workload::Aim7 => aim7(cores),
            Workload::Exim => exim(cores),
            Workload::LmbenchFork => (
                None,
                Origin::NotPublished,
                "the figures of times are lost, and the time on 120 cores, 141, has no unit",
            ),
        };
        Level { workload, cores, per_s, origin, from }
    })
}

/// 616,000 jobs a minute.
const AIM7_JOBS_PER_S: f64 = 616_000.0 / 60.0;
/// The number of cores up to which the stock kernel scales, in both workloads.
const SCALES_TO: u32 = 60;

fn aim7(cores: u32) -> (Option<f64>, Origin, &'static str) {
    let scaled = f64::from(cores.min(SCALES_TO)) / f64::from(SCALES_TO);
    let (origin, from) = if cores > SCALES_TO {
        (Origin::Published, "616,000 jobs a minute without further walks, with figure 2.11")
    } else {
        (Origin::Inferred, "'scales linearly' up to 60 cores, 'then flattens out': that of 120")
    };
    (Some(AIM7_JOBS_PER_S * scaled), origin, from)
}

/// 144,000 messages in 15 seconds. Table 2.1 adds up to 1,800 seconds for 120 cores, which is 15
/// seconds.
const EXIM_MESSAGES_PER_S: f64 = 144_000.0 / (1_800.0 / 120.0);
/// The processor time of a message on 120 cores: 41 seconds in user mode and 499 seconds in the
/// kernel, for 144,000 messages.
const EXIM_CPU_S: f64 = (41.0 + 499.0) / 144_000.0;

fn exim(cores: u32) -> (Option<f64>, Origin, &'static str) {
    if cores > SCALES_TO {
        let from = "144,000 messages, with figure 2.11, in the 15 s that table 2.1 accounts for";
        (Some(EXIM_MESSAGES_PER_S), Origin::Inferred, from)
    } else {
        let from = "'scales well' up to 60 cores, at the 3.75 ms a message for which table 2.1 has \
                    the cores busy on 120";
        (Some(f64::from(cores) / EXIM_CPU_S), Origin::Inferred, from)
    }
}

#[cfg(test)]
mod tests {
    use super::{LEVEL_CORES, Origin, levels};
    use crate::ldu::workload::Workload;

    #[test]
    fn levels_rise_to_sixty_cores_and_not_beyond() {
        for workload in [Workload::Aim7, Workload::Exim] {
            let [few, more, half, all] = levels(workload).map(|level| level.per_s.unwrap());
            assert!((more / few - 2.0).abs() < 1e-9 && (half / few - 4.0).abs() < 1e-9);
            assert!(all <= half, "{workload}");
        }
        assert_eq!(levels(Workload::Exim)[3].per_s, Some(9_600.0));
        assert!((levels(Workload::Aim7)[3].per_s.unwrap() - 10_266.7).abs() < 0.1);
    }

    #[test]
    fn every_level_says_where_it_comes_from() {
        for workload in Workload::ALL {
            for (level, cores) in levels(workload).into_iter().zip(LEVEL_CORES) {
                assert_eq!((level.workload, level.cores), (workload, cores));
                assert!(!level.from.is_empty());
                assert_eq!(level.per_s.is_none(), level.origin == Origin::NotPublished);
            }
        }
    }
}
