//! What the threads of a program do, as far as locks are concerned.

use kilocore_locks::RwLockId;

use crate::{Duration, MemoryUse};

/// How a section takes its lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nobody else is inside.
    Exclusive,
    /// Other readers may be inside.
    Shared,
}

/// One kind of lock use: some code that runs under a lock.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Index of the lock in [`Workload::locks`].
    pub lock: usize,
    /// How the section takes the lock.
    pub mode: Mode,
    /// Computing under the lock, in cycles, on one core with no other threads. Computing under
    /// locks that are taken inside is not included.
    pub hold: Duration,
    /// Sleep under the lock, in cycles. The figure is the mean over all entries.
    pub asleep: f64,
    /// Lines of data written inside that move from holder to holder, beyond the lock itself.
    pub lines: f64,
    /// If threads do not wait for the lock but try again and again whether they get it: computing between
    /// two tries, in cycles. It does not matter for read-write locks.
    pub polled: Option<f64>,
    /// Sections inside this one.
    pub inner: Vec<Inner>,
}

impl Section {
    /// Mean cycles of computing under its lock, sections inside it included.
    #[must_use]
    pub fn held(&self) -> f64 {
        let inside: f64 = self.inner.iter().map(|inner| inner.times * inner.section.held()).sum();
        self.hold.mean() + inside
    }

    /// How many sections are entered inside it each time, on average, those inside of these included.
    #[must_use]
    pub fn inside(&self) -> f64 {
        self.inner.iter().map(|inner| inner.times * (1.0 + inner.section.inside())).sum()
    }
}

/// A section inside another.
#[derive(Debug, Clone, PartialEq)]
pub struct Inner {
    /// How many times it is entered for each time that the outer section is entered, on average.
    pub times: f64,
    /// The section that is entered while the outer section holds its lock.
    pub section: Section,
}

/// A lock, or several locks that are used alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LockUse {
    /// How many locks there are. Each use picks one at random.
    pub instances: u32,
    /// Those of them that are used more often than the others, if any are.
    pub hot: Option<Hot>,
    /// Whether each thread has this many locks of its own, which no other thread takes.
    pub per_thread: bool,
    /// The algorithm, if the program uses it as a read-write lock. glibc's is closest to
    /// [`CentralRw`](kilocore_locks::CentralRw).
    pub read_write: Option<RwLockId>,
    /// What the lock is if it stays as it is, whichever lock is chosen.
    pub kept: Option<KeptLock>,
}

impl LockUse {
    /// A single mutex.
    pub const ONE: Self =
        Self { instances: 1, hot: None, per_thread: false, read_write: None, kept: None };

    /// The same with this many locks for each one, which share its uses. `None` if these are more than can be
    /// counted.
    pub(crate) fn split(self, parts: u32) -> Option<Self> {
        let hot = match self.hot {
            Some(hot) => Some(Hot { instances: hot.instances.checked_mul(parts)?, ..hot }),
            None => None,
        };
        Some(Self { instances: self.instances.checked_mul(parts)?, hot, ..self })
    }

    /// The lock that a use takes, for two random numbers from 0 to 1.
    pub(crate) fn pick(&self, of_which: f64, which: f64) -> usize {
        let (first, count) = match self.hot {
            None => (0, self.instances),
            Some(hot) if of_which < hot.share => (0, hot.instances),
            Some(hot) => (hot.instances, self.instances.saturating_sub(hot.instances)),
        };
        first as usize + (which * f64::from(count)) as usize
    }
}

/// Locks that are used more often than others of their kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hot {
    /// How many they are. They are used equally, as the others are.
    pub instances: u32,
    /// The share of all uses that is theirs, 0 to 1.
    pub share: f64,
}

/// A lock that stays what it is, whatever is put under the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptLock {
    /// A read-write semaphore of the kernel, such as the one that guards a process's address space:
    /// page faults take it shared, `mmap` and `munmap` exclusively.
    KernelReadWrite,
    /// A spin lock of the kernel, such as that of a page table.
    KernelSpin,
    /// A lock inside the C library, such as that of an arena of `malloc`, or a lock of the program
    /// that `run` cannot replace.
    Futex,
    /// A spin lock of the program's own.
    Spin,
}

/// Barriers at which all threads wait for each other, again and again.
///
/// Between two barriers there is the same work, whatever the number of threads that divide it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Barriers {
    /// Outermost sections of all threads together between one barrier and the next.
    pub sections: f64,
    /// How unequal the threads' parts are, beyond what the durations of their sections explain.
    /// This is the standard deviation of the parts as a share of their mean, 0 to 1.
    pub imbalance: f64,
    /// The index in [`Workload::locks`] of the lock of which the barriers are made, together with a
    /// condition variable. `None` for the C library's own barriers.
    pub lock: Option<usize>,
}

