//! What a thread keeps of the read-write locks that it holds for reading.
//!
//! POSIX lets a thread that reads ask to read once more, and it must get in although a writer
//! waits. Under a lock that admits writers first, the thread and the writer would otherwise wait
//! for each other. So a thread that reads already only counts. And `pthread_rwlock_unlock` has no
//! place to pass on what a reader got as it entered, so that is kept here as well.
//!
//! # Room
//! A thread that reads under more locks than there is room for enters the others without a record, as
//! a reader [like all others](kilocore_locks::RawRwLock::ALIKE). It must not read there once more while
//! a writer waits.
//!
//! # Doubt
//! POSIX does not allow a thread to unlock for another one, but under glibc that works. The thread
//! that had locked then still has a record. It must not believe this record when it reads once
//! more, since a writer may be inside. So each lock counts the releases that found no record. A
//! record is valid only while this number is what it was when the record was made. Locks that are
//! initialized by a function begin to count at different numbers, so that a record is not taken for
//! one of a later lock at the same address.

use kilocore_locks::ReaderToken;

/// The number of locks that a thread may read under with a record.
const ROOM: usize = 8;

/// What a reader gets as it enters, as a [number](kilocore_locks::ReaderToken::to_bits).
pub(crate) type Token = u64;

/// In the place of the address of a lock, says that the list may have any length.
const ANY: usize = 1;

/// The read-write locks that a thread holds for reading. `c/wait.c` contains its size. All zeros is
/// an empty list.
#[repr(C)]
pub(crate) struct ReadHolds {
    /// Zero if the list is empty, or the address of the lock if there is one record, which is the
    /// first, and it is not nested. Then nothing else says so. Otherwise it is [`ANY`].
    sole: usize,
    /// How many of the records are in use: those at the front. Only valid beside [`ANY`].
    count: usize,
    records: [Record; ROOM],
}

const _: () = assert!(size_of::<ReadHolds>() == 208, "enlarge it, here and in wait.c");

#[derive(Clone, Copy)]
#[repr(C)]
struct Record {
    /// The address of the lock.
    lock: usize,
    /// How often the thread has entered beyond the first time. Zero if the record is not in use.
    nested: u32,
    /// The number of releases without a record, as the lock had it when this record was made.
    strangers: u32,
    /// Not valid if all readers of the lock are alike.
    token: Token,
}

/// What a thread that leaves finds in its list.
pub(crate) enum Left {
    /// It is still inside.
    Nested,
    /// It was inside once, with this token.
    Last(Token),
    /// It has no record of the lock.
    Unknown,
}

/// The error if a thread has entered too often.
pub(crate) struct TooOften;

impl ReadHolds {
    /// Whether the thread has no record.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.sole == 0
    }

    /// Makes `count` and the first record valid.
    fn unpack(&mut self) {
        if self.sole != ANY {
            let [first, ..] = &mut self.records;
            first.lock = self.sole;
            self.count = usize::from(self.sole != 0);
            self.sole = ANY;
        }
    }

    /// Notes that the list is empty, or that there is one record that is not nested.
    fn pack(&mut self) {
        let [first, ..] = &self.records;
        match self.count {
            0 => self.sole = 0,
            1 if first.nested == 0 => self.sole = first.lock,
            _ => {}
        }
    }

    /// Counts one more entry into `lock`, if the thread is inside. Returns whether it is. Drops the
    /// record if it is in doubt, that is, if `strangers` is not what it was.
    pub(crate) fn enter_again(&mut self, lock: usize, strangers: u32) -> Result<bool, TooOften> {
        self.unpack();
        let mut again = Ok(false);
        if let Some(at) = self.find(lock)
            && let Some(record) = self.records.get_mut(at)
        {
            if record.strangers != strangers {
                self.remove(at);
            } else if let Some(nested) = record.nested.checked_add(1) {
                record.nested = nested;
                again = Ok(true);
            } else {
                again = Err(TooOften);
            }
        }
        self.pack();
        again
    }

    /// Records that the thread has entered `lock` and got `token`. The list is empty.
    #[inline(always)]
    pub(crate) fn add_first<R: ReaderToken>(&mut self, lock: usize, strangers: u32, token: R) {
        let [first, ..] = &mut self.records;
        first.strangers = strangers;
        if size_of::<R>() != 0 {
            first.token = token.to_bits();
        }
        self.sole = lock;
    }

    /// Whether there is room for one more record.
    pub(crate) fn has_room(&self) -> bool {
        self.sole != ANY || self.count < ROOM
    }

    /// Records that the thread has entered `lock` and got `token`, if there is room.
    pub(crate) fn add(&mut self, lock: usize, strangers: u32, token: Token) {
        self.unpack();
        if let Some(record) = self.records.get_mut(self.count) {
            // Its `nested` is zero already.
            record.lock = lock;
            record.strangers = strangers;
            record.token = token;
            self.count += 1;
        }
        self.pack();
    }

    /// Records that the thread leaves `lock`, if it has entered no other lock, and this one once.
    /// Returns what it got then.
    #[inline(always)]
    pub(crate) fn leave_sole<R: ReaderToken>(&mut self, lock: usize) -> Option<R> {
        if self.sole != lock {
            return None;
        }
        self.sole = 0;
        let [first, ..] = &self.records;
        Some(R::from_bits(first.token))
    }

    /// Records that the thread leaves `lock`.
    pub(crate) fn leave(&mut self, lock: usize) -> Left {
        self.unpack();
        let mut left = Left::Unknown;
        if let Some(at) = self.find(lock)
            && let Some(record) = self.records.get_mut(at)
        {
            if record.nested != 0 {
                record.nested -= 1;
                left = Left::Nested;
            } else {
                left = Left::Last(record.token);
                self.remove(at);
            }
        }
        self.pack();
        left
    }

    /// Drops the record of a lock that begins or ends its life.
    pub(crate) fn forget(&mut self, lock: usize) {
        self.unpack();
        if let Some(at) = self.find(lock) {
            self.remove(at);
        }
        self.pack();
    }

    /// Returns the place of the record of `lock`. The list is unpacked.
    fn find(&self, lock: usize) -> Option<usize> {
        // The lock that was entered last is left first, as a rule.
        self.records.get(..self.count)?.iter().rposition(|record| record.lock == lock)
    }

    /// Drops the record at `at`, and moves the last one there. The list is unpacked.
    fn remove(&mut self, at: usize) {
        self.count -= 1;
        if let Some(last) = self.records.get_mut(self.count) {
            let moved = *last;
            last.nested = 0;
            if at != self.count
                && let Some(record) = self.records.get_mut(at)
            {
                *record = moved;
            }
        }
    }
}
