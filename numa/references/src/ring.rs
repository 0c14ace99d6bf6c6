//! A ring: one thread writes records into it, and the reader takes them out.
//!
//! The writer shows its records to the reader only now and then ([`Writer::publish`]), normally at the
//! end of a quantum. Positions count up for ever, and a slot is their lowest bits.

use core::sync::atomic::Ordering;

use crate::Burst;
use crate::layout::{RingHeader, Slot};
use crate::record::{self, MOST_MORE, Record};

/// The writing end. There is one for each ring that is taken.
#[derive(Debug)]
pub struct Writer<'a> {
    ring: &'a RingHeader,
    slots: &'a [Slot],
    head: u64,
    /// The tail as it was last seen: there is at least as much room.
    tail: u64,
}

impl<'a> Writer<'a> {
    /// Begins where the ring stands.
    #[must_use]
    pub fn new((ring, slots): (&'a RingHeader, &'a [Slot])) -> Self {
        let head = ring.head.load(Ordering::Relaxed);
        Self { ring, slots, head, tail: ring.tail().load(Ordering::Acquire) }
    }

    /// The header of the ring that this writes into.
    #[must_use]
    pub fn ring(&self) -> &'a RingHeader {
        self.ring
    }

    /// Whether there is room for so many slots.
    #[inline]
    pub fn has_room(&mut self, slots: usize) -> bool {
        let most = (self.slots.len() - slots) as u64;
        if self.head - self.tail <= most {
            return true;
        }
        // Acquire: the reader has taken out of a slot what it wants before the slot is written again.
        self.tail = self.ring.tail().load(Ordering::Acquire);
        self.head - self.tail <= most
    }

    /// Writes a slot. There has to be room, or the oldest slot is lost.
    #[inline]
    pub fn push(&mut self, [first, second]: [u64; 2]) {
        let slot = &self.slots[self.head as usize & (self.slots.len() - 1)];
        slot[0].store(first, Ordering::Relaxed);
        slot[1].store(second, Ordering::Relaxed);
        self.head += 1;
    }

    /// Shows the reader everything so far. Returns how many slots are full, by the tail that was last
    /// seen.
    #[inline]
    pub fn publish(&mut self) -> usize {
        // Release: whoever sees the head sees the slots before it.
        self.ring.head.store(self.head, Ordering::Release);
        (self.head - self.tail) as usize
    }
}

/// The reading end of a ring.
#[derive(Debug)]
pub struct Reader<'a> {
    ring: &'a RingHeader,
    slots: &'a [Slot],
    tail: u64,
    /// The head as it was last seen.
    head: u64,
}

/// A ring holds what no writer writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a ring holds what no program writes")]
pub struct Malformed;

impl<'a> Reader<'a> {
    /// Begins where the ring stands.
    #[must_use]
    pub fn new((ring, slots): (&'a RingHeader, &'a [Slot])) -> Self {
        let tail = ring.tail().load(Ordering::Relaxed);
        Self { ring, slots, tail, head: tail }
    }

    /// The header of the ring that this reads.
    #[must_use]
    pub fn ring(&self) -> &'a RingHeader {
        self.ring
    }

    /// Looks for what the thread has published since. Returns whether the ring has anything.
    pub fn look(&mut self) -> bool {
        self.head = self.ring.head.load(Ordering::Acquire);
        !self.is_empty()
    }

    /// Whether it has nothing, as it was when somebody last looked.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Whether at most half of its slots are full now.
    #[must_use]
    pub fn is_half_empty(&self) -> bool {
        let full = self.ring.head.load(Ordering::Acquire).wrapping_sub(self.tail);
        full <= self.slots.len() as u64 / 2
    }

    #[inline]
    fn slot(&self, position: u64) -> [u64; 2] {
        let slot = &self.slots[position as usize & (self.slots.len() - 1)];
        [slot[0].load(Ordering::Relaxed), slot[1].load(Ordering::Relaxed)]
    }

    /// Takes out the next record, if it is a burst: the quick way for what there is most of.
    #[inline]
    pub fn take_burst(&mut self) -> Option<Burst> {
        if self.is_empty() {
            return None;
        }
        let burst = record::as_burst(self.slot(self.tail))?;
        self.tail += 1;
        Some(burst)
    }

    /// Returns the next record, which stays where it is.
    ///
    /// # Errors
    /// If there is none, though there are slots.
    #[inline]
    pub fn front(&self) -> Result<Option<(Record, usize)>, Malformed> {
        let full = self.head.wrapping_sub(self.tail);
        if full == 0 {
            return Ok(None);
        }
        let first = self.slot(self.tail);
        let length = 1 + record::more(first[0]);
        if full > self.slots.len() as u64 || length as u64 > full {
            return Err(Malformed);
        }
        if length == 1 {
            return Record::decode(&[first]).map(|record| Some((record, 1))).ok_or(Malformed);
        }
        let mut slots = [[0; 2]; 1 + MOST_MORE];
        slots[0] = first;
        for (slot, position) in slots[1..length].iter_mut().zip(self.tail + 1..) {
            *slot = self.slot(position);
        }
        Record::decode(&slots[..length]).map(|record| Some((record, length))).ok_or(Malformed)
    }

    /// Takes out a record of so many slots. The thread learns of it with [`Reader::give_back`].
    pub fn skip(&mut self, length: usize) {
        self.tail += length as u64;
    }

    /// Lets the thread use the room of what was taken out.
    pub fn give_back(&self) {
        self.ring.tail().store(self.tail, Ordering::Release);
    }
}
