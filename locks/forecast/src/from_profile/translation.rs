//! How a profile becomes a workload.
//!
//! The run had so many outermost sections, in which the locks were taken. The workload is the mean
//! of what a thread did for one of them: it thinks, it sleeps, and it enters one of the sections. As
//! many sections as the run had then compute as long as the run did, less what the simulation adds
//! anew.
//!
//! The profile leaves two things open: how many lines of data move with a lock, and how much of the
//! computing is serial. So three workloads are made: one with the likely values, one with the lower,
//! and one with the upper.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Family, Process, Profile, Run};
use kilocore_locks::RwLockId;

use super::alone;
use super::around_locks;
use super::assumed;
use super::busy::Busy;
use super::conduct::{Conduct, serial_time};
use super::described::described;
use super::group::Group;
use super::migration::Migration;
use super::nesting::Nesting;
use super::phases::Phases;
use super::polling;
use super::profiled::Profiled;
use super::unequal;
use crate::Duration;
use crate::forecast_lock::LinesSource;
use crate::workload::{Barriers, Inner, LockUse, Mode, Section, Workload};

/// What one process of a run did, on its way to a workload.
pub(super) struct Translation<'a> {
    profile: &'a Profile,
    run: &'a Run,
    process: &'a Process,
    process_index: usize,
    nesting: Nesting<'a>,
    phases: Option<Phases>,
    /// Cycles of the host in a nanosecond.
    ghz: f64,
}

/// What is known of the groups' computing and of the data that moves with them.
struct GroupEstimates<'a> {
    busy: &'a Busy,
    migrations: &'a [Migration],
    asleep: Nanoseconds<f64>,
}

/// One of the three workloads that are made of a profile.
#[derive(Debug, Clone, Copy)]
struct Variant {
    /// Which estimate of migrating lines it takes: the lower (0), the likely (1) or the upper (2).
    lines: usize,
    /// The time that is taken to be serial, over the whole run.
    serial: Nanoseconds<f64>,
}

impl<'a> Translation<'a> {
    pub(super) fn new(profile: &'a Profile, run: &'a Run, process_index: usize) -> Self {
        let process = &run.processes[process_index];
        let phases = Phases::of(process).0;
        let nesting = Nesting::of(process, phases.as_ref());
        let ghz = profile.host.clock_ghz;
        Self { profile, run, process, process_index, nesting, phases, ghz }
    }

    /// Makes the workloads. What has to be assumed is appended to `assumptions`.
    pub(super) fn workload(&self, mut assumptions: Vec<String>) -> Profiled {
        let groups = &self.nesting.groups;
        let migrations = self.migrations(&mut assumptions);
        let confined = alone::confined(self.profile, self.run, self.process);
        let undisturbed = confined.and_then(|one| alone::undisturbed(self.process, one));
        let mut busy = Busy::new(self.process, groups, &migrations, undisturbed, confined);
        let [serial, at_most] = serial_time(self.profile, self.run, self.process, groups)
            .map(|serial| busy.serial(serial));
        busy.time.serial = serial;
        let conduct = Conduct { time: busy.time, ..Conduct::new(self.run, self.process, groups) };
        if let Some(undisturbed) = undisturbed {
            let times = self.process.threads.think.mean() / undisturbed.mean();
            assumptions.push(assumed::undisturbed(times, self.run.cores));
        }
        let sections = self.sections_of_run();
        assumptions.extend(assumed::processor_time(&busy.time, sections));
        assumptions.extend(self.phases.as_ref().map(assumed::rounds));
        assumptions.extend(assumed::target_as_host(self.ghz));
        let asleep = self.asleep(&mut assumptions);
        let known = GroupEstimates { busy: &busy, migrations: &migrations, asleep };
        let build = |lines, serial| self.build(&known, Variant { lines, serial });
        let (think, outside) = busy.parallel(serial);
        Profiled {
            workload: build(1, serial),
            bounds: [build(0, serial / 2.0), build(2, at_most)],
            locks: described(groups, &busy, &migrations, self.process.threads.cpu_time),
            sections,
            think: (think.time() + outside) / sections,
            asleep,
            threads: self.process.threads.locking,
            conduct,
            assumptions,
        }
    }

