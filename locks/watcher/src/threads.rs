//! What happens to threads, for a user who may not see what happens on whole cores.
//!
//! Each thread has events of its own, and a buffer that they share. They are only enabled in
//! windows, and stay open between them. They are not inherited by new threads: the kernel gives
//! such events no buffer, unless there is one of each for every core. A new thread is followed from
//! the next window on.
//!
//! If the settings hide the kernel from this user, switches have no registers. The places where
//! threads enter system calls can be watched by the processor instead: there, the number of the
//! call and its arguments are in the registers.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use kilocore_linux::perf_events::{Event, Ring, page_size, paranoid};
use perf_event_open_sys::bindings::perf_event_attr;
use rand_core::Rng;

use crate::allowance::{free_descriptors, locked_bytes};
use crate::error::WatchError;
use crate::events::{EventKind, switches, ticks, ticks_and_switches_of_user_space};
use crate::ids::{Pid, Tid};
use crate::watchpoints::{self, MOST, Spot};

/// How many threads are followed at a time.
const MOST_THREADS: usize = 256;
/// How much of a stack is copied, in bytes, where switches have registers.
const STACK: u32 = 4096;
/// The largest buffer of a thread, and all buffers together, in bytes.
const BUFFER: usize = 1 << 18;
const BUFFERS: usize = 16 << 20;
/// A buffer has room for so many copies of stacks, so that a window is not lost for them.
const STACKS: usize = 64;

/// The events of one thread.
#[derive(Debug)]
struct Followed {
    /// The first one writes here.
    ring: Ring,
    with_stack: Option<Event>,
    tick: Option<Event>,
}

/// The events of threads.
#[derive(Debug)]
pub(crate) struct Threads {
    /// Whether only user space may be seen.
    user_space_only: bool,
    followed: BTreeMap<Tid, Followed>,
    kinds: BTreeMap<u64, EventKind>,
    /// Threads that belong to somebody else.
    refused: BTreeSet<Tid>,
    /// Where system calls are entered, in this window.
    entries: Vec<Event>,
    /// How many are followed at a time.
    most: usize,
    /// Threads that were followed, and that there were, added up over windows.
    parts: (usize, usize),
}

impl Threads {
    /// Finds out what this user may see of his own threads.
    ///
    /// # Errors
    /// If he may see nothing.
    pub(crate) fn open() -> Result<Self, WatchError> {
        // SAFETY: takes no argument.
        let own = Tid(unsafe { libc::gettid() } as u32);
        let user_space_only = match follow(own, switches(0)) {
            Ok(_) => false,
            Err(error) if is_refusal(&error) => {
                follow(own, ticks_and_switches_of_user_space())
                    .map_err(|source| WatchError::Events { paranoid: paranoid(), source })?;
                true
            }
            Err(source) => return Err(WatchError::Events { paranoid: paranoid(), source }),
        };
        Ok(Self {
            user_space_only,
            followed: BTreeMap::new(),
            kinds: BTreeMap::new(),
            refused: BTreeSet::new(),
            entries: Vec::new(),
            most: MOST_THREADS,
            parts: (0, 0),
        })
    }

    /// Whether the kernel is hidden, so that switches have no registers.
    pub(crate) fn user_space_only(&self) -> bool {
        self.user_space_only
    }

    /// Goes on as if the kernel were hidden, even if it is not.
    #[cfg(test)]
    pub(crate) fn hide_kernel(&mut self, hidden: bool) {
        self.user_space_only |= hidden;
    }

    /// The share of threads that were followed, of those that there were in windows.
    pub(crate) fn followed_share(&self) -> f64 {
        let (followed, all) = self.parts;
        if all == 0 { 0.0 } else { followed as f64 / all as f64 }
    }

    /// Whether a thread is followed.
    pub(crate) fn follows(&self, tid: Tid) -> bool {
        self.followed.contains_key(&tid)
    }

    /// What the event of an id is.
    pub(crate) fn kind(&self, id: u64) -> Option<EventKind> {
        self.kinds.get(&id).copied()
    }

