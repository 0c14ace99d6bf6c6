//! The running account: events go in, window by window, and the times come out.
//!
//! The events of a window are kept until it ends and are then put in order of time, so their order
//! within the window does not matter. Each thread's events cut the window into stretches
//! ([`State`]). A stretch adds to the thread's sum for what it did. Waits at futex words are also
//! summed by word, and kept for the graph.

use std::collections::{BTreeMap, HashMap};

use crate::{KernelLockWaits, SpinPlace, ThreadTimes};

use crate::thread_account::book::{AccountTotals, Sums, Watched};
use crate::thread_account::document;
use crate::thread_account::kept::{Activity, Begin, ThreadIndex, Turn, Wait, Window, WordIndex};
use crate::thread_account::state::{State, Stretch, TimedStretch};
use crate::thread_account::{
    Event, EventKind, Nanoseconds, Reason, Thread, ThreadId, Word, WordKind,
};

/// The waits at a word so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordWaits {
    /// How many waits. A wait that lasts over several windows counts in each of them, but for windows
    /// that adjoin.
    pub count: u64,
    /// How long they were together.
    pub total: Nanoseconds,
    /// How many different threads waited.
    pub threads: u64,
}

/// A window that has begun.
#[derive(Debug)]
struct Open {
    begin: u64,
    events: Vec<Event>,
    quiet: BTreeMap<ThreadId, Option<Reason>>,
}

/// The running account.
///
/// Call [`begin_window`](Self::begin_window), [`take`](Self::take) for each event,
/// [`quiet`](Self::quiet) for each thread without one, and [`end_window`](Self::end_window), as often
/// as there are windows, and then [`finish`](Self::finish). Every thread that is alive should have an
/// event or a `quiet` in each window. A thread that has neither counts as absent in that window.
#[derive(Debug, Default)]
pub struct Account {
    book: AccountTotals,
    thread_places: HashMap<ThreadId, ThreadIndex>,
    word_places: HashMap<Word, WordIndex>,
    open: Option<Open>,
    /// Where the last window ended, and whom the next one knows already if it begins there.
    last_end: Option<u64>,
    carried: Vec<ThreadIndex>,
}

impl Account {
    /// An account of nothing, on as many cores as there may be.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says how many cores the threads may use. More than these are never busy: of threads without
    /// an event that are said to run, those for which no core is left are ready.
    pub fn on_cores(&mut self, cores: u32) {
        self.book.cores = Some(cores);
    }

    /// Begins a window. A window that is still open ends at its last event.
    ///
    /// If the window begins exactly where the one before it ended, each thread goes on with what it
    /// did, because nothing can have happened in between.
    pub fn begin_window(&mut self, at: Nanoseconds) {
        self.end_open_window();
        if self.last_end != Some(at.0) {
            for thread in std::mem::take(&mut self.carried) {
                self.book.threads[thread.get()].state = State::Unseen;
            }
        }
        self.open = Some(Open { begin: at.0, events: Vec::new(), quiet: BTreeMap::new() });
    }

    /// Takes an event of the window. The order of events within a window does not matter, except of
    /// those at the same moment. Events outside of the window's bounds are moved to the nearer bound.
    /// An event is ignored if no window is open.
    pub fn take(&mut self, event: &Event) {
        if let Some(open) = &mut self.open {
            open.events.push(*event);
        }
    }

    /// Says what a thread did of which the window has no event: `None` if it ran throughout, or else
    /// the reason for which it was off its core throughout. A system may say that a thread runs which
    /// is ready and has no core. So the number of cores bounds what these threads did together
    /// ([`on_cores`](Self::on_cores)). Call this before [`end_window`](Self::end_window).
    ///
    /// If the thread does have events in the window and the first of them is that it becomes ready or
    /// gets a core, a reason says why it was off its core at the beginning of the window. Other
    /// events tell the same better, and then the call is ignored. So is a second call for the same
    /// thread in a window, and a call while no window is open.
    pub fn quiet(&mut self, thread: ThreadId, reason: Option<Reason>) {
        if let Some(open) = &mut self.open {
            open.quiet.entry(thread).or_insert(reason);
        }
    }

