//! What a thread has read lately, and whether it reads the same again and again.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use kilocore_platform::Cycles;

use crate::site::Site;

/// The words that a loop may read.
const WORDS: usize = 3;
/// Reads of them that make a loop one that waits.
const MANY: u32 = 100;
/// The same at an instruction where a thread is known to have waited.
const FEW: u32 = 3;
/// How long a thread sleeps at first if nobody writes the line.
const PATIENCE: Cycles = Cycles(50_000);
/// How long it sleeps at most.
const MOST_PATIENCE: Cycles = Cycles(50_000_000);

/// What a thread has read lately.
#[derive(Debug)]
pub(crate) struct Repeats {
    words: [Cell<u64>; WORDS],
    next: Cell<usize>,
    repeats: Cell<u32>,
    patience: Cell<Cycles>,
    /// The instruction at which it slept last, and nobody wrote the line.
    in_vain: Cell<*const Site>,
}

impl Default for Repeats {
    fn default() -> Self {
        Self {
            words: Default::default(),
            next: Cell::new(0),
            repeats: Cell::new(0),
            patience: Cell::new(PATIENCE),
            in_vain: Cell::new(ptr::null()),
        }
    }
}

/// That of the thread that runs.
static CURRENT: AtomicPtr<Repeats> = AtomicPtr::new(ptr::null_mut());

/// A thread goes on.
pub(crate) fn goes_on(of: &Repeats) {
    CURRENT.store(ptr::from_ref(of).cast_mut(), Ordering::Relaxed);
}

/// The thread that ran ends.
pub(crate) fn stop() {
    CURRENT.store(ptr::null_mut(), Ordering::Relaxed);
}

#[inline(always)]
fn current<'a>() -> Option<&'a Repeats> {
    // SAFETY: that of the thread that runs, which is the caller's own, and lives as long as the thread is a task.
    unsafe { CURRENT.load(Ordering::Relaxed).as_ref() }
}

/// The thread that runs has read a word whose line it has, at this instruction. Returns whether it seems to wait.
#[inline(always)]
pub(crate) fn loaded(address: u64, at: &Site) -> bool {
    let Some(own) = current() else { return false };
    if own.words.iter().any(|word| word.get() == address) {
        let repeats = own.repeats.get() + 1;
        own.repeats.set(repeats);
        return repeats > MANY || (repeats > FEW && at.is_known_to_wait());
    }
    own.moved_on(address);
    false
}

/// The thread that runs has read a word whose line it had not.
pub(crate) fn loaded_anew(address: u64) {
    if let Some(own) = current() {
        if own.words.iter().any(|word| word.get() == address) {
            // What it waits for may have changed.
            own.repeats.set(0);
        } else {
            own.moved_on(address);
        }
    }
}

/// The thread that runs has written something.
#[inline(always)]
pub(crate) fn stored() {
    if let Some(own) = current()
        && own.repeats.get() > 0
    {
        own.does_something_else();
    }
}

impl Repeats {
    #[inline(always)]
    fn moved_on(&self, address: u64) {
        let next = self.next.get();
        self.words[next].set(address);
        self.next.set((next + 1) % WORDS);
        if self.repeats.get() > 0 {
            self.does_something_else();
        }
    }

    /// The words that were read last, the newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = u64> {
        let places = (1..=WORDS).map(|back| (self.next.get() + WORDS - back) % WORDS);
        places.map(|place| self.words[place].get())
    }

    /// The thread is about to sleep. Returns for how long at most.
    pub(crate) fn sleeps(&self) -> Cycles {
        self.repeats.set(1);
        self.patience.get()
    }

    /// It has slept at a site until somebody wrote the line, or in vain.
    pub(crate) fn has_slept(&self, site: &Site, written: bool) {
        let patience = self.patience.get();
        if written {
            site.has_waited_for_others();
        }
        self.in_vain.set(if written { ptr::null() } else { site });
        self.patience.set(if written { PATIENCE } else { (patience * 2).min(MOST_PATIENCE) });
    }

    fn does_something_else(&self) {
        self.repeats.set(0);
        self.patience.set(PATIENCE);
        // SAFETY: null, or a site, which is never freed.
        if let Some(site) = unsafe { self.in_vain.replace(ptr::null()).as_ref() } {
            site.strike();
        }
    }
}
