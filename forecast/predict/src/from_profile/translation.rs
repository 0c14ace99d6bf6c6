//! From groups of locks to sections, one inside another.

use std::collections::BTreeMap;

use kilocore_lock_profile::{Family, Histogram, Lock, Process, Profile, Run};

use super::busy::{Busy, uses};
use super::conduct::{Conduct, serial_ns};
use super::group::Group;
use super::migration::Migration;
use super::phases::Phases;
use super::profiled::{Profiled, SERIAL};
use crate::Duration;
use crate::forecast_lock::ForecastLock;
use crate::workload::{Barriers, Inner, LockUse, Mode, Section, Workload};

/// Locks beyond these share in too little of the time to change a forecast.
const MOST_LOCKS: usize = 12;
/// Thinking that lasts this many times as long on several cores as on one does so for more reasons
/// than caches that are shared and clocks that vary.
const DISTURBED: f64 = 2.0;
/// The part of what thinking takes longer that processor time has to show.
const MOST: f64 = 0.5;
/// The share of a lock's uses that are none of a barrier's, from which they count.
const NOT_THE_BARRIER_S: f64 = 0.1;
/// The share of the processor time from which a part of it is worth a word.
const WORTH_A_WORD: f64 = 0.1;

pub(super) struct Translation<'a> {
    profile: &'a Profile,
    run: &'a Run,
    process: &'a Process,
    process_index: usize,
    groups: Vec<Group<'a>>,
    /// For each group, the times that each other is entered inside it for one entry.
    inside: Vec<BTreeMap<usize, f64>>,
    /// For each group, how many times it is entered inside none.
    outermost: Vec<f64>,
    /// How many times it is entered in the workload for as many sections as the run had: as often
    /// as in the run, but for what a barrier does.
    entries: Vec<f64>,
    phases: Option<Phases>,
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