    /// Follows the threads that there are, or a random part of them if they are too many.
    pub(crate) fn follow(&mut self, threads: &BTreeMap<Tid, Pid>, chance: &mut impl Rng) {
        self.followed
            .retain(|tid, followed| threads.contains_key(tid) && !followed.ring.event().is_over());
        self.refused.retain(|tid| threads.contains_key(tid));
        let mut missing = self.missing(threads);
        let most = self.most();
        if self.followed.len() + missing.len() > most {
            // Others get their turn.
            let kept = most - (most / 8).max(1);
            while self.followed.len() > kept {
                let other = chance.next_u64() as usize % self.followed.len();
                let tid = self.followed.keys().nth(other).copied();
                tid.map(|tid| self.followed.remove(&tid));
            }
            shuffle(&mut missing, chance);
            missing.truncate(most - self.followed.len());
        }
        let mut pages = self.pages(missing.len());
        if pages == 0 && !self.followed.is_empty() {
            // Smaller buffers for all.
            self.followed.clear();
            missing = self.missing(threads);
            shuffle(&mut missing, chance);
            missing.truncate(most);
            pages = self.pages(missing.len());
        }
        for tid in missing {
            match Followed::open(tid, pages.max(1), self.user_space_only) {
                Ok(followed) => drop(self.followed.insert(tid, followed)),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) if is_refusal(&error) => drop(self.refused.insert(tid)),
                // Descriptors or memory are used up.
                Err(_) => break,
            }
        }
        self.kinds = self.followed.values().flat_map(Followed::kinds).collect();
        self.parts.0 += self.followed.len();
        self.parts.1 += threads.len();
    }

    fn missing(&self, threads: &BTreeMap<Tid, Pid>) -> Vec<Tid> {
        let known = |tid: &&Tid| self.followed.contains_key(tid) || self.refused.contains(tid);
        threads.keys().filter(|tid| !known(tid)).copied().collect()
    }

    /// How many threads can be followed. Watchpoints, of which each thread may have several, need
    /// descriptors as well.
    fn most(&self) -> usize {
        let of_each = if self.user_space_only { 1 } else { 3 };
        let open = self.followed.len() * of_each;
        let descriptors = free_descriptors() + open;
        // A buffer has two pages at least.
        let pages = BUFFERS.min(locked_bytes() / 2) / page_size();
        self.most.min(descriptors / (of_each + MOST)).min(pages / 2).max(1)
    }

    /// How many pages the buffer of each of so many more threads may have: a power of two, or 0.
    fn pages(&self, threads: usize) -> usize {
        let all = BUFFERS.min(locked_bytes() / 2) / page_size();
        let used: usize = self.followed.values().map(|followed| followed.ring.pages() + 1).sum();
        // Each has a page besides its buffer.
        let share = (all.saturating_sub(used) / threads.max(1)).saturating_sub(1);
        if share == 0 { 0 } else { 1 << share.min(BUFFER / page_size()).ilog2() }
    }

    /// Begins a window, with copies of stacks or without. `entries` says where the threads of a
    /// process enter system calls; these places are watched, too.
    pub(crate) fn begin(
        &mut self,
        threads: &BTreeMap<Tid, Pid>,
        stacks: bool,
        entries: &BTreeMap<Pid, Vec<u64>>,
    ) -> io::Result<()> {
        for (tid, followed) in &self.followed {
            let places = threads.get(tid).and_then(|pid| entries.get(pid));
            for place in places.into_iter().flatten() {
                let stack = if stacks { followed.room_for_stacks() } else { 0 };
                let Ok(event) = watchpoints::open(&Spot::Function(*place), *tid, stack) else {
                    break;
                };
                event.write_to(followed.ring.event())?;
                self.kinds.insert(event.id()?, EventKind::Call);
                self.entries.push(event);
            }
        }
        self.followed.values().try_for_each(|followed| followed.begin(stacks))
    }

    /// Ends the window: nothing of the threads is recorded from now on.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        let ended = self.followed.values().try_for_each(Followed::end);
        self.entries.clear();
        ended
    }

    /// Appends what is in the buffers.
    pub(crate) fn drain(&mut self, records: &mut Vec<u8>) {
        self.followed.values_mut().for_each(|followed| followed.ring.drain(records));
    }
}

