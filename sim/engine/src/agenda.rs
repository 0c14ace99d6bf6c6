//! What will happen, earliest first.
//!
//! Every simulated access goes through a heap of events, which has to stay small and to compare
//! quickly. So an entry is two words. One is the event. The other is its time, with 16 random bits
//! below, which put what happens in the same cycle into an order.
//!
//! That leaves 48 bits for the time, which is a day and a half. So times count from an origin, and
//! the origin moves. An event that is further away waits in a second heap, with all bits of its
//! time. It is later than everything near, so the second heap is looked at only when nothing near is
//! left. Then the origin moves on, and the events that have become near change heaps.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use kilocore_platform::Cycles;

use crate::ids::{CoreId, ListId, TaskId};
use crate::random::Random;

/// Something that will happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The task on a core goes on.
    Continue { core: CoreId, epoch: Epoch },
    /// A waiter looks at its line again.
    Recheck { task: TaskId, epoch: Epoch },
    /// Those on a list of waiters look at their line again, one after the other.
    RecheckAll { list: ListId },
    /// A core's time slice is over.
    SliceEnd { core: CoreId, epoch: Epoch },
    /// A task that sleeps becomes ready to run: it has been woken.
    Woken { task: TaskId, epoch: Epoch },
    /// A task that sleeps becomes ready to run: its time is up.
    TimedOut { task: TaskId, epoch: Epoch },
    /// The scheduler looks at the machine.
    Balance,
    /// A task that has left the kernel moves to a core on which it may run.
    Relocate { task: TaskId },
    /// A time has come that somebody waits for who is no task.
    Due,
}

/// Counts the changes of plan of a core or task: an event of an older epoch is void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Epoch(u32);

impl Epoch {
    /// Makes all events of this epoch void.
    pub(crate) fn advance(&mut self) {
        self.0 = self.0.wrapping_add(1);
    }
}

/// An event in a word: its kind in 3 bits, its core or task in 29, its epoch in 32.
#[derive(Debug, Clone, Copy)]
struct Packed(u64);

impl From<Event> for Packed {
    #[inline]
    fn from(event: Event) -> Self {
        let (kind, index, epoch) = match event {
            Event::Continue { core, epoch } => (0, core.0, epoch),
            Event::Recheck { task, epoch } => (1, task.0, epoch),
            Event::SliceEnd { core, epoch } => (2, core.0, epoch),
            Event::Woken { task, epoch } => (3, task.0, epoch),
            Event::TimedOut { task, epoch } => (4, task.0, epoch),
            Event::RecheckAll { list } => (5, list.0, Epoch(0)),
            Event::Balance => (6, 0, Epoch(0)),
            Event::Due => (6, 1, Epoch(0)),
            Event::Relocate { task } => (7, task.0, Epoch(0)),
        };
        Packed(kind << 61 | u64::from(index) << 32 | u64::from(epoch.0))
    }
}

impl From<Packed> for Event {
    #[inline]
    fn from(Packed(bits): Packed) -> Self {
        let index = (bits >> 32) as u32 & ((1 << 29) - 1);
        let epoch = Epoch(bits as u32);
        match bits >> 61 {
            0 => Event::Continue { core: CoreId(index), epoch },
            1 => Event::Recheck { task: TaskId(index), epoch },
            2 => Event::SliceEnd { core: CoreId(index), epoch },
            3 => Event::Woken { task: TaskId(index), epoch },
            4 => Event::TimedOut { task: TaskId(index), epoch },
            5 => Event::RecheckAll { list: ListId(index) },
            6 if index == 0 => Event::Balance,
            6 => Event::Due,
            _ => Event::Relocate { task: TaskId(index) },
        }
    }
}

/// A planned event. Entries are ordered by the key alone, and the earliest is the greatest, as the
/// heap of the standard library has its greatest element on top.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u64,
    event: Packed,
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Entry {}

/// An event too far from the origin for an [`Entry`], ordered in the same way.
#[derive(Debug, Clone, Copy)]
struct Far {
    time: Cycles,
    chance: u64,
    event: Packed,
}

impl Ord for Far {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.chance).cmp(&(self.time, self.chance))
    }
}