    /// Ends the window. Waits that go on are cut here. Nothing happens if no window is open.
    pub fn end_window(&mut self, at: Nanoseconds) {
        let Some(open) = self.open.take() else { return };
        let (begin, end) = (open.begin, at.0.max(open.begin));
        let touched = std::mem::take(&mut self.carried);
        let mut day = Day { begin, end, touched, ..Day::default() };
        (day.window.from, day.window.until) = (begin, end);
        let mut events = open.events;
        events.sort_by_key(|event| event.at);
        for event in &events {
            self.happen(&mut day, event);
        }
        for (&thread, &reason) in &open.quiet {
            self.keep_quiet(&mut day, thread, reason);
        }
        self.close(day);
    }

    /// Says which of the kernel's locks threads waited for, if that was seen. The events tell how long
    /// they did; this tells where.
    pub fn kernel_locks(&mut self, waits: Vec<KernelLockWaits>) {
        self.book.kernel_locks = Some(waits);
    }

    /// Says where threads were found spinning for others. The samples tell how long they did; this
    /// tells where.
    pub fn spins(&mut self, places: Vec<SpinPlace>) {
        self.book.spins = places;
    }

    /// Returns the words that threads have waited for in the windows that have ended, the one with
    /// the longest waits first.
    pub fn words(&self) -> impl Iterator<Item = (Word, WordWaits)> {
        let mut waits = vec![WordWaits::default(); self.book.words.len()];
        for (&(_, word), waited) in &self.book.waited {
            let sum = &mut waits[word.get()];
            sum.count += waited.count;
            sum.total = sum.total.saturating_add(waited.waited);
            sum.threads += 1;
        }
        let mut words: Vec<_> = self.book.words.iter().copied().zip(waits).collect();
        words.retain(|(_, waits)| waits.threads > 0);
        words.sort_by_key(|&(word, waits)| (std::cmp::Reverse(waits.total), word));
        words.into_iter()
    }

    /// Returns where the time went. `threads` are all threads of the program, `kind_of` says what a
    /// word is for, and `name_of` what people call it. A window that is still open ends at its last
    /// event. A thread that had events and is not in `threads` is in a role without a name.
    #[must_use]
    pub fn finish(
        mut self,
        threads: &[Thread],
        kind_of: &dyn Fn(Word) -> WordKind,
        name_of: &dyn Fn(Word) -> String,
    ) -> ThreadTimes {
        self.end_open_window();
        document::of(&self.book, threads, kind_of, name_of)
    }

    fn end_open_window(&mut self) {
        if let Some(open) = &self.open {
            let last = open.events.iter().map(|event| event.at.0).max();
            self.end_window(Nanoseconds(last.unwrap_or(open.begin)));
        }
    }

    fn thread(&mut self, id: ThreadId) -> ThreadIndex {
        *self.thread_places.entry(id).or_insert_with(|| {
            let (sums, state) = (Sums::default(), State::Unseen);
            self.book.threads.push(Watched { id, seen: false, sums, state, before: None });
            ThreadIndex((self.book.threads.len() - 1) as u32)
        })
    }

    fn word(&mut self, word: Word) -> WordIndex {
        *self.word_places.entry(word).or_insert_with(|| {
            self.book.words.push(word);
            WordIndex((self.book.words.len() - 1) as u32)
        })
    }

