//! How far what was said is from what was measured.

use kilocore_figures::lasting_collapse;
use serde::Serialize;

use crate::run::{Answer, Compared, Curve};

/// A way to say what was not given: the forecast under test, or a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The forecast under test.
    Forecast,
    /// The universal scalability law of the lock or of the nearest given one.
    Usl,
    /// As at the last given count.
    Stays,
}

impl Method {
    /// The forecast and both baselines.
    pub const ALL: [Method; 3] = [Method::Forecast, Method::Usl, Method::Stays];

    /// What it says of a point.
    #[must_use]
    pub fn says(self, point: &Compared) -> f64 {
        match self {
            Method::Forecast => point.forecast.throughput,
            Method::Usl => point.usl,
            Method::Stays => point.stays,
        }
    }

    /// What is known under this method: the measurement where it is given, else what it says.
    fn known(self, point: &Compared) -> f64 {
        if point.held { self.says(point) } else { point.observed.throughput }
    }
}

/// The relative error of a figure.
fn error(said: f64, measured: f64) -> f64 {
    (said / measured - 1.0).abs()
}

/// The relative errors of the held-back throughputs of a curve, in the unit of the data.
///
/// Normalized to the measured throughput of any one lock on one node they are the same, as that
/// divides forecast and measurement alike.
pub fn level_errors(curve: &Curve, method: Method) -> impl Iterator<Item = f64> {
    let held = curve.points.iter().filter(|p| p.held);
    held.map(move |p| error(method.says(p), p.observed.throughput))
}

/// The same with every curve, measured and forecast, divided by its own throughput on one node.
/// What is given there is known to the forecast.
pub fn shape_errors(curve: &Curve, method: Method) -> impl Iterator<Item = f64> {
    let one = curve.points.iter().find(|p| p.nodes == 1);
    one.into_iter().flat_map(move |one| {
        let beyond = curve.points.iter().filter(|p| p.held && p.nodes > 1);
        beyond.map(move |p| {
            let said = method.says(p) / method.known(one);
            error(said, p.observed.throughput / one.observed.throughput)
        })
    })
}

/// The logarithm of forecast over measured throughput of held-back points.
pub fn log_ratios(curve: &Curve, method: Method) -> impl Iterator<Item = f64> {
    let held = curve.points.iter().filter(|p| p.held);
    held.map(move |p| (method.says(p) / p.observed.throughput).ln())
}

/// What was said of the collapse of one curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Collapse {
    /// Measured and forecast, with the relative error of the cores at which.
    Both(f64),
    /// The measured curve collapses, and the forecast one does not.
    Missed,
    /// The forecast curve collapses, and the measured one does not.
    False,
}

impl Collapse {
    /// Whether the collapse was forecast where it was measured, within a quarter.
    #[must_use]
    pub fn hit(self) -> bool {
        matches!(self, Collapse::Both(error) if error <= 0.25)
    }
}

/// Compares the collapse of a curve; nothing if it collapses in neither, or was seen to collapse
/// in what is given.
#[must_use]
pub fn collapse(curve: &Curve, method: Method, last_given_nodes: u32) -> Option<Collapse> {
    let cores = |p: &Compared| f64::from(p.cores);
    let along = |of: &dyn Fn(&Compared) -> f64| {
        lasting_collapse(&curve.points.iter().map(|p| (cores(p), of(p))).collect::<Vec<_>>())
    };
    let measured = along(&|p| p.observed.throughput);
    let said = along(&|p| method.known(p));
    let last_given =
        curve.points.iter().filter(|p| p.nodes <= last_given_nodes).map(cores).next_back();
    let seen = |at: f64| curve.given && last_given.is_some_and(|last| at <= last);
    match (measured, said) {
        (Some(measured), Some(said)) if seen(measured) && seen(said) => None,
        (Some(measured), Some(said)) => Some(Collapse::Both(error(said, measured))),
        (Some(_), None) => Some(Collapse::Missed),
        (None, Some(_)) => Some(Collapse::False),
        (None, None) => None,
    }
}

/// The choice of a lock at all nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The measured best, by the data set's name.
    pub measured_best: String,
    /// The first of those called best.
    pub called_best: String,
    /// Share of the throughput of the best lock that is lost by taking the one called best. Where
    /// several are called best alike, the mean over them.
    pub regret: f64,
}

/// How near two figures must be to count as the same.
const ALIKE: f64 = 1e-9;

/// Compares the choice of a lock at all nodes; none without points there.
#[must_use]
pub fn choice(answer: &Answer, method: Method) -> Option<Choice> {
    let at_all = |c: &Curve| c.points.iter().find(|p| p.nodes == answer.all_nodes).cloned();
    let ends: Vec<(&str, Compared)> =
        answer.curves.iter().filter_map(|c| Some((c.alias.as_str(), at_all(c)?))).collect();
    let measured = |p: &Compared| p.observed.throughput;
    let best = ends.iter().max_by(|a, b| measured(&a.1).total_cmp(&measured(&b.1)))?;
    let most = ends.iter().map(|(_, p)| method.says(p)).fold(0.0, f64::max);
    let called: Vec<_> =
        ends.iter().filter(|(_, p)| method.says(p) >= most * (1.0 - ALIKE)).collect();
    let taken = called.iter().map(|(_, p)| measured(p)).sum::<f64>() / called.len() as f64;
    Some(Choice {
        measured_best: best.0.to_owned(),
        called_best: called.first()?.0.to_owned(),
        regret: 1.0 - taken / measured(&best.1),
    })
}

