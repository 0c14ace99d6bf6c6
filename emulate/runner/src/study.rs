//! How a program scales on a simulated machine, as it is shown.

use kilocore_emulation_orders::{Counts, Orders, Place, Report, Seen, Span, ThreadTimes, Window};
use kilocore_show::{
    About, Across, Generated, Host, Line, Lines, Mark, Parameter, Points, Provenance, Study, Table,
    Unit, described, number,
};
use serde::Serialize;

use crate::{Causes, Point, cause_tables, chain_tables, known};

/// Runs of a program on several numbers of cores of a machine.
#[derive(Debug, Clone)]
pub struct Emulated {
    /// By whom, how and when.
    pub generated: Generated,
    /// The program, as somebody would type it.
    pub command: String,
    /// What was asked for, but for the number of cores.
    pub orders: Orders,
    /// How it is known how many cycles an instruction takes.
    pub cycles_from: CyclesFrom,
    /// The program as it is, and then under each choice of other locks. At least one, all on the same numbers of
    /// cores.
    pub variants: Vec<Variant>,
}

/// How it is known how many cycles an instruction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CyclesFrom {
    /// It is the same for all programs.
    Estimated,
    /// Somebody said so.
    Given,
    /// From the time of the program on a core of this host.
    Measured,
}

impl CyclesFrom {
    fn words(self) -> &'static str {
        match self {
            Self::Estimated => "estimated, the same for all programs",
            Self::Given => "given",
            Self::Measured => "measured, of this program on one core of this host",
        }
    }
}

/// A program with its own locks or under others.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The locks: [`OWN`](Self::OWN), or names such as `mcs` or `mcs, phase-fair`.
    pub locks: String,
    /// The runs, by number of cores, fewest first. At least one.
    pub points: Vec<(u32, Point)>,
}

impl Variant {
    /// The name of a program's own locks.
    pub const OWN: &str = "own";

    /// Its name among tables.
    fn name(&self) -> String {
        self.locks.replace(", ", "-")
    }

    /// How it is said in a sentence's place.
    fn said(&self) -> String {
        if self.locks == Self::OWN { String::new() } else { format!(" under {}", self.locks) }
    }

    /// How many times as fast as on the fewest cores a run is.
    fn speedup(&self, report: &Report) -> f64 {
        self.points.first().map_or(1.0, |(_, first)| first.report.end_ns / report.end_ns)
    }

    /// The same of the part with threads of its own, where both runs have one.
    fn parallel_speedup(&self, report: &Report) -> Option<f64> {
        let first = self.points.first()?.1.report.parallel?;
        Some(first.ns() / report.parallel?.ns()).filter(|ratio| ratio.is_finite())
    }
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
    interleaved: bool,
    warm_from: Option<String>,
    from: Option<String>,
    until: Option<String>,
    points: Vec<DocumentPoint<'a>>,
}

#[derive(Debug, Serialize)]
struct DocumentPoint<'a> {
    locks: &'a str,
    cores: u32,
    speedup: f64,
    parallel_speedup: Option<f64>,
    gain: f64,
    status: i32,
    host_seconds: f64,
    known_since: Option<String>,
    for_once: Option<&'a str>,
    detailed_from_ns: Option<f64>,
    from_ns: Option<f64>,
    end_ns: f64,
    parallel: Option<Span>,
    threads: &'a [ThreadTimes],
    counts: Counts,
    #[serde(flatten)]
    causes: &'a Causes,
}

/// What stands in the place of a status where a signal ended the program.
const BY_SIGNAL: i32 = -1;

/// A run, and what it is held against.
struct Row<'a> {
    variant: &'a Variant,
    cores: u32,
    point: &'a Point,
    /// How many times as fast as the program as it is, on as many cores.
    gain: f64,
}

/// The time that a variant takes as others see it beside another one: while it has threads, if both have some. To load
/// the library with the locks takes longer than a short run does.
fn compared_ns(report: &Report, other: &Report) -> f64 {
    match (report.parallel, other.parallel) {
        (Some(parallel), Some(_)) => parallel.ns(),
        _ => report.end_ns,
    }
}

impl Emulated {
    /// Where the time of all runs went by call stack, as lines for tools that draw flame graphs: `main
    /// thread;cores=48;main;work;[computing] 12000`, in ns. Empty if nobody asked for that.
    #[must_use]
    pub fn folded(&self) -> String {
        let of = |row: Row<'_>| {
            let on = format!("cores={}{}", row.cores, row.variant.said());
            row.point.stacks.lines(&on).collect::<String>()
        };
        self.rows().map(of).collect()
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let own = self.variants.first();
        self.variants.iter().flat_map(move |variant| {
            let own = own.map_or(&[][..], |own| &own.points);
            variant.points.iter().zip(own).map(move |((cores, point), (_, own))| Row {
                variant,
                cores: *cores,
                point,
                gain: compared_ns(&own.report, &point.report)
                    / compared_ns(&point.report, &own.report),
            })
        })
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

