//! Locks of a profile, grouped and matched by the call sites at which they are taken.
//!
//! A lock has another address in each run, and the two recorders do not see the same frames: the one
//! in the program sees who calls the C library, the other what the waiting thread's stack tells, which
//! may lack the innermost function. So locks are matched by the functions near the call site where
//! they are taken. A function that takes many locks, as a wrapper does, tells little.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Caller, Family, Frame, Interval, Lock, Profile};

/// So many frames of a caller say where a lock is taken.
const FRAMES: usize = 4;

/// What a recorder knows of the locks that are taken at one call site, over the whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LocksAtSite {
    /// How many locks there are.
    pub locks: u64,
    /// Of how many of them it is known how often they are taken.
    pub known: u64,
    /// Acquisitions in any mode, of those of which they are known.
    pub acquisitions: f64,
    /// How long those were held, all holds together.
    pub held: Nanoseconds<f64>,
    /// How long threads waited for any of the locks, all waits together.
    pub waited: Nanoseconds<f64>,
    /// Between what the acquisitions lie, if they are an estimate.
    pub acquisitions_between: Option<Interval>,
    /// Between what the mean hold lies, if it is an estimate: of the lock with the most acquisitions.
    pub hold_between: Option<Interval<Nanoseconds<f64>>>,
    most: f64,
}

impl LocksAtSite {
    /// The mean hold, if any acquisition is known.
    #[must_use]
    pub fn hold(&self) -> Option<Nanoseconds<f64>> {
        (self.acquisitions > 0.0).then(|| self.held / self.acquisitions)
    }

    fn add(&mut self, lock: &Lock) {
        self.locks += lock.instances.max(1);
        self.waited += lock.waited();
        let precision = lock.precision.as_ref();
        if precision.is_some_and(|precision| precision.acquisitions.is_none()) {
            return;
        }
        self.known += lock.instances.max(1);
        let uses = lock.uses() as f64;
        self.acquisitions += uses;
        self.held += held(lock);
        let Some(precision) = precision else { return };
        if let Some(interval) = precision.acquisitions {
            let sum = self.acquisitions_between.get_or_insert_default();
            sum.low += interval.low;
            sum.high += interval.high;
        }
        if uses >= self.most {
            self.most = uses;
            self.hold_between = precision.hold;
        }
    }
}

/// The time in holds. Where they are sampled, the sample does not have exactly as many as there were.
pub(crate) fn held(lock: &Lock) -> Nanoseconds<f64> {
    let shared = lock.read.as_ref();
    let shared = shared
        .map_or_else(Nanoseconds::default, |read| read.hold.mean() * read.acquisitions as f64);
    lock.hold.mean() * lock.acquisitions as f64 + shared
}

/// How much each function says about where a lock is taken.
type Functions = BTreeMap<String, f64>;

#[derive(Debug, Clone)]
struct CallSite {
    name: String,
    shared: bool,
    functions: Functions,
}

/// The call sites at which a program takes locks, as one of its profiles has them.
#[derive(Debug, Clone)]
pub struct CallSites(Vec<CallSite>);