/// What each thread does, over and over: think, then enter a section.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Computing between sections, in cycles.
    pub think: Duration,
    /// Sleep between sections, in cycles. The figure is the mean over all sections.
    pub asleep: f64,
    /// The lines that are fetched from memory between sections, after the computing.
    pub memory: Option<MemoryUse>,
    /// Computing of one thread while no other can compute, in cycles: the start of a program, its
    /// end, and what lies between its parallel phases. The figure is the mean over all outermost
    /// sections. This computing takes the same time on any number of cores.
    pub serial: f64,
    /// Barriers between the sections.
    pub barriers: Option<Barriers>,
    /// The locks, to which sections refer by index.
    pub locks: Vec<LockUse>,
    /// The outermost sections, each with its share; the shares add up to 1.
    pub sections: Vec<(f64, Section)>,
}

impl Workload {
    /// A workload of threads that share a single lock.
    #[must_use]
    pub fn single_lock(think: Duration, hold: Duration, lines: f64) -> Self {
        let section = Section {
            lock: 0,
            mode: Mode::Exclusive,
            hold,
            asleep: 0.0,
            lines,
            polled: None,
            inner: Vec::new(),
        };
        Self {
            think,
            asleep: 0.0,
            memory: None,
            serial: 0.0,
            barriers: None,
            locks: vec![LockUse::ONE],
            sections: vec![(1.0, section)],
        }
    }

    /// A workload of threads that share a single read-write lock. `reads` is the share of the
    /// acquisitions that are shared, 0 to 1.
    #[must_use]
    pub fn single_rw_lock(
        think: Duration,
        hold: Duration,
        lines: f64,
        lock: RwLockId,
        reads: f64,
    ) -> Self {
        let mut workload = Self::single_lock(think, hold, lines);
        workload.locks[0].read_write = Some(lock);
        let (_, write) = workload.sections[0].clone();
        let read = Section { mode: Mode::Shared, ..write.clone() };
        workload.sections = vec![(reads, read), (1.0 - reads, write)];
        workload
    }

    /// Computing of all kinds in one outermost section and before it, in cycles: the mean over all
    /// sections. Multiplied by the number of sections, it is the processor time that the program
    /// needs, without what its locks and its memory take.
    #[must_use]
    pub fn busy(&self) -> f64 {
        let held: f64 = self.sections.iter().map(|(share, section)| share * section.held()).sum();
        self.think.mean() + self.serial + held
    }

    /// The same workload, in which everything takes `factor` times as long. The number of lines
    /// that move with locks stays the same. Lines that come from memory are work, and grow with it.
    #[must_use]
    pub fn stretched(&self, factor: f64) -> Self {
        fn stretch(section: &Section, factor: f64) -> Section {
            let inner = |i: &Inner| Inner { times: i.times, section: stretch(&i.section, factor) };
            Section {
                hold: section.hold.scaled(factor),
                asleep: section.asleep * factor,
                polled: section.polled.map(|between| between * factor),
                inner: section.inner.iter().map(inner).collect(),
                ..section.clone()
            }
        }
        let sections = self.sections.iter().map(|(share, s)| (*share, stretch(s, factor)));
        Self {
            think: self.think.scaled(factor),
            asleep: self.asleep * factor,
            memory: self.memory.map(|memory| MemoryUse { lines: memory.lines * factor, ..memory }),
            serial: self.serial * factor,
            barriers: self.barriers,
            locks: self.locks.clone(),
            sections: sections.collect(),
        }
    }

    /// Puts a mutex in the place of each read-write lock. The data of readers then moves between
    /// cores as the data of writers does.
    pub(crate) fn make_exclusive(&mut self) {
        fn exclude(section: &mut Section, lines: &[f64]) {
            section.mode = Mode::Exclusive;
            section.lines = section.lines.max(lines[section.lock]);
            for inner in &mut section.inner {
                exclude(&mut inner.section, lines);
            }
        }
        fn most_lines(section: &Section, lines: &mut [f64]) {
            lines[section.lock] = lines[section.lock].max(section.lines);
            for inner in &section.inner {
                most_lines(&inner.section, lines);
            }
        }
        let mut lines = vec![0.0; self.locks.len()];
        for (_, section) in &self.sections {
            most_lines(section, &mut lines);
        }
        for (_, section) in &mut self.sections {
            exclude(section, &lines);
        }
        for lock in &mut self.locks {
            lock.read_write = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Hot, LockUse};

    #[test]
    fn hot_locks_get_their_share_of_the_uses_and_the_others_the_rest() {
        let hot = Some(Hot { instances: 2, share: 0.75 });
        let locks = LockUse { instances: 6, hot, ..LockUse::ONE };
        let mut uses = [0; 6];
        for use_ in 0..800 {
            let of_which = f64::from(use_ / 8) / 100.0;
            uses[locks.pick(of_which, f64::from(use_ % 8) / 8.0)] += 1;
        }
        assert_eq!(uses, [300, 300, 50, 50, 50, 50]);
        assert_eq!(LockUse { hot: None, ..locks }.pick(0.9, 0.99), 5);
    }

    #[test]
    fn parts_of_hot_locks_are_hot() {
        let hot = Some(Hot { instances: 1, share: 0.5 });
        let locks = LockUse { instances: 8, hot, ..LockUse::ONE };
        let split = locks.split(4).expect("these are few");
        assert_eq!((split.instances, split.hot), (32, Some(Hot { instances: 4, share: 0.5 })));
        assert_eq!(locks.split(u32::MAX), None);
    }
}
