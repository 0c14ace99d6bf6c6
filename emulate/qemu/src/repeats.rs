//! What a thread has read lately, and whether it reads the same again and again.
//!
//! A thread that does may wait until another one writes, for as long as it takes, or for so many turns of its loop, or
//! not at all. It [sleeps](crate::spinning) in any case, and if it has slept in vain, it makes up for that: it executes
//! the turns that it would have executed meanwhile, and no time passes. So what it does in the end, it does about when it
//! would have done it. At each instruction it is learned how long threads repeat themselves there if nobody writes.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use kilocore_platform::Cycles;

use crate::clock;
use crate::site::Site;

/// The words that a loop may read.
const WORDS: usize = 3;
/// Reads of them after which a thread sleeps: so many tell how long a turn takes.
const FEW: u32 = 4;
/// How long a thread sleeps at first if nobody writes the line, and how long at most.
const PATIENCE: Cycles = Cycles(2_000);
const MOST_PATIENCE: Cycles = Cycles(50_000_000);

/// What a thread has read lately.
#[derive(Debug)]
pub(crate) struct Repeats {
    words: [Cell<u64>; WORDS],
    next: Cell<usize>,
    repeats: Cell<u32>,
    /// When it read one of the words for the second time.
    since: Cell<Cycles>,
    patience: Cell<Cycles>,
    /// What it has to make up for, in parts of a cycle, and what the clock was when it last did.
    owed: Cell<u64>,
    seen: Cell<u64>,
    /// The instruction at which it slept last, and nobody wrote the line.
    in_vain: Cell<*const Site>,
}

impl Default for Repeats {
    fn default() -> Self {
        Self {
            words: Default::default(),
            next: Cell::new(0),
            repeats: Cell::new(0),
            since: Cell::new(Cycles(0)),
            patience: Cell::new(PATIENCE),
            owed: Cell::new(0),
            seen: Cell::new(0),
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
        return own.repeats_itself() && at.is_believed();
    }
    own.moved_on(address);
    false
}

/// The thread that runs has read a word whose line it had not.
pub(crate) fn loaded_anew(address: u64) {
    if let Some(own) = current() {
        if own.words.iter().any(|word| word.get() == address) {
            // What it waits for may have changed.
            own.begins_anew();
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

/// How a thread sleeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sleep {
    /// For how long at most.
    pub(crate) patience: Cycles,
    /// How often it would look meanwhile.
    pub(crate) turn: Cycles,
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

    /// It has read one of the words again. Returns whether it may sleep.
    #[inline(always)]
    fn repeats_itself(&self) -> bool {
        let repeats = self.repeats.get() + 1;
        self.repeats.set(repeats);
        if repeats == 1 {
            self.since.set(clock::now());
        }
        let owed = self.owed.get();
        if owed > 0 {
            self.owed.set(owed - clock::take_back(self.seen.get(), owed));
            self.seen.set(clock::keep());
            return false;
        }
        repeats > FEW
    }

    /// The words that were read last, the newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = u64> {
        let places = (1..=WORDS).map(|back| (self.next.get() + WORDS - back) % WORDS);
        places.map(|place| self.words[place].get())
    }

    /// How the thread is to sleep at a site. None if it is about to do something else.
    pub(crate) fn sleep(&self, site: &Site) -> Option<Sleep> {
        let spent = clock::now().since(self.since.get());
        let turn = Cycles((spent.0 / u64::from(self.repeats.get().max(1))).max(1));
        let patience = match site.gives_up_after() {
            Some(after) if after > spent => after.since(spent),
            _ => self.patience.get(),
        };
        (patience.0 > 2 * turn.0).then_some(Sleep { patience, turn })
    }

    /// It has slept for so long, until somebody wrote the line.
    pub(crate) fn has_woken(&self, site: &Site) {
        site.has_waited_for_others();
        self.begins_anew();
    }

    /// It has slept for so long in vain.
    pub(crate) fn has_slept_in_vain(&self, site: &Site, slept: Cycles) {
        self.in_vain.set(site);
        self.owed.set(clock::parts_of(slept));
        self.seen.set(clock::keep());
        self.patience.set((self.patience.get() * 2).min(MOST_PATIENCE));
    }

    fn begins_anew(&self) {
        self.repeats.set(0);
        self.patience.set(PATIENCE);
        self.owed.set(0);
        self.in_vain.set(ptr::null());
    }

    fn does_something_else(&self) {
        // SAFETY: null, or a site, which is never freed.
        if let Some(site) = unsafe { self.in_vain.get().as_ref() } {
            let spent = clock::now().since(self.since.get());
            site.has_given_up(spent.since(clock::cycles(self.owed.get())));
        }
        self.begins_anew();
    }
}
