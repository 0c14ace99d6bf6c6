//! Groups of locks, and how many times each is entered inside which.
//!
//! A section is an acquisition with what happens while the lock is held. If a thread takes `a` a
//! hundred times, and `b` twice in each hold of `a`, then `b` has two hundred uses, all of them
//! inside `a`, and no outermost section of its own.

use std::collections::BTreeMap;

use kilocore_lock_profile::{Family, Lock, Process};

use super::group::Group;
use super::phases::Phases;

/// Locks beyond these share in too little of the time to change a forecast.
const MOST_LOCKS: usize = 12;
/// If a lock's uses that are no part of a barrier are a smaller share than this, there are none: the
/// barrier's were not counted exactly.
const NOT_THE_BARRIER_S: f64 = 0.1;

/// For a group, the groups that are entered inside it, and the times for one entry of its own.
pub(super) type Inside = BTreeMap<usize, f64>;

/// The groups of locks of a process. The other fields have an entry for each group.
pub(super) struct Nesting<'a> {
    pub(super) groups: Vec<Group<'a>>,
    /// What is entered inside each group. There are no circles.
    pub(super) inside: Vec<Inside>,
    /// How many times each is entered inside none, in the run. A barrier's entries are left out.
    pub(super) outermost: Vec<f64>,
    /// How many times each is entered in a workload of as many sections as the run had. This is as
    /// often as in the run, without a barrier's entries.
    pub(super) entries: Vec<f64>,
    /// The group of the lock that barriers are made of.
    pub(super) barrier: Option<usize>,
}

impl<'a> Nesting<'a> {
    pub(super) fn of(process: &'a Process, phases: Option<&Phases>) -> Self {
        let groups = groups(process);
        let inside = without_circles(nestings(&groups));
        let barrier = phases.and_then(|phases| phases.lock).and_then(|lock| {
            groups.iter().position(|group| group.locks.iter().any(|of| of.id == lock))
        });
        let of_the_barrier = |group| match (barrier, phases) {
            (Some(barrier), Some(phases)) if barrier == group => phases.acquisitions() as f64,
            _ => 0.0,
        };
        let outermost: Vec<f64> = (0..groups.len())
            .map(|group| outermost(&groups, &inside, group, of_the_barrier(group)))
            .collect();
        let entries = entries(&inside, &outermost);
        Self { groups, inside, outermost, entries, barrier }
    }

    /// How many times a group is entered in a mode, as [`entries`](Self::entries) counts.
    pub(super) fn entries_in(&self, group: usize, shared: bool) -> f64 {
        self.entries[group] * self.groups[group].mode_share(shared)
    }
}

/// The locks by where they are created, those with most influence first.
fn groups(process: &Process) -> Vec<Group<'_>> {
    /// Module and offset of each frame.
    type Site<'a> = Vec<(&'a str, u64)>;
    let mut by_site: BTreeMap<(Family, Site<'_>), Vec<&Lock>> = BTreeMap::new();
    for lock in &process.locks {
        let site = lock.site.iter().map(|f| (f.module.as_str(), f.offset)).collect();
        by_site.entry((lock.family, site)).or_default().push(lock);
    }
    let mut groups: Vec<Group<'_>> = by_site.into_values().map(Group::new).collect();
    groups.retain(|group| group.uses() > 0);
    let influence = |group: &Group<'_>| group.held().0 + group.uses() as f64;
    groups.sort_by(|a, b| influence(b).total_cmp(&influence(a)));
    groups.truncate(MOST_LOCKS);
    groups
}

/// What the profile says of locks taken inside others.
fn nestings(groups: &[Group<'_>]) -> Vec<Inside> {
    let of_group = |(index, group): (usize, &Group<'_>)| {
        group.locks.iter().map(move |lock| (lock.id, index)).collect::<Vec<_>>()
    };
    let group_of: BTreeMap<u32, usize> = groups.iter().enumerate().flat_map(of_group).collect();
    let mut inside = vec![BTreeMap::new(); groups.len()];
    for (inner, group) in groups.iter().enumerate() {
        for nesting in group.locks.iter().flat_map(|lock| &lock.nested_in) {
            if let Some(&outer) = group_of.get(&nesting.outer).filter(|&&o| o != inner) {
                let entries = groups[outer].uses() as f64;
                *inside[outer].entry(inner).or_insert(0.0) += nesting.count as f64 / entries;
            }
        }
    }
    inside
}

/// The nestings without those that close a circle. Of each circle the rarest is left out.
///
/// Groups that nest in each other are taken in an order that the profile does not tell (by
/// address, or the second only if it is free). Sections that took them at random would deadlock.
fn without_circles(inside: Vec<Inside>) -> Vec<Inside> {
    let mut edges: Vec<(usize, usize, f64)> = Vec::new();
    for (outer, inner) in inside.iter().enumerate() {
        edges.extend(inner.iter().map(|(&inner, &times)| (outer, inner, times)));
    }
    edges.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut kept = vec![BTreeMap::new(); inside.len()];
    for (outer, inner, times) in edges {
        if !reaches(&kept, inner, outer) {
            kept[outer].insert(inner, times);
        }
    }
    kept
}

/// Whether `to` is entered somewhere inside `from`, or is the same.
fn reaches(inside: &[Inside], from: usize, to: usize) -> bool {
    from == to || inside[from].keys().any(|&next| reaches(inside, next, to))
}

/// How many of a group's uses are neither inside another group nor a part of a barrier.
fn outermost(groups: &[Group<'_>], inside: &[Inside], group: usize, of_the_barrier: f64) -> f64 {
    let uses = groups[group].uses() as f64;
    let times = |outer: usize| inside[outer].get(&group).copied().unwrap_or(0.0);
    let nested: f64 =
        (0..groups.len()).map(|outer| times(outer) * groups[outer].uses() as f64).sum();
    let outermost = (uses - nested - of_the_barrier).max(0.0);
    if of_the_barrier > 0.0 && outermost < NOT_THE_BARRIER_S * uses { 0.0 } else { outermost }
}

/// How many times each group is entered, by itself and inside others. `inside` has no circle.
fn entries(inside: &[Inside], outermost: &[f64]) -> Vec<f64> {
    let mut entries = outermost.to_vec();
    let mut last = outermost.to_vec();
    // Level by level: what is entered inside what was just entered.
    for _ in 0..inside.len() {
        let mut next = vec![0.0; inside.len()];
        for (outer, inner) in inside.iter().enumerate() {
            for (&inner, times) in inner {
                next[inner] += times * last[outer];
            }
        }
        entries.iter_mut().zip(&next).for_each(|(sum, more)| *sum += more);
        last = next;
    }
    entries
}
