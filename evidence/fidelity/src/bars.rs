//! What forecasts are held against.

use crate::run::Answer;
use crate::score::Method;
use crate::split::Setting;
use crate::summary::{Group, Share, Summary};

/// What is asked of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Asked {
    /// An error: the smaller the better.
    AtMost(f64),
    /// A share: the larger the better.
    AtLeast(f64),
    /// A share that no figure is asked of.
    AsHighAsCanBe,
}

/// The names of all bars.
pub const KEYS: [&str; 11] = [
    "A-level",
    "A-shape",
    "A-regret",
    "A-collapse",
    "A-band",
    "B-level",
    "B-shape",
    "B-regret",
    "B-collapse",
    "B-band",
    VERDICT,
];

/// The name of the bar on forecasts from profiles.
const VERDICT: &str = "C-verdict";

/// A figure of the forecast and of both baselines, and what is asked of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its name in `fidelity-notes.toml`.
    pub key: &'static str,
    /// How much the forecasts were given.
    pub setting: &'static str,
    /// What the figure is.
    pub what: &'static str,
    /// What the figure has to reach.
    pub asked: Asked,
    /// The figure of the forecast, if there is one.
    pub forecast: Option<f64>,
    /// Of the universal scalability law and of staying; none if they have no such figure.
    pub baselines: Option<[f64; 2]>,
    /// Of the best answer that is the same for every program, and what that is.
    pub constant: Option<(&'static str, f64)>,
}

/// How a forecast does against simpler answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Better than all of them.
    Better,
    /// Within a twentieth of the best of them: no better.
    Alike,
    /// Worse than one of them.
    Worse,
}

/// Figures that are this share of each other apart, or less, are alike.
const ALIKE: f64 = 0.05;

/// The figure that a bar is about.
type Figure = fn(&Summary) -> Option<f64>;

/// What the error bars are about.
const LEVEL: &str = "median error, normalized to the measured throughput on one node";
const SHAPE: &str = "median error, each curve normalized to its own one node";
const REGRET: &str = "programs with a regret of at most 10 %";
const COLLAPSE: &str = "collapses within ±25 % of their cores";
const BAND: &str = "held-back points of all programs inside their bands";

impl Bar {
    /// Those of the settings that occur, on all machines together.
    #[must_use]
    pub fn all(answers: &[Answer]) -> Vec<Bar> {
        use Asked::{AsHighAsCanBe, AtLeast, AtMost};
        let regret: Figure = |s| s.low_regret.value();
        let collapses: Figure = |s| s.collapses.value();
        let (level, shape): (Figure, Figure) = (|s| s.level, |s| s.shape);
        let rows = [
            ("A-level", Setting::A, LEVEL, AtMost(0.2), level),
            ("A-shape", Setting::A, SHAPE, AtMost(0.2), shape),
            ("A-regret", Setting::A, REGRET, AtLeast(0.85), regret),
            ("A-collapse", Setting::A, COLLAPSE, AtLeast(2.0 / 3.0), collapses),
            ("B-level", Setting::B, LEVEL, AtMost(0.35), level),
            ("B-shape", Setting::B, SHAPE, AtMost(0.35), shape),
            ("B-regret", Setting::B, REGRET, AsHighAsCanBe, regret),
            ("B-collapse", Setting::B, COLLAPSE, AsHighAsCanBe, collapses),
        ];
        let mut bars = Vec::new();
        for setting in Setting::ALL {
            let of = |group: Group| -> Vec<&Answer> {
                answers.iter().filter(|a| a.setting == setting && group.has(a)).collect()
            };
            let sensitive = of(Group::Sensitive);
            if sensitive.is_empty() {
                continue;
            }
            let summaries = Method::ALL.map(|method| Summary::of(&sensitive, method));
            for (key, _, what, asked, figure) in rows.iter().filter(|row| row.1 == setting) {
                let [forecast, usl, stays] = [0, 1, 2].map(|i| figure(&summaries[i]));
                let baselines = usl.zip(stays).map(|(usl, stays)| [usl, stays]);
                let setting = setting.name();
                bars.push(Bar {
                    key,
                    setting,
                    what,
                    asked: *asked,
                    forecast,
                    baselines,
                    constant: None,
                });
            }
            let all = Summary::of(&of(Group::All), Method::Forecast);
            bars.push(Bar {
                key: if setting == Setting::A { "A-band" } else { "B-band" },
                setting: setting.name(),
                what: BAND,
                asked: AtLeast(0.8),
                forecast: all.inside.value(),
                baselines: None,
                constant: None,
            });
        }
        bars
    }

