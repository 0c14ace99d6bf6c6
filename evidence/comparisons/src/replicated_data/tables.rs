//! The tables of `docs/evidence/replicated.md`.

use std::fmt::Write;

use crate::command;
use crate::replicated_data::measured::{
    Shared, Visitor, read, read_beside_updates, update, update_beside_reads, visit_all,
};
use crate::replicated_data::simulated::{Outcome, Subject, Work, simulate};
use crate::rounds::{Figures, table};
use kilocore_machine::Description;
use kilocore_platform::Cycles;
use kilocore_show::Table;

/// How much is measured and simulated.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    rounds: usize,
    reads: u64,
    /// For how long simulated cores read.
    simulated: Cycles,
}

impl From<command::Effort> for Effort {
    fn from(effort: command::Effort) -> Self {
        match effort {
            command::Effort::Full => {
                Self { rounds: 15, reads: 1_000_000, simulated: Cycles(2_000_000) }
            }
            command::Effort::Quick => {
                Self { rounds: 3, reads: 100_000, simulated: Cycles(300_000) }
            }
        }
    }
}

/// Machines, and how many of their cores read.
const MACHINES: [(&str, &[u32]); 2] =
    [("xeon-e7-8870v2-8s", &[1, 8, 15, 64, 120]), ("opteron-8356-8s", &[1, 4, 8, 32])];

/// What is simulated, and what the tables say of it.
fn works(duration: Cycles) -> [(&'static str, Work); 4] {
    let small = Work { entries: 64, looks: 4, duration, update_every: None };
    let updated = |every| Work { update_every: Some(Cycles(every)), ..small };
    [
        ("four of 64 lines, nobody updates", small),
        ("four of 64 lines, one is updated every 100,000 cycles", updated(100_000)),
        ("four of 64 lines, one is updated every 10,000 cycles", updated(10_000)),
        ("four of 200,000 lines, nobody updates", Work { entries: 200_000, ..small }),
    ]
}

/// Simulates reads on machines with many nodes, and returns what they and updates cost, as
/// Markdown.
pub fn simulated(effort: Effort) -> Result<String, String> {
    let mut text = String::new();
    for (name, cores) in MACHINES {
        let machine = kilocore_machine::find(name).map_err(|e| e.to_string())?;
        let _ = writeln!(text, "### Simulated: {}\n", machine.title);
        for (what, work) in works(effort.simulated) {
            let outcomes = all_subjects(&machine, cores, work)?;
            let reads = |outcome: &Outcome| Some(outcome.read);
            cycles(&mut text, &format!("a read of {what}"), cores, &outcomes, reads);
            if work.update_every.is_some() {
                let title = format!("an update ({what})");
                cycles(&mut text, &title, cores, &outcomes, |outcome| outcome.update);
            }
        }
    }
    Ok(text)
}

/// For each subject, and each number of cores.
fn all_subjects(
    machine: &Description,
    cores: &[u32],
    work: Work,
) -> Result<Vec<Vec<Outcome>>, String> {
    let one = |subject, cores: u32| {
        let failed = |e| format!("{}, {cores} cores: {e}", machine.name);
        simulate(subject, machine, cores, work).map_err(failed)
    };
    let all = |subject| cores.iter().map(|&cores| one(subject, cores)).collect();
    Subject::ALL.into_iter().map(all).collect()
}

/// Writes a table of cycles.
fn cycles(
    text: &mut String,
    title: &str,
    cores: &[u32],
    outcomes: &[Vec<Outcome>],
    figure: impl Fn(&Outcome) -> Option<f64>,
) {
    let cell = |outcome: &Outcome| match figure(outcome) {
        Some(cycles) => format!("{cycles:.0}"),
        None => "–".to_owned(),
    };
    let row = |(subject, outcomes): (&Subject, &Vec<Outcome>)| {
        (subject.name().to_owned(), outcomes.iter().map(cell).collect())
    };
    let table = Table {
        front: "cores",
        headings: cores.iter().map(u32::to_string).collect(),
        rows: Subject::ALL.iter().zip(outcomes).map(row).collect(),
        ..Table::default()
    };
    let _ = writeln!(text, "**Simulated, cycles: {title}.**\n\n{}", table.markdown());
}

/// A table to measure: what it says, and how many numbers are shared.
struct Measurement {
    title: String,
    numbers: usize,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Read { threads: u64 },
    ReadBesideUpdates,
    Update,
    UpdateBesideReads,
}

impl Kind {
    fn measure(self, shared: &impl Shared, numbers: usize, effort: Effort) -> f64 {
        // A large table takes about a nanosecond a number to clone.
        let updates = (effort.reads / (10 + numbers as u64 / 20)).max(20);
        match self {
            Self::Read { threads } => read(shared, threads, effort.reads),
            Self::ReadBesideUpdates => read_beside_updates(shared, effort.reads),
            Self::Update => update(shared, updates),
            Self::UpdateBesideReads => update_beside_reads(shared, updates),
        }
    }
}

/// Measures all subjects once, and adds the figures to those of earlier rounds.
struct Round<'a> {
    measurement: &'a Measurement,
    effort: Effort,
    names: &'a mut Vec<&'static str>,
    figures: &'a mut Vec<Figures>,
    subject: usize,
}

impl Visitor for Round<'_> {
    fn visit(&mut self, name: &'static str, shared: &impl Shared) {
        let Measurement { numbers, kind, .. } = self.measurement;
        let nanos = kind.measure(shared, *numbers, self.effort);
        if self.figures.len() == self.subject {
            self.names.push(name);
            self.figures.push(Figures::default());
        }
        self.figures[self.subject].0.push(nanos);
        self.subject += 1;
    }
}

fn measurements() -> Vec<Measurement> {
    const SMALL: usize = 16;
    const LARGE: usize = 100_000;
    let measurement =
        |title: &str, numbers, kind| Measurement { title: title.to_owned(), numbers, kind };
    vec![
        measurement("a read, one thread", SMALL, Kind::Read { threads: 1 }),
        measurement("a read, two threads", SMALL, Kind::Read { threads: 2 }),
        measurement(
            "a read, while another thread updates every fifty microseconds",
            SMALL,
            Kind::ReadBesideUpdates,
        ),
        measurement("an update of 16 numbers, nobody reads", SMALL, Kind::Update),
        measurement(
            "an update of 16 numbers, another thread reads all the time",
            SMALL,
            Kind::UpdateBesideReads,
        ),
        measurement("an update of two of 100,000 numbers, nobody reads", LARGE, Kind::Update),
    ]
}

/// Measures reads and updates on this machine, and returns what they cost, as Markdown.
pub fn measured(effort: Effort) -> String {
    let measurements = measurements();
    let mut results: Vec<(Vec<&'static str>, Vec<Figures>)> = Vec::new();
    results.resize_with(measurements.len(), Default::default);
    for _ in 0..effort.rounds {
        for (measurement, (names, figures)) in measurements.iter().zip(&mut results) {
            let mut round = Round { measurement, effort, names, figures, subject: 0 };
            visit_all(measurement.numbers, &mut round);
        }
    }
    let mut text = String::new();
    for (Measurement { title, .. }, (names, figures)) in measurements.iter().zip(&results) {
        let _ = writeln!(text, "**Measured, ns: {title}.**\n");
        let _ = writeln!(text, "{}", table(names, figures, "to `Replicated`"));
    }
    text
}
