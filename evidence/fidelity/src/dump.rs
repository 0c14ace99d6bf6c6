//! Every held-back point, for programs that look into errors.

use serde::Serialize;

use crate::run::Answer;
use crate::split::Setting;

/// A held-back point: published, simulated, and by both baselines. Throughputs are in the
/// program's own unit per second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldBack<'a> {
    /// How much was given.
    pub setting: Setting,
    /// The data set's name of the machine.
    pub machine: &'static str,
    /// The data set's name of the program.
    pub program: &'a str,
    /// How many times faster its best lock is than its worst at all nodes.
    pub spread: f64,
    /// The data set's name of the lock.
    pub lock: &'a str,
    /// The name of its counterpart.
    pub counterpart: &'static str,
    /// Whether other points of this lock were given.
    pub lock_given: bool,
    /// The number of NUMA nodes that the program ran on.
    pub nodes: u32,
    /// The number of cores of these nodes.
    pub cores: u32,
    /// The median of the runs.
    pub measured: f64,
    /// The lower quartile of the runs.
    pub q1: f64,
    /// The upper quartile of the runs.
    pub q3: f64,
    /// The throughput that is forecast.
    pub throughput: f64,
    /// The lower end of its band.
    pub low: f64,
    /// The upper end of its band.
    pub high: f64,
    /// By the universal scalability law.
    pub usl: f64,
    /// As at the last given count.
    pub stays: f64,
}

/// All held-back points of some answers, in their order.
#[must_use]
pub fn held_back(answers: &[Answer]) -> Vec<HeldBack<'_>> {
    let mut all = Vec::new();
    for answer in answers {
        for curve in &answer.curves {
            for point in curve.points.iter().filter(|p| p.held) {
                all.push(HeldBack {
                    setting: answer.setting,
                    machine: answer.machine.name,
                    program: &answer.program,
                    spread: answer.spread,
                    lock: &curve.alias,
                    counterpart: curve.lock.name(),
                    lock_given: curve.given,
                    nodes: point.nodes,
                    cores: point.cores,
                    measured: point.observed.throughput,
                    q1: point.observed.q1,
                    q3: point.observed.q3,
                    throughput: point.forecast.throughput,
                    low: point.forecast.low,
                    high: point.forecast.high,
                    usl: point.usl,
                    stays: point.stays,
                });
            }
        }
    }
    all
}
