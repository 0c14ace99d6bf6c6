//! Two lock profiles of a program, before and after a change, as a study.

mod locks;
mod recorded;
mod tables;
mod words;

use kilocore_lock_profile::{ChangeVerdict, PaceChange, Profile, ProfileComparison};
use kilocore_show::{
    About, Across, Generated, Host, Line, Lines, Mark, Points, Provenance, Study, Table, Unit,
};
use serde::Serialize;

use locks::{LockChange, lock_changes};
use recorded::{Per, Recorded};

use crate::measured_words::units;

/// Two profiles, compared, and all that is shown of them.
#[derive(Debug)]
pub struct ProfileComparisonReport<'a> {
    /// Who made it, and how.
    pub generated: Generated,
    /// The profile from before the change.
    pub before: &'a Profile,
    /// The profile from after it.
    pub after: &'a Profile,
    /// What was compared of them.
    pub comparison: ProfileComparison,
    /// The share by which it may become slower, if somebody has said that: 0.05 is five hundredths.
    pub allowed: Option<f64>,
    /// So many locks are shown. Documents and spreadsheets have all.
    pub most_locks: usize,
}

impl ProfileComparisonReport<'_> {
    /// Whether it has become slower by more than is allowed, if that is asked.
    #[must_use]
    pub fn verdict(&self) -> Option<ChangeVerdict> {
        self.allowed.map(|share| self.comparison.verdict(share))
    }

    /// What figures of the recorded runs are of each.
    fn per(&self) -> Per {
        Per::of(self.before, self.after)
    }
}

/// What programs read of it.
#[derive(Debug, Serialize)]
struct Document<'a> {
    generated: &'a Generated,
    command: &'a [String],
    allowed_slowdown: Option<f64>,
    verdict: Option<ChangeVerdict>,
    #[serde(flatten)]
    comparison: &'a ProfileComparison,
    recorded_per: Per,
    recorded_before: Option<Recorded>,
    recorded_after: Option<Recorded>,
    locks: Vec<LockChange>,
}

impl Study for ProfileComparisonReport<'_> {
    fn about(&self) -> About {
        let host = &self.after.host;
        let name = self.after.command.first().map_or("a program", String::as_str);
        let name = name.rsplit('/').next().unwrap_or(name);
        About {
            generated: self.generated.clone(),
            kind: "Lock profiles of a program, measured",
            title: format!("{name}, before and after a change"),
            host: Host::Real {
                name: host.processor.clone(),
                title: format!("{} cores, Linux {}", host.cores, host.kernel),
                facts: vec![
                    ("command before", self.before.command.join(" ")),
                    ("command after", self.after.command.join(" ")),
                    ("kernel before", self.before.host.kernel.clone()),
                    ("kernel after", host.kernel.clone()),
                ],
            },
            parameters: Vec::new(),
        }
    }

    fn document(&self) -> impl Serialize {
        let per = self.per();
        Document {
            generated: &self.generated,
            command: &self.after.command,
            allowed_slowdown: self.allowed,
            verdict: self.verdict(),
            comparison: &self.comparison,
            recorded_per: per,
            recorded_before: Recorded::of(self.before),
            recorded_after: Recorded::of(self.after),
            locks: lock_changes(self.before, self.after, per),
        }
    }

    /// A row for each number of cores.
    fn points(&self) -> Points {
        Points::of(Provenance::Measured, &self.comparison.paces)
            .each("cores", Unit::Count, |pace: &&PaceChange| pace.cores)
            .each("before_per_s", Unit::PerSecond, |pace| pace.before.throughput)
            .each("before_low_per_s", Unit::PerSecond, |pace| pace.before.throughput_low)
            .each("before_high_per_s", Unit::PerSecond, |pace| pace.before.throughput_high)
            .each("before_rounds", Unit::Count, |pace| pace.before.rounds)
            .each("after_per_s", Unit::PerSecond, |pace| pace.after.throughput)
            .each("after_low_per_s", Unit::PerSecond, |pace| pace.after.throughput_low)
            .each("after_high_per_s", Unit::PerSecond, |pace| pace.after.throughput_high)
            .each("after_rounds", Unit::Count, |pace| pace.after.rounds)
            .each("times_as_long", Unit::Ratio, |pace| pace.times_as_long)
            .each("times_as_long_low", Unit::Ratio, |pace| pace.times_as_long_low)
            .each("times_as_long_high", Unit::Ratio, |pace| pace.times_as_long_high)
            .build()
    }

    fn charts(&self) -> Vec<Lines> {
        let paces = &self.comparison.paces;
        if paces.is_empty() {
            return Vec::new();
        }
        let line = |name, figures: fn(&PaceChange) -> [f64; 3]| {
            let points = paces.iter().map(|pace| (f64::from(pace.cores), figures(pace)[0]));
            let band = paces.iter().map(figures).map(|[_, low, high]| (low, high));
            Line { band: band.collect(), ..Line::new(name, points.collect()) }
        };
        let before = line("before", |change| {
            let pace = &change.before;
            [pace.throughput, pace.throughput_low, pace.throughput_high]
        });
        let after = line("after", |change| {
            let pace = &change.after;
            [pace.throughput, pace.throughput_low, pace.throughput_high]
        });
        vec![Lines {
            title: "Throughput by cores".to_owned(),
            mark: Mark::new(Provenance::Measured, "with the least and the most of the rounds"),
            across: Across::Cores,
            up: format!("{} per second", units(&self.comparison.unit)),
            by: "profile",
            linear: None,
            small: false,
            lines: vec![before, after],
        }]
    }

    fn tables(&self) -> Vec<Table> {
        let per = self.per();
        let locks = lock_changes(self.before, self.after, per);
        [
            Some(tables::answer(self)),
            tables::paces(&self.comparison),
            tables::scaling(&self.comparison),
            tables::recorded(Recorded::of(self.before), Recorded::of(self.after)),
            tables::locks(&locks, per, self.most_locks),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