    /// The lines of data that move with each group.
    fn migrations(&self, assumptions: &mut Vec<String>) -> Vec<Migration> {
        let groups = &self.nesting.groups;
        let known: Vec<Option<Migration>> = groups
            .iter()
            .map(|group| Migration::of(self.profile, self.process_index, group))
            .collect();
        let is_traced = |known: &&Migration| known.source == LinesSource::Traced;
        let traced = known.iter().flatten().filter(is_traced).count();
        if traced > 0 {
            assumptions.push(assumed::lines_traced(traced, groups.len()));
        }
        let matters = |group: &Group<'_>| group.exclusive >= group.shared;
        let unknown =
            groups.iter().zip(&known).filter(|(group, known)| known.is_none() && matters(group));
        let unknown = unknown.count();
        if unknown > 0 {
            assumptions.push(assumed::lines_of_data(unknown, groups.len()));
        }
        known.into_iter().map(|known| known.unwrap_or(Migration::UNKNOWN)).collect()
    }

    /// How many outermost sections the run had. If a program takes locks in barriers only, the part
    /// of a round that one thread does counts as a section.
    fn sections_of_run(&self) -> f64 {
        let sections: f64 = self.nesting.outermost.iter().sum();
        let parts = self.phases.map_or(1.0, |phases| phases.rounds * phases.parties);
        if sections > 0.0 { sections } else { parts }
    }

    /// Sleep for each section, as far as threads slept by their own will.
    fn asleep(&self, assumptions: &mut Vec<String>) -> Nanoseconds<f64> {
        let threads = &self.process.threads;
        let held_asleep: Nanoseconds<f64> =
            self.nesting.groups.iter().map(|of| of.hold_asleep + of.read_asleep).sum();
        let asleep = threads.think_asleep + held_asleep;
        if asleep > Nanoseconds(0.0) && threads.peak > u64::from(self.run.cores) {
            let share = 1.0 - self.off_duty();
            assumptions.push(assumed::waiting_for_cores(threads.peak, self.run.cores, share));
        }
        threads.think_asleep * self.off_duty() / self.sections_of_run()
    }

    /// The share, from 0 to 1, of the time in which threads did not run that is no waiting for a core. With cores
    /// of their own they would still not run for so long.
    ///
    /// A core that another program has is as busy as one that this program has.
    fn off_duty(&self) -> f64 {
        let wall = self.run.wall_time.max(Nanoseconds(1.0));
        let others = self.run.interference.map_or(0.0, |of| of.cores(wall));
        let busy = self.process.threads.cpu_time / wall + others;
        1.0 - (busy / f64::from(self.run.cores.max(1))).clamp(0.0, 1.0)
    }

    fn build(&self, known: &GroupEstimates<'_>, variant: Variant) -> Workload {
        let all = self.sections_of_run();
        let mut workload = Workload {
            think: self.think(known.busy, variant.serial),
            asleep: known.asleep.0 * self.ghz,
            memory: None,
            serial: (variant.serial / all).0 * self.ghz,
            barriers: None,
            locks: self.locks(),
            sections: self.outermost_sections(known, variant.lines),
        };
        workload.barriers = self.phases.map(|phases| self.barriers(&phases, &workload));
        workload
    }

    /// What a thread computes for each section outside of locks. What is not known to lie between
    /// two sections is spread evenly over all of them.
    fn think(&self, busy: &Busy, serial: Nanoseconds<f64>) -> Duration {
        let all = self.sections_of_run();
        let (think, outside) = busy.parallel(serial);
        let between = (think.time() + outside + self.unentered(busy)) / all;
        if think.time() <= outside {
            // Nothing is known of how it varies.
            Duration::Exponential(between.0 * self.ghz)
        } else {
            think.duration(all, self.ghz).lasting(between.0 * self.ghz)
        }
    }

    /// What is computed under locks that no section enters, such as those of barriers.
    fn unentered(&self, busy: &Busy) -> Nanoseconds<f64> {
        let groups = 0..self.nesting.groups.len();
        let modes = groups.flat_map(|group| [(group, false), (group, true)]);
        modes
            .filter(|&(group, shared)| self.nesting.entries_in(group, shared) <= 0.0)
            .map(|(group, shared)| busy.hold(group, shared).time())
            .sum()
    }

