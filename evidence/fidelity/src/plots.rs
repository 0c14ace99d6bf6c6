//! Plots of published dots against forecast bands: one file for a program, one panel for a lock.

use std::fmt::Write;

use askama::Template;
use kilocore_show::scale::{Growth, Scale};
use kilocore_show::{Mark, Provenance, number};

use crate::run::{Answer, Compared, Curve};
use crate::split::Setting;
use crate::summary::Group;

/// Programs of each machine that are plotted.
const OF_EACH_MACHINE: usize = 4;

/// The programs that are plotted: in setting A, on each machine those whose locks differ most at
/// all nodes, among the strongly sensitive ones that have a forecast.
#[must_use]
pub fn selection(answers: &[Answer]) -> Vec<&Answer> {
    let fits =
        |a: &&Answer| a.setting == Setting::A && a.refused.is_none() && Group::Strongly.has(a);
    let mut candidates: Vec<&Answer> = answers.iter().filter(fits).collect();
    candidates.sort_by(|a, b| {
        (a.machine.name.cmp(b.machine.name))
            .then(b.spread.total_cmp(&a.spread))
            .then_with(|| a.program.cmp(&b.program))
    });
    let mut selected: Vec<&Answer> = Vec::new();
    for candidate in candidates {
        let here = selected.iter().filter(|a| a.machine.name == candidate.machine.name).count();
        if here < OF_EACH_MACHINE {
            selected.push(candidate);
        }
    }
    selected
}

/// The file of a plot.
#[must_use]
pub fn file_name(answer: &Answer) -> String {
    format!("{}-{}.svg", answer.machine.name, answer.program)
}

/// Panels beside each other.
const COLUMNS: usize = 4;
/// Width of a panel with its margin.
const WIDTH: f64 = 245.0;
/// Height of a panel with its margin.
const HEIGHT: f64 = 175.0;
/// Room for the heading.
const HEADING: f64 = 62.0;
/// Room left of a panel for figures.
const LEFT: f64 = 46.0;
/// Room above a panel for its name.
const ABOVE: f64 = 24.0;
/// Room below a panel for figures.
const BELOW: f64 = 24.0;
/// How far above the highest throughput a band may stretch the axis, as a multiple.
const BAND_ROOM: f64 = 1.25;

#[derive(Debug)]
struct Tick {
    at: f64,
    label: String,
}

#[derive(Debug)]
struct Dot {
    x: f64,
    y: f64,
    low: f64,
    high: f64,
    held: bool,
    title: String,
}

#[derive(Debug)]
struct Panel {
    x: f64,
    y: f64,
    title: String,
    band: String,
    line: String,
    dots: Vec<Dot>,
}

#[derive(Debug, Template)]
#[template(path = "plot.svg")]
struct Plot {
    width: f64,
    height: f64,
    title: String,
    marks: String,
    /// The plot inside of each panel.
    right: f64,
    bottom: f64,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    panels: Vec<Panel>,
}

/// The plot of an answer as SVG.
///
/// # Errors
/// What the template says.
pub fn svg(answer: &Answer, seed: u64) -> Result<String, askama::Error> {
    let unit = unit(answer);
    let (right, bottom) = (WIDTH - LEFT - 14.0, HEIGHT - ABOVE - BELOW);
    let points = || answer.curves.iter().flat_map(|c| &c.points);
    let most = points().map(|p| f64::from(p.cores)).fold(0.0, f64::max);
    let highest = points()
        .map(|p| p.forecast.throughput.max(p.observed.q3).max(p.observed.throughput))
        .fold(0.0, f64::max);
    let band = points().map(|p| p.forecast.high).fold(highest, f64::max);
    let top = band.min(highest * BAND_ROOM) / unit;
    let x = Scale::new(Growth::Linear, (0.0, most), (0.0, right));
    let y = Scale::new(Growth::Linear, (0.0, top), (bottom, 0.0));
    let axes = Axes { x, y, unit };
    let cores = points().map(|p| p.cores).collect::<std::collections::BTreeSet<_>>();
    let x_tick = |c: u32| Tick { at: x.place(f64::from(c)), label: c.to_string() };
    let y_tick = |v: f64| Tick { at: y.place(v), label: number::plain(v) };
    let rows = answer.curves.len().div_ceil(COLUMNS);
    let plot = Plot {
        width: WIDTH * COLUMNS as f64 + 10.0,
        height: HEADING + HEIGHT * rows as f64,
        title: format!(
            "{} on {}, setting {}: throughput against cores ({} on one node = 1)",
            answer.program,
            answer.machine.name,
            answer.setting.name(),
            answer.given.first().map_or("the first lock", String::as_str)
        ),
        marks: format!(
            "dots {}; lines and bands {}",
            Mark::new(Provenance::Published, "medians and quartiles (hollow: given)").plain(),
            Mark::simulated(answer.machine.description, seed).plain()
        ),
        right,
        bottom,
        x_ticks: cores.into_iter().map(x_tick).collect(),
        y_ticks: y.ticks(4).into_iter().map(y_tick).collect(),
        panels: answer.curves.iter().enumerate().map(|(i, c)| axes.panel(i, c)).collect(),
    };
    plot.render()
}

/// What is 1 on the axis: the first given lock on one node.
fn unit(answer: &Answer) -> f64 {
    let first = answer.curves.iter().find(|c| answer.given.first() == Some(&c.alias));
    let one = first.and_then(|c| c.points.first());
    one.map_or(1.0, |p| p.observed.throughput)
}

struct Axes {
    x: Scale,
    y: Scale,
    unit: f64,
}

impl Axes {
    fn place(&self, point: &Compared, throughput: f64) -> (f64, f64) {
        (self.x.place(f64::from(point.cores)), self.y.place(throughput / self.unit))
    }

    fn panel(&self, index: usize, curve: &Curve) -> Panel {
        let (column, row) = (index % COLUMNS, index / COLUMNS);
        let along = |of: &dyn Fn(&Compared) -> f64| -> Vec<(f64, f64)> {
            curve.points.iter().map(|p| self.place(p, of(p))).collect()
        };
        let mut around = along(&|p| p.forecast.high);
        around.extend(along(&|p| p.forecast.low).into_iter().rev());
        Panel {
            x: LEFT + WIDTH * column as f64,
            y: HEADING + ABOVE + HEIGHT * row as f64,
            title: if curve.alias == curve.lock.name() {
                curve.alias.clone()
            } else {
                format!("{} ({})", curve.alias, curve.lock)
            },
            band: path(&around) + "Z",
            line: path(&along(&|p| p.forecast.throughput)),
            dots: curve.points.iter().map(|p| self.dot(p)).collect(),
        }
    }

    fn dot(&self, point: &Compared) -> Dot {
        let observed = &point.observed;
        let (x, y) = self.place(point, observed.throughput);
        let share = |throughput: f64| number::plain(throughput / self.unit);
        Dot {
            x,
            y,
            low: self.place(point, observed.q1).1,
            high: self.place(point, observed.q3).1,
            held: point.held,
            title: format!(
                "{} cores: published {}, simulated {} ({} to {})",
                point.cores,
                share(observed.throughput),
                share(point.forecast.throughput),
                share(point.forecast.low),
                share(point.forecast.high)
            ),
        }
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        write!(path, "{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" })
            .expect("a string takes all");
    }
    path
}