    /// One event changes the state of its thread, and perhaps ends a stretch.
    fn happen(&mut self, day: &mut Day, event: &Event) {
        let at = event.at.0.clamp(day.begin, day.end);
        let thread = self.thread(event.thread);
        if let EventKind::Waking { by } = event.what {
            self.book.wakings += 1;
            let by = by.map(|by| self.thread(by));
            let state = self.touch(day, thread);
            let (state, part) = state.woken(at, day.begin, by);
            self.go_on(day, thread, state, part);
            return;
        }
        let state = self.touch(day, thread);
        let (state, part) = match event.what {
            EventKind::Out(reason) => {
                let (state, part) = state.out(at, day.begin, reason);
                (state, Some(part))
            }
            EventKind::In => {
                self.book.wakings_unseen += u64::from(matches!(state, State::Off { .. }));
                let (state, part) = state.enter(at, day.begin);
                (state, Some(part))
            }
            EventKind::ContentionBegins => state.spins(at, day.begin, true),
            EventKind::ContentionEnds => state.spins(at, day.begin, false),
            EventKind::Waking { .. }
            | EventKind::Tick { .. }
            | EventKind::Acquired(_)
            | EventKind::Released(_) => state.ran(at, day.begin),
        };
        self.go_on(day, thread, state, part);
        let Watched { sums, state, .. } = &mut self.book.threads[thread.get()];
        match event.what {
            // Time that a thread spins for the kernel's locks is counted apart.
            EventKind::Tick { .. } if matches!(state, State::Running { spins: true, .. }) => {}
            EventKind::Tick { kernel: true, .. } => sums.kernel_ticks += 1,
            EventKind::Tick { spins: true, .. } => sums.spin_ticks += 1,
            EventKind::Tick { .. } => sums.user_ticks += 1,
            EventKind::Acquired(word) | EventKind::Released(word) => {
                let word = self.word(word);
                let acquired = matches!(event.what, EventKind::Acquired(_));
                day.window.turns.push(Turn { word, thread, at, acquired });
            }
            EventKind::Out(_)
            | EventKind::In
            | EventKind::Waking { .. }
            | EventKind::ContentionBegins
            | EventKind::ContentionEnds => {}
        }
    }

    /// The state of a thread that has an event.
    fn touch(&mut self, day: &mut Day, thread: ThreadIndex) -> State {
        let watched = &mut self.book.threads[thread.get()];
        watched.seen = true;
        if watched.state == State::Unseen {
            // It may be there already, if nothing that it did ended a stretch.
            day.touched.push(thread);
        }
        watched.state
    }

    fn go_on(
        &mut self,
        day: &mut Day,
        thread: ThreadIndex,
        state: State,
        part: Option<TimedStretch>,
    ) {
        self.book.threads[thread.get()].state = state;
        if let Some(part) = part {
            self.charge(day, thread, part);
        }
    }

    /// A thread was said to have no event.
    fn keep_quiet(&mut self, day: &mut Day, id: ThreadId, reason: Option<Reason>) {
        let thread = self.thread(id);
        let watched = &mut self.book.threads[thread.get()];
        if watched.state == State::Unseen {
            watched.seen = true;
            if reason.is_none() && self.book.cores.is_some() {
                day.runners.push(thread);
                return;
            }
            day.touched.push(thread);
            watched.state = match reason {
                None => State::Running { since: day.begin, spins: false },
                Some(reason) => State::off(reason, day.begin),
            };
        } else if let (Some((until, waker)), Some(reason)) = (watched.before, reason) {
            watched.before = None;
            let what = match reason {
                Reason::Preempted => Stretch::Ready,
                reason => Stretch::Off { reason, waker, counted: false },
            };
            self.charge(day, thread, TimedStretch { what, from: day.begin, until });
        }
    }

