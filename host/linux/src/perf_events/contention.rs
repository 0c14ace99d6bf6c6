//! The places at which waits for the kernel's own locks begin and end: `lock:contention_begin` and
//! `lock:contention_end`, since Linux 5.19.

use crate::perf_events::{Field, Tracefs, Tracepoint, TracepointError};

/// The names of both places.
const BEGINS: &str = "lock/contention_begin";
const ENDS: &str = "lock/contention_end";

/// The flags of a record that was made in an interrupt, whatever thread was interrupted.
const HARD_INTERRUPT: u64 = 0x08;
const SOFT_INTERRUPT: u64 = 0x10;

/// One of the two places, and where its fields lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentionPlace {
    lock: Field,
    context: Field,
    /// Of the place at which a wait begins.
    flags: Option<Field>,
}

/// What a record of such a place says of the running thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentionEvent {
    /// It begins to wait for a lock.
    Begins {
        /// The address of the lock.
        lock: u64,
        /// What the kernel says of the lock and of the wait.
        flags: LockFlags,
    },
    /// It has the lock, or has given up.
    Ends {
        /// The address of the lock.
        lock: u64,
    },
}

/// What the kernel says of a lock, and of how it is waited for. Several may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockFlags(pub u64);

impl LockFlags {
    /// The thread spins. A mutex is spun for first, and then, if that was in vain, slept for: then the
    /// same wait begins once more, without this.
    pub const SPIN: Self = Self(1);
    /// For reading.
    pub const READ: Self = Self(2);
    /// For writing.
    pub const WRITE: Self = Self(4);
    /// A mutex of the kind that lends priorities.
    pub const REAL_TIME: Self = Self(8);
    /// A lock of which each core has a part.
    pub const PER_CPU: Self = Self(16);
    /// A mutex.
    pub const MUTEX: Self = Self(32);

    /// Whether all of these hold.
    #[must_use]
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl Tracefs {
    /// The places at which waits for the kernel's own locks begin and end.
    ///
    /// # Errors
    /// As of [`find`](Self::find).
    pub fn find_contention(&self) -> Result<[(u64, ContentionPlace); 2], TracepointError> {
        let find = |name: &str, place: fn(&Tracepoint) -> Option<ContentionPlace>| {
            let found = self.find(name)?;
            let unknown = || TracepointError::Unknown { path: name.into() };
            Ok((found.id, place(&found).ok_or_else(unknown)?))
        };
        Ok([find(BEGINS, ContentionPlace::begins)?, find(ENDS, ContentionPlace::ends)?])
    }
}

impl ContentionPlace {
    /// From the description of the place at which waits begin.
    #[must_use]
    pub fn begins(place: &Tracepoint) -> Option<Self> {
        Some(Self { flags: Some(place.field("flags")?), ..Self::ends(place)? })
    }

    /// From the description of the place at which they end.
    #[must_use]
    pub fn ends(place: &Tracepoint) -> Option<Self> {
        let (lock, context) = (place.field("lock_addr")?, place.field("common_flags")?);
        Some(Self { lock, context, flags: None })
    }

    /// Whether it is the place at which they begin.
    #[must_use]
    pub fn is_begin(self) -> bool {
        self.flags.is_some()
    }

    /// What a record's raw data say. Nothing is said of locks that interrupts wait for: the thread that
    /// they interrupt has nothing to do with them.
    #[must_use]
    pub fn read(self, raw: &[u8]) -> Option<ContentionEvent> {
        if is_in_interrupt(self.context, raw)? {
            return None;
        }
        let lock = self.lock.of(raw)?;
        Some(match self.flags {
            Some(flags) => ContentionEvent::Begins { lock, flags: LockFlags(flags.of(raw)?) },
            None => ContentionEvent::Ends { lock },
        })
    }
}

/// Whether a record was made in an interrupt, by the field `common_flags` that all places have.
#[must_use]
pub fn is_in_interrupt(context: Field, raw: &[u8]) -> Option<bool> {
    Some(context.of(raw)? & (HARD_INTERRUPT | SOFT_INTERRUPT) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: &str = "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n";
    const LOCK: &str = "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n";
    const FLAGS: &str = "\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n";

    fn place(fields: &[&str]) -> Tracepoint {
        Tracepoint::parse(&format!("ID: 4\nformat:\n{}", fields.concat())).expect("a number")
    }

    fn raw(context: u8, lock: u64, flags: u32) -> Vec<u8> {
        [&[0, 0, context, 0, 0, 0, 0, 0][..], &lock.to_ne_bytes(), &flags.to_ne_bytes()].concat()
    }

    #[test]
    fn records_are_read_by_the_kernels_own_description() {
        let begins = ContentionPlace::begins(&place(&[CONTEXT, LOCK, FLAGS])).expect("its fields");
        let ends = ContentionPlace::ends(&place(&[CONTEXT, LOCK])).expect("its fields");
        assert!(begins.is_begin() && !ends.is_begin());
        let event = ContentionEvent::Begins { lock: 0xabc, flags: LockFlags(33) };
        assert_eq!(begins.read(&raw(1, 0xabc, 33)), Some(event));
        assert_eq!(ends.read(&raw(1, 0xabc, 0)), Some(ContentionEvent::Ends { lock: 0xabc }));
        for interrupt in [0x08, 0x10] {
            assert_eq!(begins.read(&raw(interrupt, 0xabc, 33)), None);
            assert_eq!(ends.read(&raw(interrupt, 0xabc, 0)), None);
        }
        assert_eq!(begins.read(&raw(0, 0xabc, 33)[..17]), None, "it ends too early");
        assert_eq!(ContentionPlace::begins(&place(&[CONTEXT, LOCK])), None, "no flags");
    }

    #[test]
    fn several_flags_hold_at_a_time() {
        assert!(LockFlags(33).has(LockFlags::SPIN) && LockFlags(33).has(LockFlags::MUTEX));
        assert!(!LockFlags(32).has(LockFlags::SPIN));
        assert!(!LockFlags(0).has(LockFlags::READ));
    }

    #[test]
    fn this_kernel_has_both_places_or_it_says_why_not() {
        match Tracefs::open().and_then(|tracefs| tracefs.find_contention()) {
            Ok([begins, ends]) => assert!(begins.0 != ends.0 && begins.1.is_begin()),
            Err(error) => assert!(!matches!(error, TracepointError::Unknown { .. }), "{error}"),
        }
    }
}