impl Followed {
    fn open(tid: Tid, pages: usize, user_space_only: bool) -> io::Result<Self> {
        if user_space_only {
            let event = follow(tid, ticks_and_switches_of_user_space())?;
            let ring = Ring::at_most(event, pages).map_err(|(_, error)| no_room(&error))?;
            return Ok(Self { ring, with_stack: None, tick: None });
        }
        let ring = Ring::at_most(follow(tid, switches(0))?, pages);
        let ring = ring.map_err(|(_, error)| no_room(&error))?;
        let (with_stack, tick) = (follow(tid, switches(STACK))?, follow(tid, ticks(0))?);
        with_stack.write_to(ring.event())?;
        tick.write_to(ring.event())?;
        Ok(Self { ring, with_stack: Some(with_stack), tick: Some(tick) })
    }

    fn kinds(&self) -> impl Iterator<Item = (u64, EventKind)> {
        let first = if self.tick.is_some() { EventKind::Switch } else { EventKind::Tick };
        let others = [(&self.with_stack, EventKind::Switch), (&self.tick, EventKind::Tick)];
        let others = others.into_iter().filter_map(|(event, kind)| Some((event.as_ref()?, kind)));
        [(self.ring.event(), first)]
            .into_iter()
            .chain(others)
            .filter_map(|(event, kind)| Some((event.id().ok()?, kind)))
    }

    fn begin(&self, stacks: bool) -> io::Result<()> {
        match &self.with_stack {
            Some(with_stack) if stacks && self.room_for_stacks() >= STACK => with_stack.enable()?,
            _ => self.ring.event().enable()?,
        }
        self.tick.as_ref().map_or(Ok(()), Event::enable)
    }

    fn end(&self) -> io::Result<()> {
        let others = [&self.with_stack, &self.tick].into_iter().flatten();
        others.chain([self.ring.event()]).try_for_each(Event::disable)
    }

    /// How much of a stack may be copied, in bytes; 0 if the buffer is too small for copies.
    fn room_for_stacks(&self) -> u32 {
        let room = (self.ring.pages() * page_size() / STACKS) as u32 / 8 * 8;
        if room < 1024 { 0 } else { room.min(STACK) }
    }
}

/// Opens an event of a thread, wherever it runs.
fn follow(tid: Tid, mut attribute: perf_event_attr) -> io::Result<Event> {
    Event::open(&mut attribute, tid.0 as libc::pid_t, -1)
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

/// A buffer that cannot be had says the same as an event that is refused; so it is told apart.
fn no_room(_: &io::Error) -> io::Error {
    io::Error::from_raw_os_error(libc::ENOMEM)
}

fn shuffle(threads: &mut [Tid], chance: &mut impl Rng) {
    for last in (1..threads.len()).rev() {
        threads.swap(last, (chance.next_u64() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn of_too_many_threads_each_has_its_turn() {
        let Ok(mut threads) = Threads::open() else { return };
        threads.most = 3;
        let mut chance = Xoshiro256PlusPlus::seed_from_u64(1);
        let (tell, told) = mpsc::channel();
        let ends: Vec<_> = (0..6)
            .map(|_| {
                let (tell, (end, ended)) = (tell.clone(), mpsc::channel::<()>());
                std::thread::spawn(move || {
                    // SAFETY: takes no argument.
                    tell.send(Tid(unsafe { libc::gettid() } as u32)).expect("somebody waits");
                    let _ = ended.recv();
                });
                end
            })
            .collect();
        let own = Pid(std::process::id());
        let all: BTreeMap<Tid, Pid> = told.iter().take(6).map(|tid| (tid, own)).collect();
        let mut followed = BTreeSet::new();
        for _ in 0..100 {
            threads.follow(&all, &mut chance);
            assert_eq!(threads.followed.len(), 3);
            followed.extend(threads.followed.keys().copied());
        }
        assert_eq!(followed, all.keys().copied().collect());
        assert!((threads.followed_share() - 0.5).abs() < 1e-9);
        // Those that are left all find a place.
        let fewer: BTreeMap<Tid, Pid> = all.into_iter().take(2).collect();
        threads.follow(&fewer, &mut chance);
        assert!(threads.followed.keys().eq(fewer.keys()));
        drop(ends);
    }
}