    /// How the part is said that was asked for, in a title's place.
    fn part(&self) -> String {
        let Window { from, until, .. } = &self.orders.window;
        let said = |word, place: &Option<Place>| {
            place.as_ref().map_or_else(String::new, |place| format!(" {word} {place}"))
        };
        match self.orders.window.is_whole() {
            true => String::new(),
            false => said("from", from) + &said("until", until),
        }
    }

    /// Whether loads and stores were not simulated up to where the part begins.
    fn begins_cold(&self) -> bool {
        let mut all = self.variants.iter().flat_map(|variant| &variant.points);
        let is_cold = |seen: Seen| seen.from_ns > Some(0.0) && seen.detailed_ns == seen.from_ns;
        all.any(|(_, point)| point.report.seen.is_some_and(is_cold))
    }

    /// How one variant scales.
    fn scaling(&self, variant: &Variant) -> Table {
        let row = |(cores, point): &(u32, Point)| {
            let report = &point.report;
            let [working, stalled, spinning, system, idle] = Self::shares(*cores, report);
            let parallel = variant.parallel_speedup(report);
            let figures = vec![
                number::nanoseconds(report.end_ns),
                number::multiple(variant.speedup(report)),
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
        Table {
            name: format!("scaling-{}", variant.name()),
            title: format!(
                "`{}`{}{} on {}",
                self.command,
                self.part(),
                variant.said(),
                self.orders.machine.name
            ),
            mark: Some(Mark::new(Provenance::Emulated, "")),
            front: "cores",
            headings: [
                "time",
                "faster",
                "alone",
                "threads faster",
                "computes",
                "waits for lines",
                "spins",
                "in kernel",
                "idle",
            ]
            .into(),
            rows: variant.points.iter().map(row).collect(),
            below: Vec::new(),
        }
    }

    /// How many times as fast the program is under other locks.
    fn gains(&self) -> Table {
        let of = |variant: &Variant| {
            let rows = self.rows().filter(|row| row.variant.locks == variant.locks);
            (variant.locks.clone(), rows.map(|row| number::multiple(row.gain)).collect())
        };
        let cores = self.variants.iter().take(1).flat_map(|own| &own.points);
        Table {
            name: "gains".to_owned(),
            title: "Times as fast as with its own locks while it has threads, by number of cores"
                .to_owned(),
            mark: Some(Mark::new(Provenance::Emulated, "")),
            front: "locks",
            headings: cores.map(|(cores, _)| cores.to_string()).collect(),
            rows: self.variants.iter().skip(1).map(of).collect(),
            below: Vec::new(),
        }
    }
}

impl Study for Emulated {
    fn about(&self) -> About {
        let Orders { seed, disorder, cycles_per_instruction, interleaved, window, .. } =
            &self.orders;
        let pages =
            if *interleaved { "on all nodes in turn" } else { "where they are touched first" };
        let places = [
            ("loads and stores are simulated from", &window.warm),
            ("figures are from", &window.from),
            ("figures are until", &window.until),
        ];
        let places = places.into_iter().filter_map(|(name, place)| {
            Some(Parameter::new(name, place.as_ref()?.to_string(), "given"))
        });
        let parameters = vec![
            Parameter::new("seed", seed.to_string(), "given"),
            Parameter::new("a thread runs ahead by at most", format!("{disorder} cycles"), "given"),
            Parameter::new("pages lie", pages.to_owned(), "given"),
            Parameter::new(
                "an instruction takes",
                format!("{cycles_per_instruction} cycles"),
                self.cycles_from.words(),
            ),
        ];
        About {
            generated: self.generated.clone(),
            kind: "A program, emulated",
            title: format!("How `{}` scales", self.command),
            host: Host::Machine(described(&self.orders.machine)),
            parameters: parameters.into_iter().chain(places).collect(),
        }
    }

    fn document(&self) -> impl Serialize {
        let window = &self.orders.window;
        Document {
            provenance: Provenance::Emulated,
            command: &self.command,
            machine: &self.orders.machine.name,
            seed: self.orders.seed,
            disorder_cycles: self.orders.disorder,
            cycles_per_instruction: self.orders.cycles_per_instruction,
            interleaved: self.orders.interleaved,
            warm_from: window.warm.as_ref().map(Place::to_string),
            from: window.from.as_ref().map(Place::to_string),
            until: window.until.as_ref().map(Place::to_string),
            points: self
                .rows()
                .map(|row| DocumentPoint {
                    locks: &row.variant.locks,
                    cores: row.cores,
                    speedup: row.variant.speedup(&row.point.report),
                    parallel_speedup: row.variant.parallel_speedup(&row.point.report),
                    gain: row.gain,
                    status: row.point.status.code().unwrap_or(BY_SIGNAL),
                    host_seconds: row.point.took.as_secs_f64(),
                    known_since: known::since(row.point),
                    for_once: row.point.for_once.as_deref(),
                    detailed_from_ns: row.point.report.seen.and_then(|seen| seen.detailed_ns),
                    from_ns: row.point.report.seen.and_then(|seen| seen.from_ns),
                    end_ns: row.point.report.end_ns,
                    parallel: row.point.report.parallel,
                    threads: &row.point.report.threads,
                    counts: row.point.report.counts,
                    causes: &row.point.causes,
                })
                .collect(),
        }
    }

    fn points(&self) -> Points {
        Points::of(Provenance::Emulated, self.rows())
            .each("locks", Unit::Name, |row| row.variant.locks.as_str())
            .each("cores", Unit::Count, |row| row.cores)
            .each("time_ns", Unit::Nanoseconds, |row| row.point.report.end_ns)
            .each("speedup", Unit::Ratio, |row| row.variant.speedup(&row.point.report))
            .each("parallel_speedup", Unit::Ratio, |row| {
                row.variant.parallel_speedup(&row.point.report)
            })
            .each("gain", Unit::Ratio, |row| row.gain)
            .each("known_since", Unit::Name, |row| known::since(row.point))
            .build()
    }

    fn charts(&self) -> Vec<Lines> {
        let line = |variant: &Variant, name: String, of: &dyn Fn(&Report) -> Option<f64>| {
            let at = |(cores, point): &(u32, Point)| Some((f64::from(*cores), of(&point.report)?));
            Line::new(name, variant.points.iter().filter_map(at).collect())
        };
        let alone = self.variants.len() == 1;
        let fewest = self.variants.iter().take(1).flat_map(|own| own.points.first()).next();
        let own = fewest.map(|(_, first)| &first.report);
        let against_own = |report: &Report| {
            let own = own?;
            Some(compared_ns(own, report) / compared_ns(report, own))
        };
        let of = |variant: &Variant| {
            let name = if alone { "the whole program".to_owned() } else { variant.locks.clone() };
            let whole = match alone {
                true => line(variant, name, &|report| Some(variant.speedup(report))),
                false => line(variant, name, &against_own),
            };
            let name = "while it has threads".to_owned();
            let parallel =
                alone.then(|| line(variant, name, &|report| variant.parallel_speedup(report)));
            [Some(whole), parallel]
        };
        let lines = self.variants.iter().flat_map(of).flatten();
        vec![Lines {
            title: match alone {
                true => "Times as fast as on the fewest cores".to_owned(),
                false => "Times as fast as with its own locks on the fewest cores".to_owned(),
            },
            mark: Mark::new(Provenance::Emulated, ""),
            across: Across::Cores,
            up: "times as fast".to_owned(),
            by: if alone { "part" } else { "locks" },
            linear: None,
            small: false,
            lines: lines.filter(|line| !line.points.is_empty()).collect(),
        }]
    }

    fn tables(&self) -> Vec<Table> {
        let mut tables: Vec<Table> = self.variants.iter().map(|of| self.scaling(of)).collect();
        if let Some(last) = tables.last_mut() {
            last.below = vec![
                "faster: times as fast as on the fewest cores; alone: before the first thread that the".to_owned(),
                "program makes and after the last one; threads faster: the same of what is between".to_owned(),
            ];
            let shown = self.rows().map(|row| (row.variant.said(), row.cores, row.point));
            last.below.extend(known::lines(&shown.collect::<Vec<_>>()));
            if !self.orders.window.is_whole() {
                last.below.push(format!("All of it is about the part{} only.", self.part()));
            }
            if self.begins_cold() {
                last.below.push(
                    "Caches are empty where it begins: loads and stores were not simulated before."
                        .to_owned(),
                );
            }
        }
        let gains = (self.variants.len() > 1).then(|| self.gains());
        let causes = self.variants.iter().flat_map(|variant| {
            let last = variant.points.last();
            let tables = last.map(|(cores, point)| {
                let on = format!("on {cores} cores{}", variant.said());
                let name = variant.name();
                [chain_tables::of(&on, &name, point), cause_tables::of(&on, &name, point)].concat()
            });
            tables.into_iter().flatten()
        });
        gains.into_iter().chain(tables).chain(causes).collect()
    }
}
