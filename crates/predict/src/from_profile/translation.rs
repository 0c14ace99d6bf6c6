//! From groups of locks to sections, one inside another.

use std::collections::BTreeMap;

use kilocore_profile::{Family, Histogram, Lock, Process, Profile, Run};

use super::Profiled;
use super::conduct::Conduct;
use super::group::Group;
use super::migration::Migration;
use super::observed::observed;
use crate::Duration;
use crate::forecast::ForecastLock;
use crate::workload::{Inner, LockUse, Mode, Section, Workload};

/// Locks beyond these share in too little of the time to change a forecast.
const MOST_LOCKS: usize = 12;
/// The deepest nesting that is kept.
const DEEPEST: usize = 4;
/// The least share of a measured hold that is left when the moving of lines is taken off.
const LEAST_UNDISTURBED: f64 = 0.2;

/// Thinking that lasts this many times as long on several cores as on one does so for more reasons
/// than caches that are shared and clocks that vary.
const DISTURBED: f64 = 2.0;

pub(super) struct Translation<'a> {
    profile: &'a Profile,
    run: &'a Run,
    process: &'a Process,
    process_index: usize,
    groups: Vec<Group<'a>>,
    /// For each group, the times that each other is entered inside it for one entry.
    inside: Vec<BTreeMap<usize, f64>>,
    ghz: f64,
}

