//! How a program scales on a simulated machine, as it is shown.

use kilocore_emulation_orders::{Orders, Report, ThreadTimes};
use kilocore_show::{
    About, Across, Generated, Host, Line, Lines, Mark, Parameter, Points, Provenance, Study, Table,
    Unit, described, number,
};
use serde::Serialize;

use crate::Point;

/// Runs of a program on several numbers of cores of a machine.
#[derive(Debug, Clone)]
pub struct Emulated {
    /// By whom, how and when.
    pub generated: Generated,
    /// The program, as somebody would type it.
    pub command: String,
    /// What was asked for, but for the number of cores.
    pub orders: Orders,
    /// The runs, by number of cores, fewest first. At least one.
    pub points: Vec<(u32, Point)>,
}

/// What programs read.
#[derive(Debug, Serialize)]
struct Document<'a> {
    provenance: Provenance,
    command: &'a str,
    machine: &'a str,
    seed: u64,
    disorder_cycles: u64,
    cycles_per_instruction: f64,
    points: Vec<DocumentPoint<'a>>,
}

#[derive(Debug, Serialize)]
struct DocumentPoint<'a> {
    cores: u32,
    speedup: f64,
    parallel_speedup: Option<f64>,
    status: i32,
    host_seconds: f64,
    #[serde(flatten)]
    report: &'a Report,
}

/// What stands in the place of a status where a signal ended the program.
const BY_SIGNAL: i32 = -1;

impl Emulated {
    /// How many times as fast as on the fewest cores a run is.
    fn speedup(&self, report: &Report) -> f64 {
        self.points.first().map_or(1.0, |(_, first)| first.report.end_ns / report.end_ns)
    }

    /// The same of the part with threads of its own, where both runs have one.
    fn parallel_speedup(&self, report: &Report) -> Option<f64> {
        let first = self.points.first()?.1.report.parallel?;
        Some(first.ns() / report.parallel?.ns()).filter(|ratio| ratio.is_finite())
    }

    /// The parts of the time of all threads' cores that each kind of time is. The rest they had no core, or slept.
    fn shares(cores: u32, report: &Report) -> [f64; 5] {
        let sum = |of: fn(&ThreadTimes) -> f64| report.threads.iter().map(of).sum::<f64>();
        let all = report.end_ns * f64::from(cores);
        let parts = [
            sum(|thread| thread.working_ns),
            sum(|thread| thread.stalled_ns),
            sum(|thread| thread.spinning_ns),
            sum(|thread| thread.system_ns),
        ]
        .map(|ns| ns / all);
        let idle = (1.0 - parts.iter().sum::<f64>()).max(0.0);
        [parts[0], parts[1], parts[2], parts[3], idle]
    }
}

impl Study for Emulated {
    fn about(&self) -> About {
        let Orders { seed, disorder, cycles_per_instruction, .. } = &self.orders;
        About {
            generated: self.generated.clone(),
            kind: "A program, emulated",
            title: format!("How `{}` scales", self.command),
            host: Host::Machine(described(&self.orders.machine)),
            parameters: vec![
                Parameter::new("seed", seed.to_string(), "given"),
                Parameter::new(
                    "a thread runs ahead by at most",
                    format!("{disorder} cycles"),
                    "given",
                ),
                Parameter::new(
                    "an instruction takes",
                    format!("{cycles_per_instruction} cycles"),
                    "given, or estimated for all programs",
                ),
            ],
        }
    }

    fn document(&self) -> impl Serialize {
        Document {
            provenance: Provenance::Emulated,
            command: &self.command,
            machine: &self.orders.machine.name,
            seed: self.orders.seed,
            disorder_cycles: self.orders.disorder,
            cycles_per_instruction: self.orders.cycles_per_instruction,
            points: self
                .points
                .iter()
                .map(|(cores, point)| DocumentPoint {
                    cores: *cores,
                    speedup: self.speedup(&point.report),
                    parallel_speedup: self.parallel_speedup(&point.report),
                    status: point.status.code().unwrap_or(BY_SIGNAL),
                    host_seconds: point.took.as_secs_f64(),
                    report: &point.report,
                })
                .collect(),
        }
    }

    fn points(&self) -> Points {
        let speedups = self.points.iter().map(|(cores, point)| (cores, point, self));
        Points::of(Provenance::Emulated, speedups.collect::<Vec<_>>())
            .each("cores", Unit::Count, |(cores, ..)| **cores)
            .each("time_ns", Unit::Nanoseconds, |(_, point, _)| point.report.end_ns)
            .each("speedup", Unit::Ratio, |(_, point, of)| of.speedup(&point.report))
            .each("parallel_speedup", Unit::Ratio, |(_, point, of)| {
                of.parallel_speedup(&point.report)
            })
            .build()
    }

    fn charts(&self) -> Vec<Lines> {
        let line = |name: &'static str, of: &dyn Fn(&Report) -> Option<f64>| {
            let at = |(cores, point): &(u32, Point)| Some((f64::from(*cores), of(&point.report)?));
            Line::new(name, self.points.iter().filter_map(at).collect())
        };
        let whole = line("the whole program", &|report| Some(self.speedup(report)));
        let parallel = line("while it has threads", &|report| self.parallel_speedup(report));
        let lines = [whole, parallel].into_iter().filter(|line| !line.points.is_empty());
        vec![Lines {
            title: "Times as fast as on the fewest cores".to_owned(),
            mark: Mark::new(Provenance::Emulated, ""),
            across: Across::Cores,
            up: "times as fast".to_owned(),
            by: "part",
            linear: None,
            small: false,
            lines: lines.collect(),
        }]
    }

    fn tables(&self) -> Vec<Table> {
        let row = |(cores, point): &(u32, Point)| {
            let report = &point.report;
            let [working, stalled, spinning, system, idle] = Self::shares(*cores, report);
            let parallel = self.parallel_speedup(report);
            let figures = vec![
                number::nanoseconds(report.end_ns),
                number::multiple(self.speedup(report)),
                number::nanoseconds(report.serial_ns()),
                parallel.map_or_else(|| number::NONE.to_owned(), number::multiple),
                number::percent(working),
                number::percent(stalled),
                number::percent(spinning),
                number::percent(system),
                number::percent(idle),
            ];
            (cores.to_string(), figures)
        };
        vec![Table {
            name: "scaling".to_owned(),
            title: format!("`{}` on {}", self.command, self.orders.machine.name),
            mark: Some(Mark::new(Provenance::Emulated, "")),
            front: "cores",
            headings: [
                "time", "faster", "alone", "threads faster", "computes", "waits for lines", "spins",
                "in kernel", "idle",
            ]
            .into(),
            rows: self.points.iter().map(row).collect(),
            below: vec![
                "faster: times as fast as on the fewest cores; alone: before the first thread that the".to_owned(),
                "program makes and after the last one; threads faster: the same of what is between".to_owned(),
            ],
        }]
    }
}
