//! The published figures.

use serde::Serialize;

use crate::ldu::workload::Workload;

/// The results of a workload on 120 cores of 8 Intel Xeon E7-8870 (the LDU paper and its text on
/// ratios).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Published {
    /// Throughput of the best deferred log, relative to the stock kernel.
    pub best_over_stock: f64,
    /// Throughput of the best deferred log, relative to the unordered list.
    pub best_over_unordered_list: Option<f64>,
    /// Cores up to which the stock kernel scales.
    pub stock_scales_to: u32,
    /// The share of updates, in percent, at which the log with a global queue breaks even with the
    /// stock kernel: the ends of a range.
    pub break_even: (f64, f64),
}

/// Returns the figures of a workload.
#[must_use]
pub fn published(workload: Workload) -> Published {
    match workload {
        Workload::Aim7 => Published {
            best_over_stock: 1.7,
            best_over_unordered_list: Some(1.1),
            stock_scales_to: 60,
            break_even: (66.0, 75.0),
        },
        Workload::Exim => Published {
            best_over_stock: 1.6,
            best_over_unordered_list: Some(1.1),
            stock_scales_to: 60,
            break_even: (80.0, 80.0),
        },
        Workload::LmbenchFork => Published {
            best_over_stock: 2.2,
            best_over_unordered_list: None,
            stock_scales_to: 15,
            break_even: (80.0, 85.0),
        },
    }
}

/// Where the cores' time went on 120 cores: a line of table 2.1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Times {
    /// The workload that was run.
    pub workload: Workload,
    /// Under which scheme, by its name here.
    pub scheme: &'static str,
    /// Seconds in user mode.
    pub user_s: f64,
    /// Seconds in the kernel.
    pub system_s: f64,
    /// Seconds in which cores were idle.
    pub idle_s: f64,
    /// The idle time in percent, as printed. It does not always agree with the seconds.
    pub idle_percent: f64,
}

impl Times {
    /// The shares of user, system and idle time, from the seconds.
    #[must_use]
    pub fn shares(&self) -> [f64; 3] {
        let all = self.user_s + self.system_s + self.idle_s;
        [self.user_s, self.system_s, self.idle_s].map(|seconds| seconds / all)
    }
}

/// Table 2.1: where the cores' time went, by workload and scheme.
pub const TIMES: [Times; 12] = {
    use Workload::{Aim7, Exim, LmbenchFork};
    const fn line(
        workload: Workload,
        scheme: &'static str,
        seconds: [f64; 3],
        idle_percent: f64,
    ) -> Times {
        let [user_s, system_s, idle_s] = seconds;
        Times { workload, scheme, user_s, system_s, idle_s, idle_percent }
    }
    [
        line(Aim7, "stock", [2487.0, 1993.0, 4647.0], 51.0),
        line(Aim7, "harris-unordered", [1123.0, 3631.0, 2186.0], 31.0),
        line(Aim7, "ldu-global", [3630.0, 2511.0, 1466.0], 19.0),
        line(Aim7, "ldu-per-core", [3630.0, 1903.0, 1662.0], 23.0),
        line(Exim, "stock", [41.0, 499.0, 1260.0], 70.0),
        line(Exim, "harris-unordered", [47.0, 628.0, 1124.0], 62.0),
        line(Exim, "ldu-global", [112.0, 1128.0, 559.0], 31.0),
        line(Exim, "ldu-per-core", [87.0, 1055.0, 657.0], 37.0),
        line(LmbenchFork, "stock", [11.0, 208.0, 2158.0], 91.0),
        line(LmbenchFork, "harris-unordered", [11.0, 312.0, 367.0], 53.0),
        line(LmbenchFork, "ldu-global", [11.0, 292.0, 315.0], 51.0),
        line(LmbenchFork, "ldu-per-core", [12.0, 347.0, 349.0], 49.0),
    ]
};

/// Figure 2.11 for one workload: the log with a global queue at several shares of updates, on 120
/// cores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// The workload that was run.
    pub workload: Workload,
    /// The figure of the stock kernel without further reads: thousands of jobs a minute, thousands
    /// of messages, or a time (less is better).
    pub stock: f64,
    /// The figures of the log at 50, 66, 75, 80, 85, 90 and 99 % updates. An item is the share and
    /// the figure.
    pub log: [(f64, f64); 7],
}

impl Ratio {
    /// The log's throughput relative to the stock kernel, at each share of updates.
    #[must_use]
    pub fn over_stock(&self) -> [(f64, f64); 7] {
        self.log.map(|(updates, log)| match self.workload {
            // These figures are times.
            Workload::LmbenchFork => (updates, self.stock / log),
            Workload::Aim7 | Workload::Exim => (updates, log / self.stock),
        })
    }
}

/// Computes from table 2.1 the gain of the log with a global queue on lmbench.
///
/// Forks take the same user time under all schemes, 11 s in both lines. Equal user time is
/// therefore equal work, and the sums of the times have the same ratio as the times that the runs
/// took. The paper's text says that the gain is 2.2; figure 2.11 has 141 and 53.
#[must_use]
pub fn lmbench_gain_by_times() -> f64 {
    let all = |scheme| {
        let of = |times: &&Times| times.workload == Workload::LmbenchFork && times.scheme == scheme;
        let times = TIMES.iter().find(of).expect("table 2.1 has these lines");
        (times.system_s + times.idle_s + times.user_s) / times.user_s
    };
    all("stock") / all("ldu-global")
}

/// Figure 2.11: the log with a global queue beside the stock kernel, by shares of updates.
pub const RATIOS: [Ratio; 3] = [
    Ratio {
        workload: Workload::Aim7,
        stock: 616.0,
        log: [
            (50.0, 530.0),
            (66.0, 568.0),
            (75.0, 718.0),
            (80.0, 745.0),
            (85.0, 920.0),
            (90.0, 960.0),
            (99.0, 971.0),
        ],
    },
    Ratio {
        workload: Workload::Exim,
        stock: 144.0,
        log: [
            (50.0, 93.0),
            (66.0, 115.0),
            (75.0, 124.0),
            (80.0, 144.0),
            (85.0, 152.0),
            (90.0, 167.0),
            (99.0, 179.0),
        ],
    },
    Ratio {
        workload: Workload::LmbenchFork,
        stock: 141.0,
        log: [
            (50.0, 315.0),
            (66.0, 240.0),
            (75.0, 198.0),
            (80.0, 169.0),
            (85.0, 121.0),
            (90.0, 110.0),
            (99.0, 53.0),
        ],
    },
];