/// The nestings less those that close a circle, the rarest of each being left out.
///
/// Groups that nest in each other are taken in an order that the profile does not tell (by
/// address, or the second only if it is free); taken at random they would deadlock.
fn without_cycles(inside: Vec<BTreeMap<usize, f64>>) -> Vec<BTreeMap<usize, f64>> {
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
fn reaches(inside: &[BTreeMap<usize, f64>], from: usize, to: usize) -> bool {
    from == to || inside[from].keys().any(|&next| reaches(inside, next, to))
}

/// Means over all outermost sections.
struct PerSection {
    /// How many there were.
    outermost: u64,
    /// Sleep before each.
    asleep_ns: f64,
    /// Computing outside all recorded intervals.
    outside_ns: f64,
}

impl<'a> Translation<'a> {
    pub(super) fn new(profile: &'a Profile, run: &'a Run, process_index: usize) -> Self {
        let process = &run.processes[process_index];
        /// Module and offset of each frame.
        type Site<'a> = Vec<(&'a str, u64)>;
        let mut by_site: BTreeMap<(Family, Site<'_>), Vec<&Lock>> = BTreeMap::new();
        for lock in &process.locks {
            let site = lock.site.iter().map(|f| (f.module.as_str(), f.offset)).collect();
            by_site.entry((lock.family, site)).or_default().push(lock);
        }
        let mut groups: Vec<Group<'_>> = by_site.into_values().map(Group::new).collect();
        groups.retain(|group| group.uses() > 0);
        groups.sort_by(|a, b| {
            (b.held_ns() + b.uses() as f64).total_cmp(&(a.held_ns() + a.uses() as f64))
        });
        groups.truncate(MOST_LOCKS);
        let group_of: BTreeMap<u32, usize> = groups
            .iter()
            .enumerate()
            .flat_map(|(index, group)| group.locks.iter().map(move |lock| (lock.id, index)))
            .collect();
        let mut inside = vec![BTreeMap::new(); groups.len()];
        for (inner, group) in groups.iter().enumerate() {
            for nesting in group.locks.iter().flat_map(|lock| &lock.nested_in) {
                if let Some(&outer) = group_of.get(&nesting.outer).filter(|&&o| o != inner) {
                    let entries = groups[outer].uses() as f64;
                    *inside[outer].entry(inner).or_insert(0.0) += nesting.count as f64 / entries;
                }
            }
        }
        let inside = without_cycles(inside);
        let ghz = profile.host.clock_ghz;
        Self { profile, run, process, process_index, groups, inside, ghz }
    }

    pub(super) fn workload(&self, mut assumptions: Vec<String>) -> Profiled {
        let known: Vec<Option<Migration>> = self
            .groups
            .iter()
            .map(|group| Migration::of(self.profile, self.process_index, group))
            .collect();
        let unknown = self
            .groups
            .iter()
            .zip(&known)
            .filter(|(group, known)| known.is_none() && group.exclusive >= group.shared);
        let unknown = unknown.count();
        if unknown > 0 {
            assumptions.push(format!(
                "For {unknown} of {} locks or groups of locks the profile does not tell how many \
                 lines of data move with them (that takes a second, confined run, and enough \
                 handovers between cores): one line is assumed, and none to four for the band.",
                known.len()
            ));
        }
        let migrations: Vec<Migration> =
            known.into_iter().map(|known| known.unwrap_or(Migration::UNKNOWN)).collect();
        let outermost: u64 = self.groups.iter().map(Group::outermost).sum::<u64>().max(1);
        let threads = &self.process.threads;
        let conduct = Conduct::new(self.run, self.process, &self.groups);
        let thinking = self.undisturbed_think();
        let disturbed = threads.think.mean_ns() / thinking.mean_ns().max(f64::MIN_POSITIVE);
        let between = thinking.mean_ns() * threads.think.count as f64;
        let think_ns = (between + conduct.outside_ns) / outermost as f64;
        if disturbed > DISTURBED {
            assumptions.push(format!(
                "Between locks threads took {disturbed:.1} times as long on {} cores as on one: \
                 they get into one another's way there, at something that is no pthread lock (a \
                 counter, an allocator, a random-number generator). The time on one core is taken, \
                 so that the forecast lacks this limit and is too high.",
                self.run.cores
            ));
        }
        if conduct.outside_ns > 0.0 {
            assumptions.push(format!(
                "{:.0} % of the processor time was spent before a thread's first lock, after its \
                 last, or in threads that took none; it is spread evenly over the {outermost} \
                 sections.",
                conduct.outside_share * 100.0
            ));
        }
        let asleep_ns = self.asleep_ns(outermost, &mut assumptions);
        assumptions.push(format!(
            "A cycle of the host ({:.2} GHz) is taken for a cycle of the target: instructions per \
             cycle and cache sizes may differ.",
            self.ghz
        ));
        assumptions.push(
            "Work between locks is taken to run on every core as fast as on one: memory bandwidth \
             and serial phases are not forecast."
                .to_owned(),
        );
        let per_section =
            PerSection { outermost, asleep_ns, outside_ns: conduct.outside_ns / outermost as f64 };
        let build = |place: usize| self.build(&migrations, place, &per_section);
        Profiled {
            workload: build(1),
            bounds: [build(0), build(2)],
            locks: self.forecast_locks(&migrations),
            think_ns,
            asleep_ns,
            threads: threads.locking,
            conduct,
            assumptions,
        }
    }

    /// The workload with the lower (0), likely (1) or upper (2) estimate of migrating lines.
    fn build(&self, migrations: &[Migration], place: usize, per_section: &PerSection) -> Workload {
        let outermost = per_section.outermost;
        let sections = (0..self.groups.len())
            .filter(|&group| self.groups[group].outermost() > 0)
            .flat_map(|group| self.sections(group, migrations, place, outermost))
            .collect();
        let busiest = Group::busiest(&self.groups);
        let locks = self.groups.iter().map(|group| LockUse {
            instances: if group.per_thread(busiest) { 1 } else { group.effective_instances() },
            per_thread: group.per_thread(busiest),
            read_write: group.locks[0].family == Family::ReadWrite,
            kept: None,
        });
        let think = self.undisturbed_think();
        // The histogram counts intervals; a section may be preceded by none.
        let intervals = (self.process.threads.think.count as f64 / outermost as f64).min(1.0);
        let between = observed(think, self.ghz).scaled(intervals);
        let think = if per_section.outside_ns > 0.0 {
            // Nothing is known of how it varies.
            Duration::Exponential(between.mean() + per_section.outside_ns * self.ghz)
        } else {
            between
        };
        Workload {
            think,
            asleep: per_section.asleep_ns * self.ghz,
            memory: None,
            locks: locks.collect(),
            sections,
        }
    }

    /// Thinking as it is with nobody else there: that of the confined run, if threads get into one
    /// another's way between locks, too.
    fn undisturbed_think(&self) -> &Histogram {
        let think = &self.process.threads.think;
        let confined = self.profile.runs.iter().skip(1).find(|run| run.cores == 1);
        let alone = confined
            .filter(|_| self.run.cores > 1)
            .into_iter()
            .flat_map(|run| &run.processes)
            .filter(|process| process.executable == self.process.executable)
            .map(|process| &process.threads.think)
            .max_by_key(|think| think.count);
        let disturbed = |alone: &&Histogram| think.mean_ns() > DISTURBED * alone.mean_ns();
        alone.filter(|alone| alone.count > 0).filter(disturbed).unwrap_or(think)
    }

    /// The outermost sections of a group: one for each mode that it is used in.
    fn sections(
        &self,
        group: usize,
        migrations: &[Migration],
        place: usize,
        outermost: u64,
    ) -> Vec<(f64, Section)> {
        let of = &self.groups[group];
        let share = of.outermost() as f64 / outermost as f64;
        [(Mode::Exclusive, of.exclusive), (Mode::Shared, of.shared)]
            .into_iter()
            .filter(|(_, uses)| *uses > 0)
            .map(|(mode, uses)| {
                let mode_share = uses as f64 / of.uses() as f64;
                (share * mode_share, self.section(group, mode, migrations, place, DEEPEST))
            })
            .collect()
    }

    fn section(
        &self,
        group: usize,
        mode: Mode,
        migrations: &[Migration],
        place: usize,
        depth: usize,
    ) -> Section {
        let of = &self.groups[group];
        let hold = if mode == Mode::Exclusive { &of.hold } else { &of.read_hold };
        let inner = if depth == 0 { None } else { Some(&self.inside[group]) };
        let inner = inner.into_iter().flatten().flat_map(|(&inside, &times)| {
            let inside_of = &self.groups[inside];
            [(Mode::Exclusive, inside_of.exclusive), (Mode::Shared, inside_of.shared)]
                .into_iter()
                .filter(|(_, uses)| *uses > 0)
                .map(move |(mode, uses)| Inner {
                    times: times * uses as f64 / inside_of.uses() as f64,
                    section: self.section(inside, mode, migrations, place, depth - 1),
                })
        });
        Section {
            lock: group,
            mode,
            hold: self.undisturbed(hold, mode, &migrations[group]),
            lines: if mode == Mode::Exclusive { migrations[group].lines[place] } else { 0.0 },
            inner: inner.collect(),
        }
    }

    /// A hold as it would be on one core with nobody else there: less the time that lines took to
    /// move while it was measured on several.
    fn undisturbed(&self, hold: &Histogram, mode: Mode, migration: &Migration) -> Duration {
        let measured = observed(hold, self.ghz);
        let mean = measured.mean() / self.ghz;
        if mode == Mode::Shared || mean <= 0.0 {
            return measured;
        }
        measured.scaled((1.0 - migration.extra_ns / mean).max(LEAST_UNDISTURBED))
    }

    /// Sleep between sections, as far as threads slept by their own will.
    fn asleep_ns(&self, outermost: u64, assumptions: &mut Vec<String>) -> f64 {
        let threads = &self.process.threads;
        let asleep = threads.think_asleep_ns;
        let capacity = self.run.wall_ns * f64::from(self.run.cores);
        let busy = (threads.cpu_ns / capacity).clamp(0.0, 1.0);
        let mean = asleep * (1.0 - busy) / outermost as f64;
        if asleep > 0.0 && threads.peak > u64::from(self.run.cores) {
            assumptions.push(format!(
                "{} threads shared {} cores while profiled, so part of the time they did not run \
                 was spent waiting for a core: {:.0} % of it, the share of the cores that was \
                 busy, is left out.",
                threads.peak,
                self.run.cores,
                busy * 100.0
            ));
        }
        mean
    }

    fn forecast_locks(&self, migrations: &[Migration]) -> Vec<ForecastLock> {
        let busy = self.process.threads.cpu_ns.max(1.0);
        let describe = |(group, migration): (&Group<'_>, &Migration)| ForecastLock {
            place: group.place(),
            site: group.locks[0].site.iter().map(ToString::to_string).collect(),
            // `own_locks` completes these.
            acquired_at: Vec::new(),
            left_alone: None,
            family: match group.locks[0].family {
                Family::Mutex => "mutex",
                Family::ReadWrite => "read-write",
                Family::Spin => "spin",
            },
            instances: group.locks.len() as u32,
            effective_instances: group.effective_instances(),
            acquisitions: group.exclusive,
            shared_acquisitions: group.shared,
            contended_share: group.contended as f64 / group.uses() as f64,
            hold_ns: group.usual_hold().mean_ns(),
            exclusive_hold_ns: group.hold.mean_ns(),
            wait_ns: group.wait.mean_ns(),
            lines_low: migration.lines[0],
            lines: migration.lines[1],
            lines_high: migration.lines[2],
            lines_assumed: migration.assumed,
            held_share: group.held_ns() / busy,
        };
        self.groups.iter().zip(migrations).map(describe).collect()
    }
}
