//! How a program scales on a simulated machine, as it is shown.

use kilocore_emulation_orders::{Orders, Place, Report, Window};
use kilocore_show::{
    About, Across, Generated, Host, Line, Lines, Mark, Parameter, Points, Provenance, Study, Table,
    Unit, described, number,
};
use serde::Serialize;

use crate::cycles::CyclesFrom;
use crate::document::Document;
use crate::notes::Shown;
use crate::row::{self, AFTER_TIME, Row, compared_ns, shares};
use crate::stacks::ON;
use crate::verdict::{Scope, answer};
use crate::words::number_of;
use crate::{Runs, Variant, cause_tables, chain_tables, known, notes, replaced};

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
    /// Whether somebody gave a pipe for the program's input, which it did not get.
    pub pipe_left_out: bool,
    /// The program as it is, and then under each choice of other locks. At least one, all on the same numbers of
    /// cores.
    pub variants: Vec<Variant>,
}

impl Emulated {
    /// Where the time of all runs went by call stack, as lines for tools that draw flame graphs: `main
    /// thread;cores=48;main;work;[computing] 12000`, in ns. Empty if nobody asked for that.
    #[must_use]
    pub fn folded(&self) -> String {
        let of = |row: Row<'_>| {
            let on = format!("{ON}{}{}", row.cores, row.variant.said());
            row.runs.shown().stacks.lines(&on).collect::<String>()
        };
        self.rows().map(of).collect()
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        row::of(&self.variants)
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

    /// How one variant scales.
    fn scaling(&self, variant: &Variant) -> Table {
        let differ = variant.differs();
        let row = |(cores, runs): &(u32, Runs)| {
            let report = &runs.shown().report;
            let shares = shares(*cores, report.end_ns, &report.threads);
            let parallel = variant.parallel_speedup(report);
            let mut figures = vec![number::nanoseconds(report.end_ns)];
            let times = || runs.range(|point| point.report.end_ns);
            figures.extend(differ.then(|| number::durations(&times())));
            figures.extend([
                number::multiple(variant.speedup(report)),
                number::nanoseconds(report.serial_ns()),
                parallel.map_or_else(|| number::NONE.to_owned(), number::multiple),
            ]);
            figures.extend(shares.map(number::percent));
            (cores.to_string(), figures)
        };
        let chance = differ.then_some("by chance");
        let headings = ["time"].into_iter().chain(chance).chain(AFTER_TIME);
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
            headings: headings.collect(),
            rows: variant.points.iter().map(row).collect(),
            below: Vec::new(),
        }
    }

    /// How many times as fast the program is under other locks.
    fn gains(&self) -> Table {
        let of = |variant: &Variant| {
            let rows = self.rows().filter(|row| row.variant.locks == variant.locks);
            let gain = |row: Row<'_>| match row.gain_differs() {
                _ if !row.has_threads() => number::NONE.to_owned(),
                true => number::multiples(&row.gains()),
                false => number::multiple(row.gain()),
            };
            (variant.locks.clone(), rows.map(gain).collect())
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
            below: replaced::none_or_unknown(&self.variants).into_iter().collect(),
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

    fn answer(&self) -> Vec<String> {
        let scope = Scope {
            command: &self.command,
            part: &self.part(),
            cycles_from: self.cycles_from,
            cycles_per_instruction: self.orders.cycles_per_instruction,
        };
        answer(scope, &self.variants)
    }

    fn document(&self) -> impl Serialize {
        Document::of(&self.command, &self.orders, &self.variants, self.answer())
    }

    fn points(&self) -> Points {
        Points::of(Provenance::Emulated, self.rows())
            .each("locks", Unit::Name, |row| row.variant.locks.as_str())
            .each("cores", Unit::Count, |row| row.cores)
            .each("runs", Unit::Count, |row| row.runs.all().len())
            .each("time_ns", Unit::Nanoseconds, |row| row.runs.shown().report.end_ns)
            .each("speedup", Unit::Ratio, Row::speedup)
            .each("speedup_least", Unit::Ratio, |row| *row.speedups().start())
            .each("speedup_most", Unit::Ratio, |row| *row.speedups().end())
            .each("parallel_speedup", Unit::Ratio, Row::parallel_speedup)
            .each("gain", Unit::Ratio, Row::gain)
            .each("gain_least", Unit::Ratio, |row| *row.gains().start())
            .each("gain_most", Unit::Ratio, |row| *row.gains().end())
            .each("known_since", Unit::Name, |row| known::since(row.runs))
            .build()
    }

    fn charts(&self) -> Vec<Lines> {
        let line = |variant: &Variant, name: &str, of: &dyn Fn(&Report) -> Option<f64>| {
            let at =
                |(cores, runs): &(u32, Runs)| Some((f64::from(*cores), of(&runs.shown().report)?));
            let points: Vec<_> = variant.points.iter().filter_map(at).collect();
            let ends = |(_, runs): &(u32, Runs)| {
                let range = runs.range(|point| of(&point.report).unwrap_or(f64::NAN));
                (*range.start(), *range.end())
            };
            let band = variant.differs().then(|| variant.points.iter().map(ends).collect());
            let band: Vec<_> = band.unwrap_or_default();
            let whole = band.len() == points.len() && band.iter().all(|end| end.0.is_finite());
            Line {
                band: if whole { band } else { Vec::new() },
                ..Line::new(name.to_owned(), points)
            }
        };
        let alone = self.variants.len() == 1;
        let own = self.variants.first().and_then(Variant::fewest);
        let against_own = |report: &Report| {
            let own = &own?.shown().report;
            Some(compared_ns(own, report) / compared_ns(report, own))
        };
        let of = |variant: &Variant| match alone {
            true => vec![
                line(variant, "the whole program", &|report| Some(variant.speedup(report))),
                line(variant, "while it has threads", &|report| variant.parallel_speedup(report)),
            ],
            false => vec![line(variant, &variant.locks, &against_own)],
        };
        let lines = self.variants.iter().flat_map(of);
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
            last.below = notes::of(&Shown {
                orders: &self.orders,
                cycles_from: self.cycles_from,
                pipe_left_out: self.pipe_left_out,
                part: &self.part(),
                variants: &self.variants,
            });
        }
        let gains = (self.variants.len() > 1).then(|| self.gains());
        let causes = self.variants.iter().flat_map(|variant| {
            let last = variant.points.last();
            let tables = last.map(|(cores, runs)| {
                let point = runs.shown();
                let on = format!("on {}{}", number_of(*cores, "core"), variant.said());
                let name = variant.name();
                [chain_tables::of(&on, &name, point), cause_tables::of(&on, &name, point)].concat()
            });
            tables.into_iter().flatten()
        });
        gains.into_iter().chain(tables).chain(causes).collect()
    }
}
