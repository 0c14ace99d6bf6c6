//! Line charts against cores, as SVG.
//!
//! A [`Chart`] is laid out here and written by the template `chart.svg`, which serves the page
//! (inside the document, styled by it) and the file (with its own style and heading).

mod of_lines;

use std::fmt::Write;

use askama::Template;

use crate::Mark;
use crate::curve_set::CurveSet;
use crate::drawn::{Banded, Drawn, Role, Style};
use crate::number;
use crate::quantity::Quantity;
use crate::scale::{Growth, Scale};

/// Width and height of a chart and the room around its plot, in SVG's units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Room on the right for the names of the curves; none are written if there is none.
    pub(crate) names: f64,
}

/// The chart that a report opens with.
pub(crate) const LARGE: Size = Size { width: 960.0, height: 440.0, names: 116.0 };
/// Half as wide.
pub(crate) const SMALL: Size = Size { width: 470.0, height: 270.0, names: 14.0 };

/// Room on the left for the labels of the vertical axis.
const LEFT: f64 = 74.0;
/// Room above the plot.
const TOP: f64 = 28.0;
/// Room below the plot.
const BOTTOM: f64 = 46.0;
/// Room that a file needs above for its heading.
const HEADING: f64 = 60.0;
/// The least distance between the names of two curves.
const NAME_HEIGHT: f64 = 15.0;
/// How far above the highest throughput a band may stretch the axis, as a multiple.
const BAND_ROOM: f64 = 1.25;

/// A figure on an axis.
#[derive(Debug)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

/// A point of a curve.
#[derive(Debug)]
pub(crate) struct Dot {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// What hovering over it tells.
    pub(crate) title: String,
}

/// A curve as it is drawn.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) lock: &'static str,
    pub(crate) role: Role,
    pub(crate) style: Style,
    /// The path of its line.
    pub(crate) line: String,
    /// The path around its band; empty if it has none.
    pub(crate) band: String,
    pub(crate) dots: Vec<Dot>,
    /// What was measured, beside the curve.
    pub(crate) measured: Vec<Dot>,
    /// Whether the band shows only when pointed at: among many bands none can be seen.
    pub(crate) quiet: bool,
    /// Where its name stands.
    pub(crate) name_y: f64,
    /// Whether it is shown unless its box is ticked.
    pub(crate) shown: bool,
}

/// Text above the chart in a file of its own.
#[derive(Debug)]
pub(crate) struct Heading {
    pub(crate) title: String,
    pub(crate) mark: Mark,
}

/// A chart, laid out.
#[derive(Debug, Template)]
#[template(path = "chart.svg")]
pub(crate) struct Chart {
    /// Different for each chart of a page.
    id: String,
    /// In a file of its own, the text above it.
    heading: Option<Heading>,
    /// Its figures in sentences.
    description: String,
    x_name: String,
    y_name: String,
    /// What there is a curve of each.
    by: &'static str,
    width: f64,
    height: f64,
    /// The plot inside.
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    /// The line of linear scaling, and where its name stands; the path is empty if there is none.
    reference: String,
    reference_label: (f64, f64),
    names: bool,
    series: Vec<Series>,
}

/// Its own template has escaped it.
impl askama::filters::HtmlSafe for Chart {}

impl Chart {
    /// Lays out a chart whose axis of cores grows as given.
    pub(crate) fn new<P: Banded>(
        id: &'static str,
        set: &CurveSet<'_, P>,
        quantity: &Quantity<P>,
        growth: Growth,
        size: Size,
        heading: Option<Heading>,
    ) -> Self {
        let top = TOP + if heading.is_some() { HEADING } else { 0.0 };
        let height = size.height + top - TOP;
        let (left, right, bottom) = (LEFT, size.width - size.names, height - BOTTOM);
        let (x, y) = scales(set, quantity, growth, (left, right), (bottom, top));
        let axes = Axes { x, y, quantity };
        let mut series: Vec<Series> =
            set.curves.iter().map(|drawn| axes.series(drawn, set)).collect();
        spread_names(&mut series, top, bottom);
        // What matters is drawn last, on top.
        series.sort_by_key(|s| match s.role {
            Role::Other => 0,
            Role::Today => 1,
            Role::Recommended => 2,
        });
        let x_labels = ((right - left) / 55.0) as u32;
        let y_labels = ((bottom - top) / 40.0) as u32;
        let label = |at: f64| at.round().to_string();
        let x_ticks = x.core_ticks(x_labels).into_iter();
        let x_ticks = x_ticks.map(|v| Tick { at: x.place(v), label: label(v) }).collect();
        let y_ticks = y.ticks(y_labels).into_iter();
        let y_ticks =
            y_ticks.map(|v| Tick { at: y.place(v), label: (quantity.written)(v) }).collect();
        let (reference, reference_label) = axes.linear_scaling(set);
        let written = if quantity.throughput { quantity.written } else { number::per_second };
        let sentence = |drawn: &Drawn<'_, P>| drawn.sentence_in(written);
        let description: Vec<String> = set.curves.iter().map(sentence).collect();
        Self {
            id: id.to_owned(),
            heading,
            description: description.join(" "),
            x_name: "cores".to_owned(),
            y_name: quantity.name.to_owned(),
            by: "lock",
            width: size.width,
            height,
            left,
            right,
            top,
            bottom,
            x_ticks,
            y_ticks,
            reference,
            reference_label,
            names: size.names > NAME_HEIGHT,
            series,
        }
    }
}