    /// The one on forecasts from profiles: whether their verdicts are right.
    #[must_use]
    pub fn on_verdicts(right: Share, constant: (&'static str, Share)) -> Bar {
        Bar {
            key: VERDICT,
            setting: "C",
            what: "verdicts on profiled programs that are right: scales, flattens or collapses",
            asked: Asked::AtLeast(1.0),
            forecast: right.value(),
            baselines: None,
            constant: constant.1.value().map(|score| (constant.0, score)),
        }
    }

    /// Whether the figure is what is asked; none if nothing is.
    #[must_use]
    pub fn reached(&self) -> Option<bool> {
        match self.asked {
            Asked::AtMost(most) => Some(self.forecast.is_some_and(|f| f <= most)),
            Asked::AtLeast(least) => Some(self.forecast.is_some_and(|f| f >= least)),
            Asked::AsHighAsCanBe => None,
        }
    }

    /// How the forecast does against the baselines and the constant answer; none if these have no
    /// such figure.
    #[must_use]
    pub fn standing(&self) -> Option<Standing> {
        let constant = self.constant.map(|(_, score)| score);
        let others: Vec<f64> = self.baselines.into_iter().flatten().chain(constant).collect();
        let forecast = match self.forecast {
            _ if others.is_empty() => return None,
            Some(forecast) => forecast,
            None => return Some(Standing::Worse),
        };
        let against = |other: &f64| match self.asked {
            _ if (forecast - other).abs() <= ALIKE * forecast.max(*other) => Standing::Alike,
            Asked::AtMost(_) if forecast < *other => Standing::Better,
            Asked::AtLeast(_) | Asked::AsHighAsCanBe if forecast > *other => Standing::Better,
            _ => Standing::Worse,
        };
        let all: Vec<Standing> = others.iter().map(against).collect();
        [Standing::Worse, Standing::Alike]
            .into_iter()
            .find(|s| all.contains(s))
            .or(Some(Standing::Better))
    }

    /// Whether it is missed in either way.
    #[must_use]
    pub fn missed(&self) -> bool {
        self.reached() == Some(false) || self.standing().is_some_and(|s| s != Standing::Better)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::answer;
    use crate::sample::{self, MACHINE, Oracle};

    fn bars(factor: f64) -> Vec<Bar> {
        let answer = |setting| {
            answer(setting, MACHINE, &sample::collapsing("p"), &Oracle(factor), &|_, _| {})
        };
        Bar::all(&Setting::ALL.map(answer))
    }

    fn bar(bars: &[Bar], key: &str) -> Bar {
        bars.iter().find(|bar| bar.key == key).expect("there is such a bar").clone()
    }

    fn verdicts(right: usize, constant: usize) -> Bar {
        let share = |having| Share { having, of: 7 };
        Bar::on_verdicts(share(right), ("collapses", share(constant)))
    }

    #[test]
    fn equals_are_not_better() {
        let level = |forecast, law| Bar {
            forecast: Some(forecast),
            baselines: Some([law, 0.11]),
            ..bar(&bars(1.0), "A-level")
        };
        assert_eq!(level(0.0778, 0.0782).standing(), Some(Standing::Alike));
        assert_eq!(level(0.07, 0.0782).standing(), Some(Standing::Better));
        assert_eq!(level(0.09, 0.0782).standing(), Some(Standing::Worse));
        assert_eq!(verdicts(3, 3).standing(), Some(Standing::Alike));
        assert_eq!(verdicts(4, 3).standing(), Some(Standing::Better));
    }

    #[test]
    fn an_oracle_reaches_all_and_beats_the_baselines() {
        let bars = bars(1.0);
        assert_eq!(bars.iter().map(|bar| bar.key).collect::<Vec<_>>(), KEYS[..10]);
        for bar in &bars {
            assert_ne!(bar.reached(), Some(false), "{bar:?}");
        }
        assert_eq!(bar(&bars, "A-level").standing(), Some(Standing::Better));
        assert_eq!(bar(&bars, "A-band").standing(), None);
    }

    #[test]
    fn who_is_off_by_a_quarter_misses_one_bar_and_not_the_other() {
        let bars = bars(1.25);
        assert_eq!(bar(&bars, "A-level").reached(), Some(false));
        assert_eq!(bar(&bars, "B-level").reached(), Some(true));
        assert!(bar(&bars, "A-band").missed());
        assert!(verdicts(6, 3).missed());
    }
}
