//! What two recorders say of the same program, as ratios.

use std::collections::BTreeMap;

use kilocore_figures::{Nanoseconds, median};
use kilocore_lock_profile::{Interval, Profile};

use crate::beside::call_sites::{CallSites, LocksAtSite, held};
use crate::beside::forecast::{Agreement, Forecast};
use crate::score::Count;

/// A lock matters if it is held or waited for during so much of the threads' time.
const MATTERS: f64 = 0.01;

/// No more locks of a program are compared than this.
const MOST: usize = 4;

/// A run under each recorder, one right after the other.
#[derive(Debug)]
pub struct Round {
    /// What the library under the program recorded, and what is forecast from it.
    pub preload: (Profile, Forecast),
    /// What was seen from outside.
    pub watch: (Profile, Forecast),
}

/// A figure of both recorders.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compared {
    /// What the preload recorder says, by run.
    pub preload: Vec<f64>,
    /// What watching says, as a multiple of what the preload recorder says in the run next to it.
    pub ratios: Vec<f64>,
    /// What the preload recorder says, as a multiple of what it says in the run before: noise.
    pub noise: Vec<f64>,
    /// Whether the interval that watching prints holds what the preload recorder says.
    pub inside: Count,
    /// The end of that interval as a multiple of its beginning, by run.
    pub width: Vec<f64>,
}

impl Compared {
    /// The share by which the two recorders may differ.
    pub const MAY_DIFFER: f64 = 0.15;

    /// Whether the median ratio is as near to 1 as it has to be. False if there is none.
    #[must_use]
    pub fn is_near(&self) -> bool {
        median(self.ratios.iter().copied())
            .is_some_and(|ratio| (ratio - 1.0).abs() <= Self::MAY_DIFFER)
    }

    fn preload(&mut self, value: Option<f64>) {
        let Some(value) = value.filter(|value| *value > 0.0) else { return };
        if let Some(before) = self.preload.last() {
            self.noise.push(value / before);
        }
        self.preload.push(value);
    }

    fn watch(&mut self, preload: Option<f64>, watch: Option<f64>, between: Option<Interval>) {
        let Some(preload) = preload.filter(|value| *value > 0.0) else { return };
        self.ratios.extend(watch.map(|watch| watch / preload));
        if let Some(between) = between {
            self.inside.add((between.low..=between.high).contains(&preload));
            self.width.push(between.high / between.low);
        }
    }
}

/// What both recorders say of the locks that are taken at one call site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComparedSite {
    /// The function that takes the locks.
    pub name: String,
    /// The share of the threads' time in which they hold these locks or wait for them, from 0 to 1, as
    /// the preload recorder sees it.
    pub share: f64,
    /// How many locks there are, in the run with the most.
    pub locks: u64,
    /// Of how many of them watching says how often they are taken: the median over the runs.
    pub known: f64,
    /// In how many runs watching saw any of them at all.
    pub seen: Count,
    /// Acquisitions of a run.
    pub acquisitions: Compared,
    /// The mean hold, in nanoseconds.
    pub hold: Compared,
    /// What a thread computes from one acquisition to the next on average, in nanoseconds.
    pub think: Compared,
}

/// What both say of a program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// The call sites of the locks that matter, those that cost most first.
    pub sites: Vec<ComparedSite>,
    /// How forecasts from watched profiles agree with those from the preload recorder's.
    pub forecasts: Agreement,
    /// What a hit of a watchpoint cost, by run.
    pub hit_costs: Vec<Nanoseconds<f64>>,
    /// Runs of which something failed.
    pub failed: u64,
}

/// A profile, by call site.
struct Side {
    taken: BTreeMap<usize, LocksAtSite>,
    /// The time that threads computed in all, and that they waited for locks.
    computed: Nanoseconds<f64>,
    waited: Nanoseconds<f64>,
}

impl Side {
    fn of(profile: &Profile, sites: &CallSites) -> Self {
        let processes = profile.runs.first().map(|run| run.processes.as_slice());
        let processes = processes.unwrap_or_default();
        let locks = || processes.iter().flat_map(|process| &process.locks);
        let thought: Nanoseconds<f64> =
            processes.iter().map(|process| process.threads.think.sum).sum();
        Self {
            taken: sites.taken(profile),
            computed: thought + locks().map(held).sum(),
            waited: locks().map(|lock| lock.waited()).sum(),
        }
    }