    /// Whether threads take locks while they work. A thread that takes nearly all of them before others begin to work
    /// is not one that does nearly all the work.
    fn is_around_locks(&self) -> bool {
        /// The share of the processor time under locks and between two of them.
        const MOST: f64 = 0.5;
        around_locks::share(self.process).is_none_or(|share| share >= MOST)
    }

    fn locks(&self) -> Vec<LockUse> {
        let groups = &self.nesting.groups;
        let busiest = Group::busiest(groups).filter(|_| self.is_around_locks());
        let lock = |group: &Group<'_>| {
            let per_thread = group.per_thread(busiest);
            let (instances, hot) = unequal::classes(&group.locks);
            LockUse {
                instances: if per_thread { 1 } else { instances },
                hot: hot.filter(|_| !per_thread),
                per_thread,
                read_write: (group.locks[0].family == Family::ReadWrite)
                    .then_some(RwLockId::CentralRw),
                kept: None,
            }
        };
        groups.iter().map(lock).collect()
    }

    /// The sections that are inside no other, each with its share of all of them.
    fn outermost_sections(&self, known: &GroupEstimates<'_>, lines: usize) -> Vec<(f64, Section)> {
        let mut sections = Vec::new();
        for (group, &outermost) in self.nesting.outermost.iter().enumerate() {
            if outermost > 0.0 {
                let share = outermost / self.sections_of_run();
                let used = modes(&self.nesting.groups[group]);
                sections.extend(used.map(|(mode, of_group)| {
                    (share * of_group, self.section(group, mode, known, lines))
                }));
            }
        }
        sections
    }

    /// An acquisition of a group's lock, with the sections inside it.
    fn section(
        &self,
        group: usize,
        mode: Mode,
        known: &GroupEstimates<'_>,
        lines: usize,
    ) -> Section {
        let of = &self.nesting.groups[group];
        let inner = self.nesting.inside[group].iter().flat_map(|(&inside, &times)| {
            modes(&self.nesting.groups[inside]).map(move |(mode, of_group)| Inner {
                times: times * of_group,
                section: self.section(inside, mode, known, lines),
            })
        });
        let shared = mode == Mode::Shared;
        let entries = self.nesting.entries_in(group, shared);
        let asleep = if shared { of.read_asleep } else { of.hold_asleep };
        let hold = known.busy.hold(group, shared).duration(entries, self.ghz);
        Section {
            lock: group,
            mode,
            polled: polling::between(&of.locks, &hold, self.run, self.process.threads.locking),
            hold,
            asleep: asleep.0 * self.off_duty() / entries.max(1.0) * self.ghz,
            lines: if shared { 0.0 } else { known.migrations[group].lines[lines] },
            inner: inner.collect(),
        }
    }

    /// The rounds that end in barriers, for a workload that is complete but for them.
    fn barriers(&self, phases: &Phases, workload: &Workload) -> Barriers {
        let sections = self.sections_of_run() / phases.rounds;
        let busy = workload.busy() - workload.serial;
        // What a thread does in a round is a sum of so many sections.
        let part = workload.think.mean() / busy.max(f64::MIN_POSITIVE);
        let of_a_thread = (sections / phases.parties).max(1.0);
        let by_chance = (workload.think.relative_variance() / of_a_thread).sqrt() * part;
        let computed = Nanoseconds(busy * self.sections_of_run() / self.ghz);
        Barriers {
            sections,
            imbalance: phases.imbalance(self.run.cores, computed, by_chance),
            lock: self.nesting.barrier,
        }
    }
}

/// The modes in which a group is used, each with its share of the uses.
fn modes(group: &Group<'_>) -> impl Iterator<Item = (Mode, f64)> + use<> {
    let shares =
        [(Mode::Exclusive, group.mode_share(false)), (Mode::Shared, group.mode_share(true))];
    shares.into_iter().filter(|(_, share)| *share > 0.0)
}
