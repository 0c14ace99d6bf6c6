//! How much of other people's files this process holds in memory.
//!
//! A file may say anything of its own size, and a sparse one costs its owner nothing. So what is read is
//! counted for the whole process, and what would be too much is not read. A quarter of the memory that
//! was available when the first was read leaves room for what is made of the bytes.

use std::fmt;
use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bound of bytes, of which some are taken.
#[derive(Debug)]
pub struct Room {
    size: u64,
    taken: AtomicU64,
}

/// A part of the room, which is free again when this is dropped.
#[derive(Debug)]
pub struct Taken {
    room: &'static Room,
    bytes: u64,
}

/// There is not as much room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom {
    /// How many bytes were wanted.
    pub wanted: u64,
    /// How many were taken already.
    pub taken: u64,
    /// How many there are in all.
    pub size: u64,
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        let Self { wanted, taken, size } = *self;
        write!(
            f,
            "it takes {} MiB, and {} of the {} MiB are in use that Kilocore spends on files of programs \
             here (a quarter of the memory that was available)",
            mebibytes(wanted),
            mebibytes(taken),
            mebibytes(size)
        )
    }
}

impl std::error::Error for NoRoom {}

impl Room {
    /// The room of this process.
    #[must_use]
    pub fn of_this_process() -> &'static Self {
        static ROOM: OnceLock<Room> = OnceLock::new();
        ROOM.get_or_init(|| {
            let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
            Self::new(available(&text).unwrap_or(1 << 30) / 4)
        })
    }

    /// A room of this size in bytes.
    #[must_use]
    pub const fn new(size: u64) -> Self {
        Self { size, taken: AtomicU64::new(0) }
    }

    /// Takes a part of it.
    ///
    /// # Errors
    /// If less than that is left.
    pub fn take(&'static self, bytes: u64) -> Result<Taken, NoRoom> {
        // A count guards no other memory, so that no order is needed.
        let fits = |taken: u64| taken.checked_add(bytes).filter(|all| *all <= self.size);
        match self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => Ok(Taken { room: self, bytes }),
            Err(taken) => Err(NoRoom { wanted: bytes, taken, size: self.size }),
        }
    }
}

impl Taken {
    /// Adds another part of the same room to this one.
    pub fn join(&mut self, mut other: Self) {
        debug_assert!(std::ptr::eq(self.room, other.room));
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.room.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back() {
        static ROOM: Room = Room::new(10);
        let mut first = ROOM.take(6).expect("it fits");
        let refused = ROOM.take(5).expect_err("it does not");
        assert_eq!(refused, NoRoom { wanted: 5, taken: 6, size: 10 });
        first.join(ROOM.take(4).expect("it fits"));
        assert!(ROOM.take(1).is_err() && ROOM.take(u64::MAX).is_err());
        drop(first);
        assert!(ROOM.take(10).is_ok());
    }

    #[test]
    fn the_available_memory_is_read() {
        assert_eq!(available("MemTotal:  9 kB\nMemAvailable:    3 kB\n"), Some(3072));
        assert_eq!(available("MemAvailable: x kB"), None);
    }
}