    fn share(&self, site: usize) -> f64 {
        let Some(taken) = self.taken.get(&site) else { return 0.0 };
        let all = self.computed + self.waited;
        if all > Nanoseconds(0.0) { (taken.held + taken.waited) / all } else { 0.0 }
    }

    fn acquisitions(&self, site: usize) -> Option<f64> {
        let acquisitions = self.taken.get(&site)?.acquisitions;
        (acquisitions > 0.0).then_some(acquisitions)
    }

    fn hold(&self, site: usize) -> Option<f64> {
        Some(self.taken.get(&site)?.hold()?.0)
    }

    /// What a thread computes between: all that threads computed, but for the holds of this site.
    fn think(&self, site: usize) -> Option<f64> {
        let taken = self.taken.get(&site)?;
        let acquisitions = self.acquisitions(site)?;
        Some((self.computed - taken.held).max(Nanoseconds(0.0)).0 / acquisitions)
    }
}

impl Comparison {
    /// Compares the rounds of a program.
    #[must_use]
    pub fn of(rounds: &[Round]) -> Self {
        let Some(first) = rounds.first() else { return Self::default() };
        let sites = CallSites::of(&first.preload.0);
        let sides: Vec<(Side, Side)> = rounds
            .iter()
            .map(|round| [&round.preload.0, &round.watch.0].map(|one| Side::of(one, &sites)))
            .map(|[preload, watch]| (preload, watch))
            .collect();
        let share = |site: usize| {
            let sum: f64 = sides.iter().map(|(preload, _)| preload.share(site)).sum();
            sum / sides.len() as f64
        };
        let mut matter: Vec<(usize, f64)> = sides
            .iter()
            .flat_map(|(preload, _)| preload.taken.keys().copied())
            .collect::<std::collections::BTreeSet<usize>>()
            .into_iter()
            .map(|site| (site, share(site)))
            .filter(|(_, share)| *share >= MATTERS)
            .collect();
        matter.sort_by(|a, b| b.1.total_cmp(&a.1));
        matter.truncate(MOST);
        let compared = |(site, share)| of_site(&sides, site, sites.name(site), share);
        let watchings = rounds.iter().filter_map(|round| round.watch.0.runs.first());
        let watchings = watchings.filter_map(|run| run.watching.as_ref());
        let forecasts: Vec<(&Forecast, &Forecast)> =
            rounds.iter().map(|round| (&round.preload.1, &round.watch.1)).collect();
        Self {
            sites: matter.into_iter().map(compared).collect(),
            forecasts: Agreement::of(&forecasts),
            hit_costs: watchings.filter_map(|watching| watching.hit_cost).collect(),
            failed: 0,
        }
    }
}

fn of_site(sides: &[(Side, Side)], site: usize, name: &str, share: f64) -> ComparedSite {
    let mut compared = ComparedSite { name: name.to_owned(), share, ..ComparedSite::default() };
    let mut known = Vec::new();
    for (preload, watch) in sides {
        let there = preload.taken.get(&site).map_or(0, |taken| taken.locks);
        compared.locks = compared.locks.max(there);
        let seen = watch.taken.get(&site);
        compared.seen.add(seen.is_some());
        known.push(seen.map_or(0.0, |taken| taken.known as f64));
        let acquisitions = preload.acquisitions(site);
        compared.acquisitions.preload(acquisitions);
        compared.acquisitions.watch(
            acquisitions,
            watch.acquisitions(site),
            seen.and_then(|taken| taken.acquisitions_between),
        );
        let hold = preload.hold(site);
        compared.hold.preload(hold);
        let between = seen.and_then(|taken| taken.hold_between);
        let between = between.map(|hold| hold.map(|time| time.0));
        compared.hold.watch(hold, watch.hold(site), between);
        let think = preload.think(site);
        compared.think.preload(think);
        compared.think.watch(think, watch.think(site), None);
    }
    compared.known = median(known.iter().copied()).unwrap_or(0.0);
    compared
}