/// How many times each group is entered, by itself and inside others, that not being in a circle.
fn entries(inside: &[BTreeMap<usize, f64>], outermost: &[f64]) -> Vec<f64> {
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

/// One of the three workloads that are made of a profile.
#[derive(Debug, Clone, Copy)]
struct Variant {
    /// Which estimate of migrating lines it takes: the lower (0), the likely (1) or the upper (2).
    lines: usize,
    /// Its serial part, in nanoseconds.
    serial_ns: f64,
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
        let phases = Phases::of(process).0;
        let mut made = Self {
            profile,
            run,
            process,
            process_index,
            groups,
            inside,
            outermost: Vec::new(),
            entries: Vec::new(),
            phases,
            ghz,
        };
        made.outermost = (0..made.groups.len()).map(|group| made.outermost(group)).collect();
        made.entries = entries(&made.inside, &made.outermost);
        made
    }

    /// How many times a group is entered inside none, and not as a part of a barrier.
    fn outermost(&self, group: usize) -> f64 {
        let uses = self.groups[group].uses() as f64;
        let times = |outer: usize| self.inside[outer].get(&group).copied().unwrap_or(0.0);
        let nested: f64 = (0..self.groups.len())
            .map(|outer| times(outer) * self.groups[outer].uses() as f64)
            .sum();
        let barrier_s = if self.barrier_group() == Some(group) {
            self.phases.map_or(0.0, |phases| phases.acquisitions() as f64)
        } else {
            0.0
        };
        let outermost = (uses - nested - barrier_s).max(0.0);
        if barrier_s > 0.0 && outermost < NOT_THE_BARRIER_S * uses { 0.0 } else { outermost }
    }

    /// The group of the lock that barriers are made of.
    fn barrier_group(&self) -> Option<usize> {
        let lock = self.phases?.lock?;
        self.groups.iter().position(|group| group.locks.iter().any(|of| of.id == lock))
    }

    /// Outermost sections of the run or, if there are none, parts of a round, as many as there were
    /// threads at its barrier.
    fn sections_of_run(&self) -> f64 {
        let sections: f64 = self.outermost.iter().sum();
        let parts = self.phases.map_or(1.0, |phases| phases.rounds * phases.parties);
        if sections > 0.0 { sections } else { parts }
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
        let threads = &self.process.threads;
        let mut busy =
            Busy::new(self.process, &self.groups, &migrations, self.alone(), self.confined());
        let [serial, at_most] = serial_ns(self.profile, self.run, self.process, &self.groups)
            .map(|serial_ns| busy.serial(serial_ns));
        busy.time.serial_ns = serial;
        let conduct =
            Conduct { time: busy.time, ..Conduct::new(self.run, self.process, &self.groups) };
        self.assume(&conduct, &mut assumptions);
        let asleep_ns = self.asleep_ns(&mut assumptions);
        let variant = |lines, serial_ns| Variant { lines, serial_ns };
        let build = |variant| self.build(&busy, &migrations, variant, asleep_ns);
        let (think, outside_ns) = busy.parallel(serial);
        Profiled {
            workload: build(variant(1, serial)),
            bounds: [build(variant(0, serial / 2.0)), build(variant(2, at_most))],
            locks: self.forecast_locks(&busy, &migrations),
            sections: self.sections_of_run(),
            think_ns: (think.time() + outside_ns) / self.sections_of_run(),
            asleep_ns,
            threads: threads.locking,
            conduct,
            assumptions,
        }
    }

    /// Says what has to be assumed of the processor time.
    fn assume(&self, conduct: &Conduct, assumptions: &mut Vec<String>) {
        let time = &conduct.time;
        let percent = |ns: f64| ns / time.all_ns.max(1.0) * 100.0;
        if let Some(alone) = self.alone() {
            assumptions.push(format!(
                "Between locks threads took {:.1} times as long on {} cores as on one: \
                 they get into one another's way there, at something that is no pthread lock (a \
                 counter, an allocator, a random-number generator). The time on one core is taken, \
                 so that the forecast lacks this limit and is too high.",
                self.process.threads.think.mean_ns() / alone.mean_ns(),
                self.run.cores
            ));
        }
        if time.not_running_ns > 0.0 {
            assumptions.push(format!(
                "Holds of locks lasted {:.0} % of the processor time longer by the clock than \
                 there was processor time for: their holders slept in them, or had lost their \
                 cores. That much is left out of the longest holds.",
                percent(time.not_running_ns)
            ));
        }
        if time.outside_ns > WORTH_A_WORD * time.all_ns {
            assumptions.push(format!(
                "{:.0} % of the processor time was spent before a thread's first lock, after its \
                 last, or in threads that took none; what of it is not serial is spread evenly \
                 over the {:.0} sections.",
                percent(time.outside_ns),
                self.sections_of_run()
            ));
        }
        if time.serial_ns > 0.0 {
            assumptions.push(format!(
                "{:.1} % {SERIAL}: that long one thread computed \
                 while other cores were unused, and neither locks nor conditions nor sleep say \
                 why. No core divides it.",
                time.serial_share() * 100.0
            ));
        }
        if let Some(phases) = &self.phases {
            assumptions.push(format!(
                "The program is taken to work in rounds that end in a barrier, {:.0} of them while \
                 profiled, with as much work in each however many threads divide it.",
                phases.rounds
            ));
        }
        assumptions.push(format!(
            "A cycle of the host ({:.2} GHz) is taken for a cycle of the target: instructions per \
             cycle and cache sizes may differ.",
            self.ghz
        ));
        assumptions.push(
            "Work between locks is taken to run on every core as fast as on one: memory bandwidth \
             is not forecast."
                .to_owned(),
        );
    }

    fn build(
        &self,
        busy: &Busy,
        migrations: &[Migration],
        variant: Variant,
        asleep_ns: f64,
    ) -> Workload {
        let all = self.sections_of_run();
        let sections: Vec<(f64, Section)> = (0..self.groups.len())
            .filter(|&group| self.outermost[group] > 0.0)
            .flat_map(|group| self.sections(group, busy, migrations, variant.lines))
            .collect();
        let busiest = Group::busiest(&self.groups);
        let locks = self.groups.iter().map(|group| LockUse {
            instances: if group.per_thread(busiest) { 1 } else { group.effective_instances() },
            per_thread: group.per_thread(busiest),
            read_write: group.locks[0].family == Family::ReadWrite,
            kept: None,
        });
        let (think, outside_ns) = busy.parallel(variant.serial_ns);
        let between_ns = think.time() + outside_ns + self.unentered_ns(busy);
        let think = if think.time() <= outside_ns {
            // Nothing is known of how it varies.
            Duration::Exponential(between_ns / all * self.ghz)
        } else {
            think.duration(all, self.ghz).lasting(between_ns / all * self.ghz)
        };
        let mut workload = Workload {
            think,
            asleep: asleep_ns * self.ghz,
            memory: None,
            serial: variant.serial_ns / all * self.ghz,
            barriers: None,
            locks: locks.collect(),
            sections,
        };
        workload.barriers = self.phases.map(|phases| self.barriers(&phases, &workload));
        workload
    }

    /// What is computed under locks that no section enters, as those of barriers.
    fn unentered_ns(&self, busy: &Busy) -> f64 {
        let modes = (0..self.groups.len()).flat_map(|group| [(group, false), (group, true)]);
        modes
            .filter(|&(group, shared)| self.entries_in(group, shared) <= 0.0)
            .map(|(group, shared)| busy.hold(group, shared).time())
            .sum()
    }

    fn entries_in(&self, group: usize, shared: bool) -> f64 {
        self.entries[group] * self.groups[group].mode_share(shared)
    }

    fn barriers(&self, phases: &Phases, workload: &Workload) -> Barriers {
        let sections = self.sections_of_run() / phases.rounds;
        let busy = workload.busy() - workload.serial;
        // What a thread does in a round is a sum of so many sections.
        let part = workload.think.mean() / busy.max(f64::MIN_POSITIVE);
        let of_a_thread = (sections / phases.parties).max(1.0);
        let by_chance = (workload.think.relative_variance() / of_a_thread).sqrt() * part;
        let busy_ns = busy * self.sections_of_run() / self.ghz;
        Barriers {
            sections,
            imbalance: phases.imbalance(self.run.cores, busy_ns, by_chance),
            lock: self.barrier_group(),
        }
    }

    /// The same program confined to one core, if this run is on more and there was another.
    fn confined(&self) -> Option<&'a Process> {
        let confined = self.profile.runs.iter().skip(1).find(|run| run.cores == 1);
        confined
            .filter(|_| self.run.cores > 1)
            .into_iter()
            .flat_map(|run| &run.processes)
            .filter(|process| process.executable == self.process.executable)
            .max_by_key(|process| process.threads.think.count)
    }

    /// Thinking as it is with nobody else there, that of the confined run, if threads get into one
    /// another's way between locks.
    fn alone(&self) -> Option<&'a Histogram> {
        let confined = self.confined()?;
        let (think, alone) = (&self.process.threads.think, &confined.threads.think);
        // Thinking is sampled, and where a few times are long the means of two runs differ for
        // that. Processor time is exact: it has to have grown as well.
        let longer = (think.mean_ns() - alone.mean_ns()) * think.count as f64;
        let scale = uses(self.process) / uses(confined).max(1.0);
        let more = self.process.threads.cpu_ns - confined.threads.cpu_ns * scale;
        let disturbed = think.mean_ns() > DISTURBED * alone.mean_ns() && more > MOST * longer;
        (alone.count > 0 && disturbed).then_some(alone)
    }

    /// The outermost sections of a group: one for each mode that it is used in.
    fn sections(
        &self,
        group: usize,
        busy: &Busy,
        migrations: &[Migration],
        lines: usize,
    ) -> Vec<(f64, Section)> {
        let of = &self.groups[group];
        let share = self.outermost[group] / self.sections_of_run();
        [(Mode::Exclusive, of.exclusive), (Mode::Shared, of.shared)]
            .into_iter()
            .filter(|(_, uses)| *uses > 0)
            .map(|(mode, uses)| {
                let mode_share = uses as f64 / of.uses() as f64;
                (share * mode_share, self.section(group, mode, busy, migrations, lines))
            })
            .collect()
    }

    fn section(
        &self,
        group: usize,
        mode: Mode,
        busy: &Busy,
        migrations: &[Migration],
        lines: usize,
    ) -> Section {
        let of = &self.groups[group];
        let inner = self.inside[group].iter().flat_map(|(&inside, &times)| {
            let inside_of = &self.groups[inside];
            [(Mode::Exclusive, inside_of.exclusive), (Mode::Shared, inside_of.shared)]
                .into_iter()
                .filter(|(_, uses)| *uses > 0)
                .map(move |(mode, uses)| Inner {
                    times: times * uses as f64 / inside_of.uses() as f64,
                    section: self.section(inside, mode, busy, migrations, lines),
                })
        });
        let shared = mode == Mode::Shared;
        let entries = self.entries_in(group, shared);
        let asleep_ns = if shared { of.read_asleep_ns } else { of.hold_asleep_ns };
        Section {
            lock: group,
            mode,
            hold: busy.hold(group, shared).duration(entries, self.ghz),
            asleep: self.off_duty(asleep_ns) / entries.max(1.0) * self.ghz,
            lines: if shared { 0.0 } else { migrations[group].lines[lines] },
            inner: inner.collect(),
        }
    }

    /// Sleep between sections, as far as threads slept by their own will.
    fn asleep_ns(&self, assumptions: &mut Vec<String>) -> f64 {
        let threads = &self.process.threads;
        let held_asleep: f64 =
            self.groups.iter().map(|of| of.hold_asleep_ns + of.read_asleep_ns).sum();
        let asleep = threads.think_asleep_ns + held_asleep;
        if asleep > 0.0 && threads.peak > u64::from(self.run.cores) {
            assumptions.push(format!(
                "{} threads shared {} cores while profiled, so part of the time they did not run \
                 was spent waiting for a core: {:.0} % of it, the share of the cores that was \
                 busy, is left out.",
                threads.peak,
                self.run.cores,
                (1.0 - self.off_duty(1.0)) * 100.0
            ));
        }
        self.off_duty(threads.think_asleep_ns) / self.sections_of_run()
    }

    /// What of the time that threads did not run they would not run on cores of their own either.
    fn off_duty(&self, asleep_ns: f64) -> f64 {
        let capacity = self.run.wall_ns * f64::from(self.run.cores);
        let busy = (self.process.threads.cpu_ns / capacity.max(1.0)).clamp(0.0, 1.0);
        asleep_ns * (1.0 - busy)
    }

    fn forecast_locks(&self, busy: &Busy, migrations: &[Migration]) -> Vec<ForecastLock> {
        let all = self.process.threads.cpu_ns.max(1.0);
        let mean = |index: usize, shared: bool| {
            let hold = busy.hold(index, shared);
            hold.time() / hold.count().max(1.0)
        };
        let describe =
            |(index, (group, migration)): (usize, (&Group<'_>, &Migration))| ForecastLock {
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
                hold_ns: mean(index, group.shared > group.exclusive),
                exclusive_hold_ns: mean(index, false),
                wait_ns: group.wait.mean_ns(),
                lines_low: migration.lines[0],
                lines: migration.lines[1],
                lines_high: migration.lines[2],
                lines_assumed: migration.assumed,
                held_share: (busy.hold(index, false).time() + busy.hold(index, true).time()) / all,
            };
        self.groups.iter().zip(migrations).enumerate().map(describe).collect()
    }
}
