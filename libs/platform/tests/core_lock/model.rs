//! All executions of a model of the locks of cores, as the source in `native/restartable.rs` has them.
//!
//! Every core has a buffer of stores, as in x86: a store goes into it, is seen by the core's own loads at
//! once, and reaches memory later. A locked exchange and a switch to another thread wait until the buffer
//! is empty. The model checkers of the other algorithms know neither restarts nor such buffers.

use std::collections::HashSet;

const FREE: u8 = 0;
const HELD: u8 = 1;

/// Threads 0 and 1 acquire at home, the others from afar.
const AT_HOME: usize = 2;
const THREADS: usize = 4;
const ATTEMPTS: u8 = 2;

/// The lock's home. Core `1 + t` is where thread `t` runs if it is not at home.
const HOME: usize = 0;

/// What is wrong with the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    Nothing,
    /// Who acquires from afar does not call `membarrier`.
    NoBarrier,
    /// It calls the one that orders memory and restarts nothing.
    NoRestart,
    /// It takes the lock for its own without a second look.
    NoSecondLook,
    /// All who acquire from afar use the same number.
    OneNumber,
    /// A section does not ask where it runs.
    AnyCore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Ready,
    /// In the section: the lock was free.
    Looked,
    /// From afar: the word was exchanged.
    Exchanged,
    /// From afar: `membarrier` has returned.
    Ordered,
    /// From afar: `membarrier` has failed.
    Refused,
    /// The thread holds the lock.
    Inside,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    word: u8,
    /// For each core, the stores that have not reached memory, the oldest first.
    buffers: [Vec<u8>; 1 + THREADS],
    /// Who runs at home.
    running: Option<usize>,
    threads: [(Step, u8); THREADS],
}

impl State {
    fn first() -> Self {
        Self {
            word: FREE,
            buffers: Default::default(),
            running: None,
            threads: [(Step::Ready, ATTEMPTS); THREADS],
        }
    }

    fn core_of(&self, thread: usize) -> usize {
        if self.running == Some(thread) { HOME } else { 1 + thread }
    }

    fn load(&self, core: usize) -> u8 {
        self.buffers[core].last().copied().unwrap_or(self.word)
    }

    fn empty_buffer(&mut self, core: usize) {
        if let Some(last) = self.buffers[core].pop() {
            self.word = last;
            self.buffers[core].clear();
        }
    }

    /// The kernel interrupts the home.
    fn restart_at_home(&mut self) {
        if let Some(thread) = self.running
            && self.threads[thread].0 == Step::Looked
        {
            self.threads[thread].0 = Step::Ready;
        }
    }

    /// Another thread runs at home from now on, or none of these. Who was there goes on elsewhere.
    fn switch(&mut self, next: Option<usize>) {
        self.restart_at_home();
        self.empty_buffer(HOME);
        if let Some(next) = next {
            if self.threads[next].0 == Step::Looked {
                self.threads[next].0 = Step::Ready;
            }
            self.empty_buffer(1 + next);
        }
        self.running = next;
    }

    fn attempted(&mut self, thread: usize) {
        self.threads[thread] = (Step::Ready, self.threads[thread].1 - 1);
    }

    fn step_at_home(&mut self, thread: usize, mistake: Mistake) {
        let core = self.core_of(thread);
        match self.threads[thread].0 {
            Step::Ready if core != HOME && mistake != Mistake::AnyCore => self.attempted(thread),
            Step::Ready if self.load(core) == FREE => self.threads[thread].0 = Step::Looked,
            Step::Ready => self.attempted(thread),
            Step::Looked => {
                self.buffers[core].push(HELD);
                self.threads[thread].0 = Step::Inside;
            }
            _ => {
                self.buffers[core].push(FREE);
                self.attempted(thread);
            }
        }
    }