impl PartialOrd for Far {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Far {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Far {}

/// Random bits below the time.
const CHANCE_BITS: u32 = 16;
/// How far from the origin an event is near.
const SPAN: Cycles = Cycles(1 << (64 - CHANCE_BITS));
/// The origin moves to this long before the earliest event, as a core that was idle may still plan
/// something for a little earlier.
const SLACK: Cycles = Cycles(SPAN.0 / 2);

/// The events to come.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// Events less than [`SPAN`] after the origin.
    heap: BinaryHeap<Entry>,
    /// Events at least [`SPAN`] after the origin.
    far: BinaryHeap<Far>,
    /// Where the times of near events count from.
    origin: Cycles,
    /// The time of the earliest event.
    horizon: Cycles,
    random: Random,
    /// Random bits not used yet.
    chance: u64,
}

impl Agenda {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            heap: BinaryHeap::new(),
            far: BinaryHeap::new(),
            origin: Cycles(0),
            horizon: Cycles::MAX,
            random: Random::new(seed, 0),
            chance: 1,
        }
    }

    /// The time of the earliest event, or the end of all times if there is none.
    #[inline]
    pub(crate) fn horizon(&self) -> Cycles {
        self.horizon
    }

    /// Plans an event for a time.
    #[inline]
    pub(crate) fn plan(&mut self, time: Cycles, event: Event) {
        let chance = self.chance();
        if time.since(self.origin) < SPAN {
            let entry = self.entry(time, chance, event);
            self.heap.push(entry);
        } else {
            self.far.push(Far { time, chance, event: event.into() });
        }
        self.horizon = self.horizon.min(time);
    }

    /// Takes the earliest event.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Cycles, Event)> {
        let Entry { key, event } = match self.heap.pop() {
            Some(earliest) => earliest,
            None => {
                self.move_origin();
                self.heap.pop()?
            }
        };
        self.look_ahead();
        Some((self.time_of(key), event.into()))
    }

    /// The same as [`plan`](Self::plan) and then [`next`](Self::next), but with one walk through
    /// the heap.
    #[inline]
    pub(crate) fn exchange(&mut self, time: Cycles, event: Event) -> (Cycles, Event) {
        let chance = self.chance();
        if time.since(self.origin) >= SPAN {
            self.far.push(Far { time, chance, event: event.into() });
            return self.next().expect("there is at least this one");
        }
        let mine = self.entry(time, chance, event);
        let Entry { key, event } = match self.heap.peek_mut() {
            Some(mut earliest) if *earliest > mine => std::mem::replace(&mut *earliest, mine),
            _ => mine,
        };
        self.look_ahead();
        (self.time_of(key), event.into())
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.far.clear();
        self.horizon = Cycles::MAX;
    }

    /// A random time below `limit`.
    pub(crate) fn below(&mut self, limit: Cycles) -> Cycles {
        Cycles((self.random.uniform() * limit.0 as f64) as u64)
    }

    /// Puts things into an order that chance decides.
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for left in (2..=things.len()).rev() {
            // The high half of a product with 32 random bits is uniform enough in so small a range.
            let pick = ((self.random.bits() >> 32) * left as u64) >> 32;
            things.swap(left - 1, pick as usize);
        }
    }

    /// Random bits for an event.
    #[inline]
    fn chance(&mut self) -> u64 {
        if self.chance == 1 {
            // The bit on top marks how many are left.
            self.chance = self.random.bits() >> CHANCE_BITS | 1 << (64 - CHANCE_BITS);
        }
        let chance = self.chance & ((1 << CHANCE_BITS) - 1);
        self.chance >>= CHANCE_BITS;
        chance
    }

    /// The entry of a near event.
    #[inline]
    fn entry(&self, time: Cycles, chance: u64, event: Event) -> Entry {
        Entry { key: key(time.since(self.origin), chance), event: event.into() }
    }

    #[inline]
    fn time_of(&self, key: u64) -> Cycles {
        self.origin + Cycles(key >> CHANCE_BITS)
    }

    #[inline]
    fn look_ahead(&mut self) {
        self.horizon = match self.heap.peek() {
            Some(entry) => self.time_of(entry.key),
            None => self.far.peek().map_or(Cycles::MAX, |far| far.time),
        };
    }

    /// Nothing near is left: the origin moves to just before what is earliest.
    #[cold]
    fn move_origin(&mut self) {
        let Some(earliest) = self.far.peek() else { return };
        self.origin = earliest.time - SLACK;
        while let Some(&Far { time, chance, event }) = self.far.peek()
            && time - self.origin < SPAN
        {
            self.far.pop();
            self.heap.push(Entry { key: key(time - self.origin, chance), event });
        }
    }
}