/// The axes that hold all points.
fn scales<P: Banded>(
    set: &CurveSet<'_, P>,
    quantity: &Quantity<P>,
    growth: Growth,
    across: (f64, f64),
    up: (f64, f64),
) -> (Scale, Scale) {
    let points = || set.curves.iter().flat_map(|drawn| &drawn.curve.points);
    let finite = |values: &mut dyn Iterator<Item = f64>| -> Vec<f64> {
        values.filter(|value| value.is_finite()).collect()
    };
    let given = set.given.iter().map(|given| given.throughput);
    let values = finite(&mut points().map(quantity.of).chain(given));
    let highest = values.iter().copied().fold(0.0, f64::max);
    let loud = set.curves.iter().filter(|drawn| quantity.throughput && !set.is_quiet(drawn));
    let bands = finite(&mut loud.flat_map(|drawn| &drawn.curve.points).map(|p| p.band().1));
    let band = bands.into_iter().fold(highest, f64::max).min(highest * BAND_ROOM);
    let top = (band * 1.04).min(quantity.limit);
    let most = f64::from(set.most_cores());
    let first = if growth == Growth::Linear { 0.0 } else { 1.0 };
    let x = Scale::new(growth, (first, most), across);
    let growth = if growth == Growth::Linear { quantity.growth } else { growth };
    let above_zero = values.into_iter().filter(|&value| value > 0.0);
    let lowest = match growth {
        Growth::Linear => 0.0,
        // Without a figure above zero any will do.
        Growth::Logarithmic => above_zero.reduce(f64::min).unwrap_or(1.0) * 0.8,
    };
    (x, Scale::new(growth, (lowest, top), up))
}

/// The axes of one chart.
struct Axes<'a, P> {
    x: Scale,
    y: Scale,
    quantity: &'a Quantity<P>,
}

impl<P: Banded> Axes<'_, P> {
    fn place(&self, cores: u32, value: f64) -> (f64, f64) {
        (self.x.place(f64::from(cores)), self.y.place(value))
    }

    fn series(&self, drawn: &Drawn<'_, P>, set: &CurveSet<'_, P>) -> Series {
        let points = &drawn.curve.points;
        let placed = |of: &dyn Fn(&P) -> f64| -> Vec<(f64, f64)> {
            points.iter().map(|p| self.place(p.cores(), of(p))).collect()
        };
        let at = placed(&self.quantity.of);
        let band = if self.quantity.throughput && points.len() > 1 {
            let mut around = placed(&|p| p.band().1);
            around.extend(placed(&|p| p.band().0).into_iter().rev());
            path(&around) + "Z"
        } else {
            String::new()
        };
        let dots = points.iter().zip(&at);
        let of_curve = set.given.iter().filter(|given| given.index == drawn.style.index);
        let measured = of_curve.map(|given| {
            let (x, y) = self.place(given.cores, given.throughput);
            let (lock, written) = (drawn.curve.lock, (self.quantity.written)(given.throughput));
            Dot { x, y, title: format!("{lock} on {} cores\n{written} measured", given.cores) }
        });
        let measured: Vec<Dot> = measured.collect();
        Series {
            lock: drawn.curve.lock,
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
        let Some(first) = drawn.curve.points.first().filter(|_| self.quantity.throughput) else {
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

/// The path through some places.
fn path(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in places.iter().enumerate() {
        _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
    }
    path
}

/// Moves names apart that would stand on each other, inside the plot if there is room.
fn spread_names(series: &mut [Series], top: f64, bottom: f64) {
    // Those that are hidden at first take no room from the others.
    let mut by_height: Vec<&mut Series> = series.iter_mut().filter(|s| s.shown).collect();
    by_height.sort_by(|a, b| a.name_y.total_cmp(&b.name_y));
    let mut least = top;
    for series in &mut by_height {
        series.name_y = series.name_y.max(least);
        least = series.name_y + NAME_HEIGHT;
    }
    let mut most = bottom;
    for series in by_height.iter_mut().rev() {
        series.name_y = series.name_y.min(most);
        most = series.name_y - NAME_HEIGHT;
    }
}

#[cfg(test)]
mod tests {
    use super::{NAME_HEIGHT, Series, path, spread_names};
    use crate::drawn::{Role, Style};

    fn named(name_y: f64) -> Series {
        let style = Style::of(0);
        let (line, band) = (String::new(), String::new());
        let (dots, measured, quiet) = (Vec::new(), Vec::new(), false);
        let (role, shown) = (Role::Other, true);
        Series { lock: "test", role, style, line, band, dots, measured, quiet, name_y, shown }
    }

    #[test]
    fn names_that_would_collide_are_moved_apart() {
        let mut series = [named(100.0), named(101.0), named(198.0), named(199.0)];
        spread_names(&mut series, 0.0, 200.0);
        let mut heights = series.map(|s| s.name_y);
        heights.sort_by(f64::total_cmp);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= NAME_HEIGHT - 1e-9));
        assert!(heights[3] <= 200.0);
    }

    #[test]
    fn a_path_starts_with_a_move() {
        assert_eq!(path(&[(0.0, 1.0), (2.25, 3.0)]), "M0.0 1.0L2.2 3.0");
    }
}
