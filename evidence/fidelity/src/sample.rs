//! Made-up programs and forecasters for tests.

use std::collections::BTreeMap;

use kilocore_forecast::fit::Estimate;

use crate::data::{Machine, Observed, Program};
use crate::run::{Forecaster, Progress, Refused};
use crate::split::Split;

/// Numbers of nodes of made-up points.
const NODES: [u32; 5] = [1, 2, 4, 6, 8];

/// A program with the throughputs of each lock at 1, 2, 4, 6 and 8 nodes.
pub(crate) fn program(name: &str, series: &[(&str, &[f64])]) -> Program {
    let point = |(&nodes, &throughput): (&u32, &f64)| Observed {
        nodes,
        throughput,
        q1: throughput * 0.98,
        q3: throughput * 1.02,
    };
    let points = |&(alias, throughputs): &(&str, &[f64])| {
        (alias.to_owned(), NODES.iter().zip(throughputs).map(point).collect::<Vec<_>>())
    };
    Program::new(name.to_owned(), series.iter().map(points).collect::<BTreeMap<_, _>>())
}

/// A forecaster that looks at what it should not see, and errs by a factor.
pub(crate) struct Oracle(pub(crate) f64);

impl Forecaster for Oracle {
    fn forecast(&self, split: &Split<'_>, _: Progress<'_>) -> Result<Vec<Estimate>, Refused> {
        let measured = |(lock, cores): (kilocore_locks::LockId, u32)| {
            let nodes = cores / split.machine.cores_per_node;
            let series = split.program.series.iter().find(|s| s.lock == Some(lock));
            series.and_then(|s| s.at(nodes)).map_or(f64::NAN, |p| p.throughput)
        };
        let estimate = |wanted| {
            let throughput = measured(wanted) * self.0;
            Estimate { throughput, low: throughput * 0.9, high: throughput * 1.1 }
        };
        Ok(split.wanted().into_iter().map(estimate).collect())
    }
}

/// One that never answers.
pub(crate) struct Silent;

impl Forecaster for Silent {
    fn forecast(&self, _: &Split<'_>, _: Progress<'_>) -> Result<Vec<Estimate>, Refused> {
        Err(Refused("too few points".to_owned()))
    }
}

/// The machine of most tests.
pub(crate) const MACHINE: Machine = crate::data::MACHINES[0];

/// A program whose locks collapse, but for `mcs_spin` and `mcs-ls`.
pub(crate) fn collapsing(name: &str) -> Program {
    program(
        name,
        &[
            ("backoff", &[1.0, 2.0, 3.0, 2.0, 1.0]),
            ("mcs-ls", &[1.0, 2.0, 4.0, 6.0, 8.0]),
            ("mcs_spin", &[1.0, 2.0, 4.0, 6.0, 8.0]),
            ("pthread", &[1.0, 2.0, 3.0, 4.0, 4.0]),
            ("ticket", &[1.0, 2.0, 2.0, 1.0, 0.5]),
        ],
    )
}
