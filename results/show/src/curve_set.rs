//! The curves of a report.

use kilocore_figures::{CurvePoint, LockCurve};

use crate::alike;
use crate::drawn::{Drawn, Role, Style, best_first};

/// All curves of a report.
#[derive(Debug)]
pub struct CurveSet<'a, P> {
    pub curves: Vec<Drawn<'a, P>>,
    /// What was measured, if the curves are forecasts from that.
    pub given: Vec<Given>,
}

/// A measured throughput beside a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Given {
    /// Place of the curve in the report.
    pub index: usize,
    pub cores: u32,
    pub throughput: f64,
}

impl<'a, P: CurvePoint> CurveSet<'a, P> {
    /// Whether a curve's band shows only when pointed at: beside curves that matter more, it is
    /// neither one of those nor measured.
    pub fn is_quiet(&self, drawn: &Drawn<'_, P>) -> bool {
        drawn.role == Role::Other
            && self.curves.iter().any(|other| other.role != Role::Other)
            && !self.given.iter().any(|given| given.index == drawn.style.index)
    }

    /// The curves in the order given. The recommended one and today's have the first two styles,
    /// so that they look the same in every report; the order settles the others.
    pub fn new(curves: &'a [LockCurve<P>], today: Option<&str>, recommended: Option<&str>) -> Self {
        let role_of = |curve: &LockCurve<P>| match Some(curve.lock) {
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
        let telling = alike::telling(&set.curves);
        for drawn in &mut set.curves {
            drawn.shown = telling.contains(&drawn.style.index);
        }
        set
    }

    /// Only the curves that are shown.
    pub fn only_shown(mut self) -> Self {
        self.curves.retain(|drawn| drawn.shown);
        self
    }

    /// The highest throughput of any curve that is shown.
    pub fn highest(&self) -> f64 {
        let shown = self.curves.iter().filter(|drawn| drawn.shown);
        shown.map(|drawn| drawn.curve.peak).filter(|rate| rate.is_finite()).fold(0.0, f64::max)
    }

    /// The curve of today's lock, if there is one.
    pub fn today(&self) -> Option<&Drawn<'a, P>> {
        self.curves.iter().find(|drawn| drawn.role == Role::Today)
    }

    /// The largest number of cores of any curve.
    pub fn most_cores(&self) -> u32 {
        let points = self.curves.iter().flat_map(|drawn| &drawn.curve.points);
        points.map(CurvePoint::cores).max().unwrap_or(1)
    }

    /// Highest throughput at the end first: the order of the tables.
    pub fn best_first(&self) -> Vec<Drawn<'a, P>> {
        best_first(&self.curves)
    }
}
