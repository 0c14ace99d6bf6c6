//! A curve as it is drawn: how it is told from the others, and in which role it stands.

use kilocore_figures::{CurvePoint, LockCurve};

use crate::number;

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
pub struct Style {
    /// Place of the curve in the report; the class of all that belongs to it is `s` and this.
    pub index: usize,
    /// Place of its colour in the style sheet.
    pub colour: usize,
    /// The dashes of its line, as `stroke-dasharray` of SVG.
    pub dash: &'static str,
    /// The path of its marker around the origin.
    pub marker: &'static str,
}

impl Style {
    /// One of many styles, for the curve at the same place.
    pub fn of(index: usize) -> Self {
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
pub enum Role {
    /// It stands for the program as it is.
    Today,
    /// It is the one to take.
    Recommended,
    /// One of the others.
    Other,
}

impl Role {
    /// In a word; empty for the others.
    pub fn name(self) -> &'static str {
        match self {
            Role::Today => "today",
            Role::Recommended => "recommended",
            Role::Other => "",
        }
    }
}

/// A curve with its style and role.
#[derive(Debug)]
pub struct Drawn<'a, P> {
    pub curve: &'a LockCurve<P>,
    pub style: Style,
    pub role: Role,
    /// Whether charts and tables show it unless they are told otherwise.
    pub shown: bool,
}

// Derived, they would ask the same of the points, to which this only refers.
impl<P> Clone for Drawn<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Drawn<'_, P> {}

impl<P: CurvePoint> Drawn<'_, P> {
    /// Throughput at the largest number of cores.
    pub fn end_throughput(&self) -> f64 {
        self.curve.end().throughput()
    }

    /// The curve in a sentence, for those who cannot see it.
    pub fn sentence(&self) -> String {
        self.sentence_in(number::per_second)
    }

    /// The same, with throughputs written so.
    pub fn sentence_in(&self, written: fn(f64) -> String) -> String {
        let Self { curve, .. } = self;
        let end = curve.end();
        format!(
            "{lock} {shape}: peak {peak} at {peak_cores} cores, {end} at {cores}.",
            lock = curve.lock,
            shape = curve.shape.name(),
            peak = written(curve.peak),
            peak_cores = curve.peak_cores,
            end = written(end.throughput()),
            cores = end.cores(),
        )
    }
}

/// The curves, the one that ends highest first: the order of the tables.
pub fn best_first<'a, P: CurvePoint>(curves: &[Drawn<'a, P>]) -> Vec<Drawn<'a, P>> {
    let mut curves = curves.to_vec();
    curves.sort_by(|a, b| b.end_throughput().total_cmp(&a.end_throughput()));
    curves
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
