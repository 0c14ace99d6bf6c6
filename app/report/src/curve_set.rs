//! The curves of a report: how each is told from the others, and in which roles they stand.

use kilocore_predict::Curve;

use crate::{alike, number};

/// Colours, of which the style sheets define one for light and one for dark paper.
const COLOURS: usize = 8;
/// Dash patterns, of which the first is none. Dashes and markers move on against each other with each
/// round of colours, so that no two of the first 32 curves share both.
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];
/// Markers, drawn around the origin.
const MARKERS: [&str; 8] = [
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "M-3.2-3.2h6.4v6.4h-6.4z",
    "M0-4.3L4.3 3.2H-4.3z",
    "M0-4.6L4.6 0L0 4.6L-4.6 0z",
    "M0 4.3L4.3-3.2H-4.3z",
    "M-1.4-4h2.8v2.6H4v2.8H1.4V4h-2.8V1.4H-4v-2.8h2.6z",
    "M-4-2.3L0-4.6L4-2.3V2.3L0 4.6L-4 2.3z",
    "M-4.2-2.3L-2.3-4.2L0-1.9L2.3-4.2L4.2-2.3L1.9 0L4.2 2.3L2.3 4.2L0 1.9L-2.3 4.2L-4.2 2.3L-1.9 0z",
];

/// How a curve is told from the others: never by its colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Place of the curve in the report; the class of all that belongs to it is `s` and this.
    pub(crate) index: usize,
    /// Place of its colour in the style sheet.
    pub(crate) colour: usize,
    /// Its dashes.
    pub(crate) dash: &'static str,
    /// The path of its marker around the origin.
    pub(crate) marker: &'static str,
}

impl Style {
    /// One of many styles, for the curve at the same place.
    pub(crate) fn of(index: usize) -> Self {
        let round = index / COLOURS;
        Self {
            index,
            colour: index % COLOURS,
            dash: DASHES[(index + 2 * round) % DASHES.len()],
            marker: MARKERS[(index + round) % MARKERS.len()],
        }
    }
}

/// What a curve is to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It stands for the program as it is.
    Today,
    /// It is the one to take.
    Recommended,
    /// One of the others.
    Other,
}

impl Role {
    /// In a word; empty for the others.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Today => "today",
            Role::Recommended => "recommended",
            Role::Other => "",
        }
    }
}

/// A curve with its style and role.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn<'a> {
    pub(crate) curve: &'a Curve,
    pub(crate) style: Style,
    pub(crate) role: Role,
    /// Whether charts and tables show it unless they are told otherwise.
    pub(crate) shown: bool,
}

/// All curves of a report.
#[derive(Debug, Clone)]
pub(crate) struct CurveSet<'a> {
    pub(crate) curves: Vec<Drawn<'a>>,
    /// What was measured, if the curves are forecasts from that.
    pub(crate) given: Vec<Given>,
}

/// A measured throughput beside a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Given {
    /// Place of the curve in the report.
    pub(crate) index: usize,
    pub(crate) cores: u32,
    pub(crate) throughput: f64,
}

impl<'a> CurveSet<'a> {
    /// Whether a curve's band shows only when pointed at: beside curves that matter more, it is
    /// neither one of those nor measured.
    pub(crate) fn is_quiet(&self, drawn: &Drawn<'_>) -> bool {
        drawn.role == Role::Other
            && self.curves.iter().any(|other| other.role != Role::Other)
            && !self.given.iter().any(|given| given.index == drawn.style.index)
    }

    /// The curves in the order given. The recommended one and today's have the first two styles,
    /// so that they look the same in every report; the order settles the others.
    pub(crate) fn new(curves: &'a [Curve], today: Option<&str>, recommended: Option<&str>) -> Self {
        let role_of = |curve: &Curve| match Some(curve.lock) {
            // Advice to keep today's lock leaves it what it is.
            lock if lock == today => Role::Today,
            lock if lock == recommended => Role::Recommended,
            _ => Role::Other,
        };
        let reserved = match (today, recommended) {
            (Some(_), _) => 2,
            (None, Some(_)) => 1,
            (None, None) => 0,
        };
        let mut others = reserved..;
        let drawn = curves.iter().enumerate().map(|(index, curve)| {
            let role = role_of(curve);
            let look = match role {
                Role::Recommended => Some(0),
                Role::Today => Some(1),
                Role::Other => others.next(),
            };
            let style = Style { index, ..Style::of(look.unwrap_or(index)) };
            Drawn { curve, style, role, shown: true }
        });
        let mut set = Self { curves: drawn.collect(), given: Vec::new() };
        let telling = alike::telling(&set);
        for drawn in &mut set.curves {
            drawn.shown = telling.contains(&drawn.style.index);
        }
        set
    }

    /// Only the curves that are shown.
    pub(crate) fn only_shown(mut self) -> Self {
        self.curves.retain(|drawn| drawn.shown);
        self
    }

    /// The highest throughput of any curve that is shown.
    pub(crate) fn highest(&self) -> f64 {
        let shown = self.curves.iter().filter(|drawn| drawn.shown);
        shown
            .map(|drawn| drawn.curve.peak_per_s)
            .filter(|rate| rate.is_finite())
            .fold(0.0, f64::max)
    }

    /// The curve of today's lock, if there is one.
    pub(crate) fn today(&self) -> Option<&Drawn<'a>> {
        self.curves.iter().find(|drawn| drawn.role == Role::Today)
    }

    /// The largest number of cores of any curve.
    pub(crate) fn most_cores(&self) -> u32 {
        let points = self.curves.iter().flat_map(|drawn| &drawn.curve.points);
        points.map(|point| point.point.cores).max().unwrap_or(1)
    }

    /// Highest throughput at the end first: the order of the tables.
    pub(crate) fn best_first(&self) -> Vec<Drawn<'a>> {
        let mut curves = self.curves.clone();
        let end = |drawn: &Drawn<'_>| drawn.curve.end().point.throughput_per_s;
        curves.sort_by(|a, b| end(b).total_cmp(&end(a)));
        curves
    }
}

impl Drawn<'_> {
    /// The curve in a sentence, for those who cannot see it.
    pub(crate) fn sentence(&self) -> String {
        self.sentence_in(number::per_second)
    }

    /// The same, with throughputs written so.
    pub(crate) fn sentence_in(&self, written: fn(f64) -> String) -> String {
        let Self { curve, .. } = self;
        let end = &curve.end().point;
        format!(
            "{lock} {shape}: peak {peak} at {peak_cores} cores, {end} at {cores}.",
            lock = curve.lock,
            shape = curve.shape.name(),
            peak = written(curve.peak_per_s),
            peak_cores = curve.peak_cores,
            end = written(end.throughput_per_s),
            cores = end.cores,
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Style;

    #[test]
    fn no_two_of_many_curves_look_alike_even_without_colour() {
        let looks = (0..32).map(|index| (Style::of(index).dash, Style::of(index).marker));
        assert_eq!(looks.collect::<HashSet<_>>().len(), 32);
    }
}
