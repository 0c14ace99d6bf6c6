//! Charts of lines that are no forecasts of locks.

use super::frame::{Frame, LARGE, SMALL_WITH_NAMES};
use super::{BAND_ROOM, Chart, Dot, Heading, Series, Tick, around, path, spread_names};
use crate::drawn::{Role, Style};
use crate::lines::{Across, Line, Lines};
use crate::number;
use crate::scale::{Growth, Scale};

impl Chart {
    /// Lays out lines that are no forecasts, with a heading.
    pub(crate) fn of_lines(lines: &Lines, id: String) -> Self {
        let frame = Frame::of(if lines.small { SMALL_WITH_NAMES } else { LARGE }, true);
        let (x, y) = line_scales(lines, &frame);
        let drawn = |(index, line): (usize, &Line)| line_series(lines, line, index, &x, &y);
        let mut series: Vec<Series> = lines.lines.iter().enumerate().map(drawn).collect();
        spread_names(&mut series, &frame);
        let x_ticks = match lines.across {
            Across::Cores | Across::Threads => x.core_ticks(frame.x_labels()),
            Across::Percent(_) | Across::Ratios(_) | Across::Numbers(_) => {
                x.ticks(frame.x_labels())
            }
        };
        let across = |value: f64| match lines.across {
            Across::Ratios(_) if value >= 1.0 => number::count(value.round() as u64),
            _ => number::plain(value),
        };
        let x_tick = |value: f64| Tick { at: x.place(value), label: across(value) };
        let y_ticks = y.ticks(frame.y_labels());
        let greatest = y_ticks.iter().copied().fold(0.0, f64::max);
        // Multiples are compared with numbers of cores, which have no prefixes, and nobody writes 0.8 with one.
        let written = |value: f64| match lines.linear {
            None if !(0.01..1e3).contains(&greatest) => number::engineering(value, ""),
            _ => number::plain(value),
        };
        let y_tick = |value: f64| Tick { at: y.place(value), label: written(value) };
        let (reference, reference_label) = linear(lines, &x, &y);
        Self {
            id,
            heading: Some(Heading { title: lines.title.clone(), mark: lines.mark.clone() }),
            description: lines.in_words(),
            x_name: lines.across.name(),
            y_name: lines.up.clone(),
            by: lines.by,
            frame,
            x_ticks: x_ticks.into_iter().map(x_tick).collect(),
            y_ticks: y_ticks.into_iter().map(y_tick).collect(),
            reference,
            reference_label,
            series,
        }
    }
}

/// The axes that hold all points of lines, and of their bands what is not far above.
fn line_scales(lines: &Lines, frame: &Frame) -> (Scale, Scale) {
    let points = || lines.lines.iter().flat_map(|line| &line.points);
    let (first, last) = points()
        .map(|point| point.0)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let (growth, first) = match lines.across {
        Across::Cores | Across::Threads => (Growth::Linear, 0.0),
        Across::Percent(_) | Across::Numbers(_) => (Growth::Linear, first),
        Across::Ratios(_) => (Growth::Logarithmic, first),
    };
    let highest = points().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let bands = lines.lines.iter().flat_map(|line| &line.band).map(|band| band.1);
    let top = bands.fold(highest, f64::max).min(highest * BAND_ROOM);
    let bottom = points().map(|point| point.1).fold(0.0, f64::min);
    let y = Scale::new(Growth::Linear, (bottom, top * 1.04), frame.up());
    (Scale::new(growth, (first, last), frame.across()), y)
}

/// A line as it is drawn.
fn line_series(lines: &Lines, line: &Line, index: usize, x: &Scale, y: &Scale) -> Series {
    let dot =
        |across: f64, up: f64, title: String| Dot { x: x.place(across), y: y.place(up), title };
    let points = line.points.iter();
    let dots: Vec<Dot> = points
        .map(|&(across, up)| dot(across, up, lines.point_in_words(line, across, up)))
        .collect();
    let places: Vec<(f64, f64)> = dots.iter().map(|dot| (dot.x, dot.y)).collect();
    let end = |(point, value): (&(f64, f64), f64)| (x.place(point.0), y.place(value));
    let highs = line.points.iter().zip(line.band.iter().map(|band| band.1)).map(end);
    let lows = line.points.iter().zip(line.band.iter().map(|band| band.0)).map(end);
    Series {
        lock: line.name.clone(),
        role: Role::Other,
        style: Style::of(index),
        line: path(&places),
        band: around(highs.collect(), lows.collect()),
        measured: line.ring.iter().map(|(at, up, why)| dot(*at, *up, why.clone())).collect(),
        quiet: false,
        // One without points has its place among the styles and no other.
        shown: !line.points.is_empty(),
        name_y: places.last().map_or(0.0, |at| at.1),
        dots: dots
            .into_iter()
            .skip(if line.smooth { places.len().saturating_sub(1) } else { 0 })
            .collect(),
    }
}

/// The line of linear scaling from the origin to the edge of the plot, and where its name stands.
fn linear(lines: &Lines, x: &Scale, y: &Scale) -> (String, (f64, f64)) {
    let Some(slope) = lines.linear.filter(|slope| *slope > 0.0) else {
        return (String::new(), (0.0, 0.0));
    };
    let cores = x.most().min(y.most() / slope);
    let to = (x.place(cores), y.place(slope * cores));
    // Names stand where it would go on; there its own stands above it.
    const NAME: f64 = 90.0;
    let right = x.place(x.most());
    let label = if to.0 > right - NAME { (right - 1.8 * NAME, to.1 - 12.0) } else { to };
    (path(&[(x.place(0.0), y.place(0.0)), to]), label)
}