    /// Adds a stretch to what its thread did.
    fn charge(&mut self, day: &mut Day, thread: ThreadIndex, part: TimedStretch) {
        let length = Nanoseconds(part.until.saturating_sub(part.from));
        if let Some(doing) = doing(part.what).filter(|_| length > Nanoseconds(0)) {
            day.window.begins.push(Begin { at: part.from, thread, doing });
        }
        if matches!(part.what, Stretch::Running | Stretch::Spinning) {
            day.on_cores = day.on_cores.saturating_add(length);
        }
        let Watched { sums, before, .. } = &mut self.book.threads[thread.get()];
        let sum = match part.what {
            Stretch::Running => &mut sums.running,
            Stretch::Spinning => &mut sums.kernel_locks,
            Stretch::Ready => &mut sums.ready,
            Stretch::Unknown => &mut sums.unknown,
            Stretch::Before { waker } => {
                // It counts at the end of the window, by when somebody may have said what it was.
                *before = Some((part.until, waker));
                return;
            }
            Stretch::Off { reason, waker, counted } => match reason {
                Reason::Futex(word) => {
                    sums.futexes = sums.futexes.saturating_add(length);
                    let word = self.word(word);
                    let waited = self.book.waited.entry((thread, word)).or_default();
                    waited.count += u64::from(!counted);
                    waited.waited = waited.waited.saturating_add(length);
                    let TimedStretch { from, until, .. } = part;
                    day.window.waits.push(Wait { thread, word, from, until, waker });
                    return;
                }
                Reason::Preempted => &mut sums.ready,
                Reason::Sleep => &mut sums.sleep,
                Reason::Io(_) => &mut sums.io,
                Reason::End => &mut sums.ends,
                Reason::KernelLock => &mut sums.kernel_locks,
                Reason::PageFault => &mut sums.page_faults,
                Reason::Other(_) => &mut sums.other,
                Reason::Unknown => &mut sums.unknown,
            },
        };
        *sum = sum.saturating_add(length);
    }

    /// Adds what those did that were said to run, and may have been ready: they share what the others
    /// leave of the cores.
    fn share_cores(&mut self, day: &mut Day) {
        let runners = std::mem::take(&mut day.runners);
        let length = day.end - day.begin;
        let all = length.saturating_mul(self.book.cores.map_or(u64::MAX, u64::from));
        let left = all.saturating_sub(day.on_cores.0);
        let Some(each) = left.checked_div(runners.len() as u64) else { return };
        let (begin, end) = (day.begin, day.end);
        let until = begin + each.min(length);
        for thread in runners {
            // Which part of the window it was is not known. The sums are right for any.
            let parts = [(Stretch::Running, begin, until), (Stretch::Ready, until, end)];
            for (what, from, until) in parts.into_iter().filter(|(_, from, until)| from < until) {
                self.charge(day, thread, TimedStretch { what, from, until });
            }
        }
    }

    /// Cuts what goes on at the window's end, and keeps the window.
    fn close(&mut self, mut day: Day) {
        let mut touched = std::mem::take(&mut day.touched);
        touched.sort_unstable();
        touched.dedup();
        for &thread in &touched {
            let watched = &mut self.book.threads[thread.get()];
            let (state, part) = watched.state.end(day.end);
            watched.state = state;
            if let Some((until, _)) = watched.before.take() {
                let length = Nanoseconds(until.saturating_sub(day.begin));
                watched.sums.unknown = watched.sums.unknown.saturating_add(length);
            }
            if let Some(part) = part {
                self.charge(&mut day, thread, part);
            }
        }
        self.share_cores(&mut day);
        self.carried = touched;
        self.last_end = Some(day.end);
        self.book.observed = self.book.observed.saturating_add(day.window.length());
        self.book.window_count += 1;
        self.book.windows.push(day.window);
    }
}

/// What a thread does in a stretch, if that is not a wait at a word, and if it is settled already.
fn doing(what: Stretch) -> Option<Activity> {
    match what {
        Stretch::Running => Some(Activity::Computing),
        Stretch::Ready | Stretch::Off { reason: Reason::Preempted, .. } => Some(Activity::Ready),
        Stretch::Off { reason: Reason::Futex(_), .. } | Stretch::Before { .. } => None,
        Stretch::Off { reason: Reason::Unknown, .. } | Stretch::Unknown => Some(Activity::Unknown),
        Stretch::Off { .. } | Stretch::Spinning => Some(Activity::Asleep),
    }
}

/// A window whose events are being gone through.
#[derive(Default)]
struct Day {
    begin: u64,
    end: u64,
    window: Window,
    /// The threads that have a state, perhaps more than once.
    touched: Vec<ThreadIndex>,
    /// The threads without an event that were said to run.
    runners: Vec<ThreadIndex>,
    /// How long threads had a core, all together.
    on_cores: Nanoseconds,
}
