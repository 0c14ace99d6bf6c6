//! What a thread keeps of the read-write locks that it holds for reading.
//!
//! POSIX lets a thread that reads ask to read once more, and it must get in although a writer
//! waits. Under a lock that admits writers first, the thread and the writer would otherwise wait
//! for each other. So a thread that reads already only counts. And `pthread_rwlock_unlock` has no
//! place to pass on what a reader got as it entered, so that is kept here as well.
//!
//! # Room
//! A thread that reads under more locks than there is room for enters the others without a record.
//! It must not read there once more while a writer waits.
//!
//! # Doubt
//! POSIX does not allow a thread to unlock for another one, but under glibc that works. The thread
//! that had locked then still has a record. It must not believe this record when it reads once
//! more, since a writer may be inside. So each lock counts the releases that found no record. A
//! record is valid only while this number is what it was when the record was made.

use core::mem::MaybeUninit;

/// The number of locks that a thread may read under with a record.
const ROOM: usize = 8;

/// A place for what a reader gets as it enters.
type Token = MaybeUninit<u64>;

/// The read-write locks that a thread holds for reading. `c/wait.c` contains its size. All zeros is
/// an empty list.
#[repr(C)]
pub(crate) struct ReadHolds {
    /// How many of the records are in use: those at the front.
    count: usize,
    records: [Record; ROOM],
}

const _: () = assert!(size_of::<ReadHolds>() == 200, "enlarge it, here and in wait.c");

#[derive(Clone, Copy)]
#[repr(C)]
struct Record {
    /// The address of the lock.
    lock: usize,
    /// How often the thread has entered beyond the first time. Zero if the record is not in use.
    nested: u32,
    /// How many releases without a record the lock had seen when this record was made.
    strangers: u32,
    token: Token,
}

impl Record {
    /// Makes a record that is not in use one of `lock`. Its `nested` is zero.
    #[inline(always)]
    fn set<R: Copy>(&mut self, lock: usize, strangers: u32, token: R) {
        const {
            assert!(size_of::<R>() <= size_of::<Token>(), "the token does not fit");
            assert!(align_of::<R>() <= align_of::<Token>(), "the token does not fit");
        }
        self.lock = lock;
        self.strangers = strangers;
        // SAFETY: a token fits, as checked above.
        unsafe { self.token.as_mut_ptr().cast::<R>().write(token) };
    }

    /// Returns the token.
    ///
    /// # Safety
    /// The record was made with a token of type `R`.
    #[inline(always)]
    unsafe fn token<R: Copy>(&self) -> R {
        // SAFETY: by the caller's promise.
        unsafe { self.token.as_ptr().cast::<R>().read() }
    }
}

/// What a thread that leaves finds in its list.
pub(crate) enum Left<R> {
    /// It is still inside.
    Nested,
    /// It was inside once, with this token.
    Last(R),
    /// It has no record of the lock.
    Unknown,
}

/// The error if a thread has entered too often.
pub(crate) struct TooOften;

impl ReadHolds {
    /// Whether the thread has no record.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the place of the record of `lock`.
    fn find(&self, lock: usize) -> Option<usize> {
        // The lock that was entered last is left first, as a rule.
        self.records.get(..self.count)?.iter().rposition(|record| record.lock == lock)
    }

    /// Counts one more entry into `lock`, if the thread is inside. Returns whether it is. Drops the
    /// record if it is in doubt, that is, if `strangers` is not what it was.
    pub(crate) fn enter_again(&mut self, lock: usize, strangers: u32) -> Result<bool, TooOften> {
        let Some(at) = self.find(lock) else { return Ok(false) };
        let Some(record) = self.records.get_mut(at) else { return Ok(false) };
        if record.strangers != strangers {
            record.nested = 0;
            self.remove(at);
            return Ok(false);
        }
        record.nested = record.nested.checked_add(1).ok_or(TooOften)?;
        Ok(true)
    }

    /// Records that the thread has entered `lock` and got `token`. The list is empty.
    #[inline(always)]
    pub(crate) fn add_first<R: Copy>(&mut self, lock: usize, strangers: u32, token: R) {
        let [first, ..] = &mut self.records;
        first.set(lock, strangers, token);
        self.count = 1;
    }

    /// Records that the thread has entered `lock` and got `token`, if there is room.
    pub(crate) fn add<R: Copy>(&mut self, lock: usize, strangers: u32, token: R) {
        if let Some(record) = self.records.get_mut(self.count) {
            record.set(lock, strangers, token);
            self.count += 1;
        }
    }

    /// Records that the thread leaves `lock`.
    ///
    /// # Safety
    /// All tokens that were added for this lock are of type `R`.
    #[inline(always)]
    pub(crate) unsafe fn leave<R: Copy>(&mut self, lock: usize) -> Left<R> {
        let [first, ..] = &self.records;
        if self.count == 1 && first.lock == lock && first.nested == 0 {
            self.count = 0;
            // SAFETY: the caller's promise, here and below.
            return Left::Last(unsafe { first.token() });
        }
        unsafe { self.leave_one_of_many(lock) }
    }

    /// # Safety
    /// As for [`leave`](Self::leave).
    #[inline(never)]
    unsafe fn leave_one_of_many<R: Copy>(&mut self, lock: usize) -> Left<R> {
        let Some(at) = self.find(lock) else { return Left::Unknown };
        let Some(record) = self.records.get_mut(at) else { return Left::Unknown };
        if record.nested != 0 {
            record.nested -= 1;
            return Left::Nested;
        }
        // SAFETY: the caller's promise.
        let token = unsafe { record.token() };
        self.remove(at);
        Left::Last(token)
    }

    /// Drops the record of a lock that begins or ends its life.
    pub(crate) fn forget(&mut self, lock: usize) {
        if let Some(at) = self.find(lock)
            && let Some(record) = self.records.get_mut(at)
        {
            record.nested = 0;
            self.remove(at);
        }
    }

    /// Drops the record at `at`, whose `nested` is zero, and moves the last one there.
    fn remove(&mut self, at: usize) {
        self.count -= 1;
        if at == self.count {
            return;
        }
        if let Some(last) = self.records.get_mut(self.count) {
            let moved = *last;
            last.nested = 0;
            if let Some(record) = self.records.get_mut(at) {
                *record = moved;
            }
        }
    }
}
