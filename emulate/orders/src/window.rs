//! The part of a run that is asked for.

use serde::{Deserialize, Serialize};

use crate::Place;

/// The part of a program's run that figures are about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Where loads and stores begin to be simulated, so that caches are warm where the part begins. Where the part
    /// begins, if this is not before it.
    pub warm: Option<Place>,
    /// Where the part begins: the program's beginning, if nothing else is said.
    pub from: Option<Place>,
    /// Where it ends, and the program with it. Of calls and signals without a number, the first one since the part
    /// began counts.
    pub until: Option<Place>,
}

impl Window {
    /// Whether it is all of the run.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.begins_at_once() && self.until.is_none()
    }

    /// Whether it begins where the program does.
    #[must_use]
    pub fn begins_at_once(&self) -> bool {
        matches!(self.from, None | Some(Place::Start))
    }
}

/// What came of a part that was asked for. All times are simulated, in ns since the program's beginning.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// When loads and stores began to be simulated. Absent if that was never.
    pub detailed_ns: Option<f64>,
    /// When the part began. Absent if it never did.
    pub from_ns: Option<f64>,
    /// When it ended where it was to end. Absent if it did not.
    pub until_ns: Option<f64>,
    /// How often what it was to begin at has happened, if it did not begin.
    pub from_times: u32,
    /// The same of what it was to end at.
    pub until_times: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_from_the_start_to_the_end_is_the_whole_run() {
        let place = |text: &str| Some(text.parse::<Place>().expect(text));
        assert!(Window::default().is_whole());
        assert!(Window { from: place("start"), ..Window::default() }.is_whole());
        let from = Window { from: place("solve"), ..Window::default() };
        assert!(!from.is_whole() && !from.begins_at_once());
        let until = Window { until: place("solve"), ..Window::default() };
        assert!(!until.is_whole() && until.begins_at_once());
    }
}