/// What orders a near event: its distance from the origin, and random bits below.
#[inline]
fn key(distance: Cycles, chance: u64) -> u64 {
    distance.0 << CHANCE_BITS | chance
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Cycles;

    use super::{Agenda, Epoch, Event};
    use crate::ids::{CoreId, ListId, TaskId};

    #[test]
    fn events_come_out_as_they_went_in_earliest_first() {
        let mut agenda = Agenda::new(7);
        let epoch = Epoch(u32::MAX);
        let events = [
            (Cycles(5), Event::Continue { core: CoreId(1023), epoch }),
            (Cycles(3), Event::Recheck { task: TaskId(8191), epoch: Epoch(0) }),
            (Cycles(9), Event::SliceEnd { core: CoreId(0), epoch }),
            (Cycles(1), Event::Woken { task: TaskId(1), epoch }),
            (Cycles(7), Event::TimedOut { task: TaskId(2), epoch }),
        ];
        for (time, event) in events {
            agenda.plan(time, event);
        }
        assert_eq!(agenda.horizon(), Cycles(1));
        let late = Event::Continue { core: CoreId(4), epoch };
        assert_eq!(agenda.exchange(Cycles(8), late), events[3]);
        let mut seen = vec![];
        while let Some(next) = agenda.next() {
            seen.push(next);
        }
        assert_eq!(seen, [events[1], events[0], events[4], (Cycles(8), late), events[2]]);
        assert_eq!(agenda.horizon(), Cycles::MAX);
    }

    #[test]
    fn events_years_apart_come_out_earliest_first() {
        let mut agenda = Agenda::new(7);
        let epoch = Epoch(0);
        let event = |core| Event::Continue { core: CoreId(core), epoch };
        let times =
            [1 << 62, (1 << 48) - 1, 3, 1 << 48, 1 << 60, (1 << 60) + 1, u64::MAX - 1].map(Cycles);
        for (core, &time) in times.iter().enumerate() {
            agenda.plan(time, event(core as u32));
        }
        let mut sorted: Vec<(Cycles, Event)> = times.into_iter().zip((0..).map(event)).collect();
        sorted.sort_by_key(|&(time, _)| time);
        let mut seen = vec![];
        for _ in times {
            assert_eq!(agenda.horizon(), sorted[seen.len()].0);
            seen.push(agenda.next().unwrap());
        }
        assert_eq!(seen, sorted);
        assert_eq!((agenda.horizon(), agenda.next()), (Cycles::MAX, None));
    }

    #[test]
    fn a_core_that_plans_centuries_ahead_lets_the_others_go_first() {
        // Each core plans its next step far beyond what a key holds, over and over.
        let mut agenda = Agenda::new(7);
        let event = |core| Event::Continue { core: CoreId(core), epoch: Epoch(0) };
        for core in 0..3 {
            agenda.plan(Cycles(u64::from(core)), event(core));
        }
        let mut next = agenda.next().unwrap();
        let mut last = Cycles(0);
        for _ in 0..300 {
            let (time, Event::Continue { core, .. }) = next else { panic!("{next:?}") };
            assert!(time >= last, "{time:?} after {last:?}");
            last = time;
            let think = [Cycles(1 << 46), Cycles(1 << 47), Cycles(1 << 52)][core.0 as usize];
            next = agenda.exchange(time + think, event(core.0));
            // What an idle core plans may be a little earlier than what has just happened.
            let early = (last.since(Cycles(9)), Event::RecheckAll { list: ListId(0) });
            agenda.plan(early.0, early.1);
            assert_eq!(agenda.exchange(next.0, next.1), early);
            next = agenda.next().unwrap();
        }
        assert!(last > Cycles(1 << 50), "{last:?}");
    }

    #[test]
    fn the_order_within_a_cycle_is_random_but_seeded() {
        let order = |seed| {
            let mut agenda = Agenda::new(seed);
            for core in 0..16 {
                agenda.plan(Cycles(1), Event::Continue { core: CoreId(core), epoch: Epoch(0) });
            }
            std::iter::from_fn(|| agenda.next()).map(|(_, e)| format!("{e:?}")).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