/// Whether a held-back point lies in the band of its forecast.
#[must_use]
pub fn inside(point: &Compared) -> bool {
    (point.forecast.low..=point.forecast.high).contains(&point.observed.throughput)
}

/// The width of a point's band, as a share of the forecast.
#[must_use]
pub fn width(point: &Compared) -> f64 {
    (point.forecast.high - point.forecast.low) / point.forecast.throughput
}

/// How far apart the quartiles of a point's runs are, as a share of the median.
#[must_use]
pub fn noise(point: &Compared) -> f64 {
    (point.observed.q3 - point.observed.q1) / point.observed.throughput
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::answer;
    use crate::sample::{self, MACHINE, Oracle};
    use crate::split::Setting;

    fn planted(factor: f64) -> Answer {
        let program = sample::program(
            "p",
            &[
                ("backoff", &[1.0, 2.0, 3.0, 2.0, 1.0]),
                ("mcs_spin", &[1.0, 2.0, 4.0, 6.0, 8.0]),
                ("pthread", &[1.0, 2.0, 3.0, 4.0, 4.0]),
                ("ticket", &[1.0, 2.0, 2.0, 1.0, 0.5]),
            ],
        );
        answer(Setting::A, MACHINE, &program, &Oracle(factor), &|_, _| {})
    }

    fn curve<'a>(answer: &'a Answer, alias: &str) -> &'a Curve {
        answer.curves.iter().find(|c| c.alias == alias).expect("it is there")
    }

    #[test]
    fn what_was_measured_has_no_error_and_no_regret() {
        let answer = planted(1.0);
        for curve in &answer.curves {
            assert!(level_errors(curve, Method::Forecast).all(|e| e == 0.0));
            assert!(shape_errors(curve, Method::Forecast).all(|e| e == 0.0));
        }
        assert_eq!(choice(&answer, Method::Forecast).expect("there are ends").regret, 0.0);
        assert_eq!(curve(&answer, "ticket").points.iter().filter(|p| p.held).count(), 2);
        assert_eq!(curve(&answer, "backoff").points.iter().filter(|p| p.held).count(), 5);
    }

    #[test]
    fn a_planted_factor_is_found_in_levels_and_cancels_in_shapes() {
        let answer = planted(1.3);
        let backoff = curve(&answer, "backoff");
        assert!(level_errors(backoff, Method::Forecast).all(|e| (e - 0.3).abs() < 1e-12));
        assert!(shape_errors(backoff, Method::Forecast).all(|e| e < 1e-12));
        assert_eq!(shape_errors(backoff, Method::Forecast).count(), 4);
        // Its value on one node is given, so the factor does not cancel.
        let ticket = curve(&answer, "ticket");
        assert!(shape_errors(ticket, Method::Forecast).all(|e| (e - 0.3).abs() < 1e-12));
        assert!(backoff.points.iter().all(|p| !inside(p)));
        assert!(backoff.points.iter().all(|p| (width(p) - 0.2).abs() < 1e-12));
        assert!(backoff.points.iter().all(|p| (noise(p) - 0.04).abs() < 1e-12));
        assert!(log_ratios(backoff, Method::Forecast).all(|r| (r - 1.3_f64.ln()).abs() < 1e-12));
    }

    #[test]
    fn collapses_are_compared_where_they_were_not_given() {
        let answer = planted(1.0);
        let compared = |alias: &str, method| collapse(curve(&answer, alias), method, 4);
        assert_eq!(compared("backoff", Method::Forecast), Some(Collapse::Both(0.0)));
        // The law of `ticket` knows nothing of how `backoff` ends.
        assert_eq!(compared("backoff", Method::Stays), Some(Collapse::Missed));
        assert_eq!(compared("mcs_spin", Method::Forecast), None);
        assert!(Collapse::Both(0.25).hit() && !Collapse::Both(0.26).hit());
        assert!(!Collapse::Missed.hit() && !Collapse::False.hit());
    }

    #[test]
    fn a_forecast_collapse_where_there_is_none_is_false() {
        let mut answer = planted(1.0);
        let mcs = answer.curves.iter_mut().find(|c| c.alias == "mcs_spin").expect("it is there");
        mcs.points[4].forecast.throughput = 1.0;
        let mcs = curve(&answer, "mcs_spin");
        assert_eq!(collapse(mcs, Method::Forecast, 4), Some(Collapse::False));
    }

    #[test]
    fn regret_is_what_the_wrong_lock_costs() {
        let mut answer = planted(1.0);
        let pthread = answer.curves.iter_mut().find(|c| c.alias == "pthread").expect("there");
        pthread.points[4].forecast.throughput = 9.0;
        let found = choice(&answer, Method::Forecast).expect("there are ends");
        assert_eq!((found.called_best.as_str(), found.regret), ("pthread", 0.5));
        assert_eq!(found.measured_best, "mcs_spin");
        // Between two that are called best alike nobody can choose: half of 8 and of 4.
        let backoff = answer.curves.iter_mut().find(|c| c.alias == "backoff").expect("there");
        backoff.points[4].forecast.throughput = 9.0;
        let found = choice(&answer, Method::Forecast).expect("there are ends");
        assert!((found.regret - (1.0 - 2.5 / 8.0)).abs() < 1e-12, "{found:?}");
    }
}