impl CallSites {
    /// Finds the call sites of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let mut sites: BTreeMap<(bool, Vec<String>), CallSite> = BTreeMap::new();
        for lock in locks(profile) {
            let callers = callers(lock);
            let Some(most) = callers.iter().max_by_key(|caller| caller.acquisitions) else {
                continue;
            };
            let key: Vec<String> = most.site.iter().take(2).map(named).collect();
            let shared = lock.family == Family::ReadWrite;
            let site = sites.entry((shared, key)).or_insert_with(|| CallSite {
                name: site_name(&most.site, shared),
                shared,
                functions: Functions::new(),
            });
            for (function, weight) in functions(&callers) {
                *site.functions.entry(function).or_default() += weight * lock.uses() as f64;
            }
        }
        let mut sites: Vec<CallSite> = sites.into_values().collect();
        for site in &mut sites {
            let all: f64 = site.functions.values().sum();
            site.functions.values_mut().for_each(|weight| *weight /= all.max(1.0));
        }
        let mut names: BTreeMap<String, u32> = BTreeMap::new();
        for site in &mut sites {
            let seen = names.entry(site.name.clone()).or_default();
            *seen += 1;
            if *seen > 1 {
                site.name = format!("{}, {seen}", site.name);
            }
        }
        Self(sites)
    }

    /// The name of a call site: the function that takes the lock there.
    #[must_use]
    pub fn name(&self, site: usize) -> &str {
        self.0.get(site).map_or("", |site| &site.name)
    }

    /// What a profile tells of the locks of each call site, by the number of the site. Locks that are
    /// taken elsewhere, or nobody knows where, are left out.
    #[must_use]
    pub fn taken(&self, profile: &Profile) -> BTreeMap<usize, LocksAtSite> {
        let mut taken: BTreeMap<usize, LocksAtSite> = BTreeMap::new();
        for lock in locks(profile) {
            if let Some(site) = self.site_of(lock) {
                taken.entry(site).or_default().add(lock);
            }
        }
        taken
    }

    /// The call site that has most in common with where a lock is taken.
    fn site_of(&self, lock: &Lock) -> Option<usize> {
        let functions = functions(&callers(lock));
        let shared = lock.family == Family::ReadWrite;
        let common = |site: &CallSite| -> f64 {
            let weight = |(function, weight): (&String, &f64)| {
                let there = site.functions.get(function).copied().unwrap_or(0.0);
                weight.min(there) / self.sites_with(function, shared)
            };
            functions.iter().map(weight).sum()
        };
        let same = self.0.iter().enumerate().filter(|(_, site)| site.shared == shared);
        let scored = same.map(|(index, site)| (index, common(site)));
        let (best, score) = scored.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (score > 0.0).then_some(best)
    }

    fn sites_with(&self, function: &str, shared: bool) -> f64 {
        let has = |site: &&CallSite| site.shared == shared && site.functions.contains_key(function);
        self.0.iter().filter(has).count().max(1) as f64
    }
}

fn locks(profile: &Profile) -> impl Iterator<Item = &Lock> {
    let processes = profile.runs.first().into_iter().flat_map(|run| &run.processes);
    processes.flat_map(|process| &process.locks)
}

/// Where a lock is taken, or else given back, or else what its site says.
fn callers(lock: &Lock) -> Vec<Caller> {
    let of = |callers: &[Caller]| -> Vec<Caller> {
        callers.iter().filter(|caller| !caller.site.is_empty()).cloned().collect()
    };
    let site = || Caller { site: lock.site.clone(), acquisitions: 1, ..Caller::default() };
    let ways = [of(&lock.callers), of(&lock.releases), of(&[site()])];
    ways.into_iter().find(|callers| !callers.is_empty()).unwrap_or_default()
}

/// The functions near where a lock is taken, each with its share.
fn functions(callers: &[Caller]) -> Functions {
    let all: f64 = callers.iter().map(|caller| caller.acquisitions.max(1) as f64).sum();
    let mut functions = Functions::new();
    for caller in callers {
        let near: BTreeSet<String> = caller.site.iter().take(FRAMES).map(named).collect();
        let each = caller.acquisitions.max(1) as f64 / all / near.len().max(1) as f64;
        for function in near {
            *functions.entry(function).or_default() += each;
        }
    }
    functions
}

/// A function, or the address of a call in a file if that has no name.
fn named(frame: &Frame) -> String {
    let file = frame.module.rsplit('/').next().unwrap_or_default();
    match frame.function.split_once('(') {
        Some((name, _)) if !name.is_empty() => name.to_owned(),
        _ if frame.function.is_empty() => format!("{file}+{:#x}", frame.offset),
        _ => frame.function.clone(),
    }
}

/// The innermost function that is no mere wrapper of a lock, by its name.
fn site_name(site: &[Frame], shared: bool) -> String {
    let names: Vec<String> = site.iter().take(FRAMES).map(named).collect();
    let wraps = |name: &&String| {
        let last = name.rsplit("::").next().unwrap_or_default().to_lowercase();
        !last.contains('+') && last.contains("lock")
    };
    let name = names.iter().find(|name| !wraps(name)).or(names.first());
    let name = name.cloned().unwrap_or_default();
    if shared { format!("{name} (read-write)") } else { name }
}
