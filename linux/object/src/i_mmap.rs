// SPDX-License-Identifier: GPL-2.0
//! The log of a file's mappings that are still to be put into its interval tree, `i_mmap`.
//!
//! `include/linux/i_mmap_ldu.h` declares the functions and the two layouts, and says who calls what.

use core::ptr::NonNull;

use kilocore_ldu::raw::{Inserted, InsertionLog, Node, Released};

use crate::kernel::Kernel;
use crate::rwsem::Rwsem;

/// `struct i_mmap_log` of the kernel.
type Log = InsertionLog<Kernel>;

/// `struct i_mmap_node` of the kernel, in each VMA.
type Entry = Node<Kernel>;

// What the C header states.
const _: () = assert!(size_of::<Log>() == 32 && align_of::<Log>() == 8);
const _: () = assert!(size_of::<Entry>() == 24 && align_of::<Entry>() == 8);

unsafe extern "C" {
    /// Puts the VMA of an entry into the tree of the file whose log this is. The lock is held for writing.
    fn i_mmap_ldu_put_in(log: *const Log, entry: *mut Entry);
    /// Frees the VMA of an entry, whose owner has freed it before.
    fn i_mmap_ldu_free(entry: *mut Entry);
}

/// What `i_mmap_log_insert` returns: `enum i_mmap_logged` of the kernel.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logged {
    /// The entry is another log's. Nothing was done.
    Elsewhere = 0,
    /// It is in the log.
    Pending = 1,
    /// Somebody looks for VMAs, so the log was applied.
    Held = 2,
    /// The log was full, and much of it was not cancelled, so it was applied.
    Full = 3,
    /// The log was full, so that what was cancelled has left it.
    Swept = 4,
}

impl From<Inserted> for Logged {
    fn from(inserted: Inserted) -> Self {
        match inserted {
            Inserted::Logged => Self::Pending,
            Inserted::Held => Self::Held,
            Inserted::Full => Self::Full,
            Inserted::Swept => Self::Swept,
        }
    }
}

fn free(released: Released<Kernel>) {
    // SAFETY: each entry was given up by `i_mmap_log_keeps` and is out of the log.
    released.free_all(|entry| unsafe { i_mmap_ldu_free(entry.as_ptr()) });
}

fn put_in(log: &Log) -> impl FnMut(NonNull<Entry>) {
    let log: *const Log = log;
    // SAFETY: the log calls this with the lock held as the writer, for an entry that it has claimed.
    move |entry| unsafe { i_mmap_ldu_put_in(log, entry.as_ptr()) }
}

/// Makes an empty log.
///
/// # Safety
/// `log` is memory for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_init(log: *mut Log) {
    // SAFETY: by the caller's promise.
    unsafe { log.write(InsertionLog::new()) }
}

/// Logs that a VMA is put in.
///
/// # Safety
/// `log` and `lock` are those of the VMA's file. The caller owns the VMA, which is in no tree and in no
/// log but as an entry that was cancelled. It may sleep, and does not hold the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_insert(
    log: &Log,
    lock: &Rwsem,
    entry: NonNull<Entry>,
    limit: u32,
) -> Logged {
    // SAFETY: the caller owns the VMA, which is out.
    if !unsafe { log.adopt(entry.as_ref()) } {
        return Logged::Elsewhere;
    }
    // SAFETY: as above. The VMA is freed only after `i_mmap_log_keeps` or `i_mmap_ldu_free`.
    let (inserted, released) = unsafe { log.insert(lock, entry, limit, put_in(log)) };
    free(released);
    inserted.into()
}

/// Logs that a VMA is put in, for a caller that holds the lock. Returns false, and has done nothing, if the VMA is
/// another log's. Sets `full` if the log is; the caller shortens it when it has left the lock.
///
/// # Safety
/// `log` is that of the VMA's file. The caller owns the VMA, which is in no tree, and holds the lock for writing. It
/// looks for no VMA until it leaves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_insert_inside(
    log: &Log,
    entry: NonNull<Entry>,
    limit: u32,
    full: &mut bool,
) -> bool {
    // SAFETY: by the caller's promise. The VMA is freed only after `i_mmap_log_keeps` or `i_mmap_ldu_free`.
    unsafe {
        let adopted = log.adopt(entry.as_ref());
        if adopted {
            *full |= log.insert_inside(entry, limit);
        }
        adopted
    }
}

/// Shortens a log that is full.
///
/// # Safety
/// `log` and `lock` are those of a file. The caller does not hold the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_shorten(log: &Log, lock: &Rwsem, limit: u32) -> Logged {
    // SAFETY: by the caller's promise.
    let (how, released) = unsafe { log.shorten(lock, limit, put_in(log)) };
    free(released);
    how.into()
}

/// Lets what was cancelled leave the log, for a caller that has just cancelled an insertion.
///
/// # Safety
/// `log` and `lock` are those of a file. The caller does not hold the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_clear_cancelled(log: &Log, lock: &Rwsem) {
    // SAFETY: by the caller's promise.
    free(unsafe { log.clear_cancelled(lock, put_in(log)) });
}

/// Returns whether a VMA's insertion is in the log and was not cancelled. That stays so while the caller holds the lock.
///
/// # Safety
/// The caller owns the VMA, `log` is that of its file, and the caller holds the lock for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_is_pending(log: &Log, entry: &Entry) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { log.is_pending(entry) }
}

/// Cancels the insertion of a VMA if it is still in the log, and returns whether it did. If not, the VMA
/// is in the tree, and the caller takes it out under the lock.
///
/// # Safety
/// The caller owns the VMA, and `log` is that of its file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_cancel(log: &Log, entry: &Entry) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { log.cancel(entry) }
}

/// Returns whether a log has a VMA in it that its owner frees. If so, the log frees it.
///
/// # Safety
/// The caller owns the VMA, which is in no tree, and does not use it again if this returns true.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_keeps(entry: &Entry) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { !entry.give_up() }
}

/// Applies the log.
///
/// # Safety
/// The caller holds the lock of the log's file for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_apply(log: &Log) {
    // SAFETY: by the caller's promise.
    free(unsafe { log.apply(put_in(log)) });
}

/// Applies the log for a reader, which leaves the lock meanwhile.
///
/// # Safety
/// The caller holds the lock of the log's file for reading.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_catch_up(log: &Log, lock: &Rwsem) {
    // SAFETY: by the caller's promise.
    free(unsafe { log.catch_up(lock, put_in(log)) });
}

/// Does the same without waiting for others. Returns false, and has left the lock, if that was not
/// possible.
///
/// # Safety
/// As for [`i_mmap_log_catch_up`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn i_mmap_log_try_catch_up(log: &Log, lock: &Rwsem) -> bool {
    // SAFETY: by the caller's promise.
    let (inside, released) = unsafe { log.try_catch_up(lock, put_in(log)) };
    free(released);
    inside
}
