//! Charts of the curves of locks against cores.

use kilocore_figures::CurvePoint;

use super::frame::{Frame, Size};
use super::{BAND_ROOM, Chart, Dot, Heading, Series, Tick, around, path, spread_names};
use crate::curve_set::CurveSet;
use crate::drawn::{Drawn, Role};
use crate::number;
use crate::quantity::{Band, Quantity};
use crate::scale::{Growth, Scale};

impl Chart {
    /// Lays out a chart whose axis of cores grows as given.
    pub fn of_curves<P: CurvePoint>(
        id: &'static str,
        set: &CurveSet<'_, P>,
        quantity: &Quantity<P>,
        growth: Growth,
        size: Size,
        heading: Option<Heading>,
    ) -> Self {
        let frame = Frame::of(size, heading.is_some());
        let (x, y) = scales(set, quantity, growth, &frame);
        let axes = Axes { x, y, quantity };
        let mut series: Vec<Series> =
            set.curves.iter().map(|drawn| axes.series(drawn, set)).collect();
        spread_names(&mut series, &frame);
        // What matters is drawn last, on top.
        series.sort_by_key(|s| match s.role {
            Role::Other => 0,
            Role::Today => 1,
            Role::Recommended => 2,
        });
        let label = |at: f64| at.round().to_string();
        let x_ticks = x.core_ticks(frame.x_labels()).into_iter();
        let x_ticks = x_ticks.map(|v| Tick { at: x.place(v), label: label(v) }).collect();
        let y_ticks = y.ticks(frame.y_labels()).into_iter();
        let y_ticks =
            y_ticks.map(|v| Tick { at: y.place(v), label: (quantity.written)(v) }).collect();
        let (reference, reference_label) = axes.linear_scaling(set);
        let written = if quantity.band.is_some() { quantity.written } else { number::per_second };
        let sentence = |drawn: &Drawn<'_, P>| drawn.sentence_in(written);
        let description: Vec<String> = set.curves.iter().map(sentence).collect();
        Self {
            id: id.to_owned(),
            heading,
            description: description.join(" "),
            x_name: "cores".to_owned(),
            y_name: quantity.name.to_owned(),
            by: "lock",
            frame,
            x_ticks,
            y_ticks,
            reference,
            reference_label,
            series,
        }
    }
}

/// The axes that hold all points.
fn scales<P: CurvePoint>(
    set: &CurveSet<'_, P>,
    quantity: &Quantity<P>,
    growth: Growth,
    frame: &Frame,
) -> (Scale, Scale) {
    let points = || set.curves.iter().flat_map(|drawn| &drawn.curve.points);
    let finite = |values: &mut dyn Iterator<Item = f64>| -> Vec<f64> {
        values.filter(|value| value.is_finite()).collect()
    };
    let given = set.given.iter().map(|given| given.throughput);
    let values = finite(&mut points().map(quantity.of).chain(given));
    let highest = values.iter().copied().fold(0.0, f64::max);
    let loud = || set.curves.iter().filter(|drawn| !set.is_quiet(drawn));
    let highs = |band: Band<P>| {
        finite(&mut loud().flat_map(|drawn| &drawn.curve.points).map(|p| band(p).1))
    };
    let bands = quantity.band.map(highs).unwrap_or_default();
    let band = bands.into_iter().fold(highest, f64::max).min(highest * BAND_ROOM);
    let top = (band * 1.04).min(quantity.limit);
    let most = f64::from(set.most_cores());
    let first = if growth == Growth::Linear { 0.0 } else { 1.0 };
    let x = Scale::new(growth, (first, most), frame.across());
    let growth = if growth == Growth::Linear { quantity.growth } else { growth };
    let above_zero = values.into_iter().filter(|&value| value > 0.0);
    let lowest = match growth {
        Growth::Linear => 0.0,
        // Without a figure above zero any will do.
        Growth::Logarithmic => above_zero.reduce(f64::min).unwrap_or(1.0) * 0.8,
    };
    (x, Scale::new(growth, (lowest, top), frame.up()))
}

/// The axes of one chart.
struct Axes<'a, P> {
    x: Scale,
    y: Scale,
    quantity: &'a Quantity<P>,
}

impl<P: CurvePoint> Axes<'_, P> {
    fn place(&self, cores: u32, value: f64) -> (f64, f64) {
        (self.x.place(f64::from(cores)), self.y.place(value))
    }

    fn series(&self, drawn: &Drawn<'_, P>, set: &CurveSet<'_, P>) -> Series {
        let points = &drawn.curve.points;
        let placed = |of: &dyn Fn(&P) -> f64| -> Vec<(f64, f64)> {
            points.iter().map(|p| self.place(p.cores(), of(p))).collect()
        };
        let at = placed(&self.quantity.of);
        let around_line = |band: Band<P>| around(placed(&|p| band(p).1), placed(&|p| band(p).0));
        let band = self.quantity.band.map(around_line).unwrap_or_default();
        let dots = points.iter().zip(&at);
        let of_curve = set.given.iter().filter(|given| given.index == drawn.style.index);
        let measured = of_curve.map(|given| {
            let (x, y) = self.place(given.cores, given.throughput);
            let (lock, written) = (drawn.curve.lock, (self.quantity.written)(given.throughput));
            Dot { x, y, title: format!("{lock} on {} cores\n{written} measured", given.cores) }
        });
        let measured: Vec<Dot> = measured.collect();
        Series {
            lock: drawn.curve.lock.into(),
            role: drawn.role,
            style: drawn.style,
            line: path(&at),
            band,
            dots: dots
                .map(|(p, &(x, y))| Dot { x, y, title: (self.quantity.hover)(drawn, p) })
                .collect(),
            quiet: set.is_quiet(drawn),
            measured,
            shown: drawn.shown,
            name_y: at.last().map_or(0.0, |at| at.1),
        }
    }

    /// Where throughput would be if every core added as much as today's first: from that point
    /// to the edge of the plot.
    fn linear_scaling(&self, set: &CurveSet<'_, P>) -> (String, (f64, f64)) {
        let nothing = (String::new(), (0.0, 0.0));
        let Some(drawn) = set.today().or(set.curves.first()) else { return nothing };
        let Some(first) = drawn.curve.points.first().filter(|_| self.quantity.band.is_some())
        else {
            return nothing;
        };
        let per_core = first.throughput() / f64::from(first.cores());
        // `place` keeps to the plot, so the line must be cut where it leaves it.
        let steps = 4 * set.most_cores();
        let top = self.y.place(f64::INFINITY);
        let mut line = Vec::new();
        for step in 4 * first.cores()..=steps {
            let cores = f64::from(step) / 4.0;
            let at = (self.x.place(cores), self.y.place(per_core * cores));
            line.push(at);
            if at.1 <= top {
                break;
            }
        }
        match (line.first(), line.last()) {
            (Some(&from), Some(&to)) if line.len() > 1 => (path(&[from, to]), to),
            _ => nothing,
        }
    }
}