    fn step_from_afar(&mut self, thread: usize, mistake: Mistake) {
        let core = 1 + thread;
        let number = if mistake == Mistake::OneNumber { 2 } else { 2 + thread as u8 };
        match self.threads[thread].0 {
            Step::Ready => {
                self.empty_buffer(core);
                if self.word == FREE {
                    self.word = number;
                    self.threads[thread].0 = Step::Exchanged;
                } else {
                    self.attempted(thread);
                }
            }
            Step::Exchanged => {
                if mistake != Mistake::NoBarrier {
                    self.empty_buffer(HOME);
                }
                if !matches!(mistake, Mistake::NoBarrier | Mistake::NoRestart) {
                    self.restart_at_home();
                }
                self.threads[thread].0 = Step::Ordered;
            }
            Step::Ordered if self.load(core) == number || mistake == Mistake::NoSecondLook => {
                self.threads[thread].0 = Step::Inside;
            }
            Step::Ordered => self.attempted(thread),
            Step::Refused => {
                if self.word == number {
                    self.word = FREE;
                }
                self.attempted(thread);
            }
            _ => {
                self.buffers[core].push(FREE);
                self.attempted(thread);
            }
        }
    }

    fn after(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut next = self.clone();
        change(&mut next);
        next
    }

    fn successors(&self, mistake: Mistake) -> Vec<Self> {
        let mut all = Vec::new();
        for core in 0..self.buffers.len() {
            if !self.buffers[core].is_empty() {
                all.push(self.after(|next| next.word = next.buffers[core].remove(0)));
            }
        }
        let others = (0..AT_HOME).map(Some).chain([None]);
        for next in others.filter(|next| *next != self.running) {
            all.push(self.after(|state| state.switch(next)));
        }
        for (thread, &(step, attempts)) in self.threads.iter().enumerate() {
            if attempts == 0 {
                continue;
            }
            all.push(self.after(|next| match thread {
                ..AT_HOME => next.step_at_home(thread, mistake),
                _ => next.step_from_afar(thread, mistake),
            }));
            if step == Step::Exchanged {
                all.push(self.after(|next| next.threads[thread].0 = Step::Refused));
            }
        }
        all
    }

    fn inside(&self) -> usize {
        self.threads.iter().filter(|(step, _)| *step == Step::Inside).count()
    }
}

/// Goes through all executions. Returns how many states there are, or one in which two threads hold the
/// lock or in which it is lost.
fn explore(mistake: Mistake) -> Result<HashSet<State>, Box<State>> {
    let mut seen = HashSet::from([State::first()]);
    let mut left = vec![State::first()];
    while let Some(state) = left.pop() {
        let ended = state.threads.iter().all(|(_, attempts)| *attempts == 0);
        let drained = state.buffers.iter().all(Vec::is_empty);
        if state.inside() > 1 || ended && drained && state.word != FREE {
            return Err(state.into());
        }
        for next in state.successors(mistake) {
            if seen.insert(next.clone()) {
                left.push(next);
            }
        }
    }
    Ok(seen)
}

#[test]
fn at_most_one_thread_holds_the_lock_and_none_loses_it() {
    let states = explore(Mistake::Nothing).expect("nothing is wrong with it");
    for thread in 0..THREADS {
        let holds = |state: &State| state.threads[thread].0 == Step::Inside;
        assert!(states.iter().any(holds), "thread {thread} never gets it");
    }
    let overtaken = |state: &State| {
        (AT_HOME..THREADS).any(|thread| {
            state.threads[thread].0 == Step::Ordered && state.word != 2 + thread as u8
        })
    };
    assert!(states.iter().any(overtaken), "sections overtake exchanges");
}

#[test]
fn each_mistake_is_found() {
    use Mistake::{AnyCore, NoBarrier, NoRestart, NoSecondLook, OneNumber};
    for mistake in [NoBarrier, NoRestart, NoSecondLook, OneNumber, AnyCore] {
        assert!(explore(mistake).is_err(), "{mistake:?} does no harm");
    }
}
