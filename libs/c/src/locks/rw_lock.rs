//! The tables of functions of the read-write locks.

use core::ffi::{CStr, c_char};

use kilocore_locks::{LockInfo, RawRwLock, ReaderToken, RwLockId};
use kilocore_platform::Native;

use crate::locks::tables::{find, tables};

/// The beginning of a read-write lock; `struct kc_rwlock` of the header.
#[repr(C)]
#[derive(Debug)]
pub struct KcRwLock {
    algorithm: *const KcRwLockAlgorithm,
}

/// A read-write lock of one algorithm.
#[repr(C)]
struct Object<L> {
    head: KcRwLock,
    lock: L,
}

/// What a reader gets as it enters; `struct kc_reader` of the header.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct KcReader(u64);

/// What can be done with a read-write lock of one algorithm; `struct kc_rwlock_algorithm` of the
/// header.
#[repr(C)]
#[derive(Debug)]
pub struct KcRwLockAlgorithm {
    name: *const c_char,
    title: *const c_char,
    make: extern "C" fn() -> *mut KcRwLock,
    free: unsafe extern "C" fn(*mut KcRwLock),
    acquire_shared: unsafe extern "C" fn(*mut KcRwLock) -> KcReader,
    try_acquire_shared: unsafe extern "C" fn(*mut KcRwLock, *mut KcReader) -> bool,
    release_shared: unsafe extern "C" fn(*mut KcRwLock, KcReader),
    acquire: unsafe extern "C" fn(*mut KcRwLock),
    try_acquire: unsafe extern "C" fn(*mut KcRwLock) -> bool,
    release: unsafe extern "C" fn(*mut KcRwLock),
    downgrade: unsafe extern "C" fn(*mut KcRwLock) -> KcReader,
}

// SAFETY: the texts are static and nobody writes to them.
unsafe impl Sync for KcRwLockAlgorithm {}

/// Makes an object that does not know its table yet.
extern "C" fn make<L: RawRwLock<Native>>() -> *mut KcRwLock {
    let head = KcRwLock { algorithm: core::ptr::null() };
    Box::into_raw(Box::new(Object { head, lock: L::new() })).cast()
}

/// # Safety
/// `object` came from [`make`] for the same `L`, and nobody uses it any more.
unsafe extern "C" fn free<L: RawRwLock<Native>>(object: *mut KcRwLock) {
    // SAFETY: by the caller's promise.
    drop(unsafe { Box::from_raw(object.cast::<Object<L>>()) });
}

/// Returns the lock of an object.
///
/// # Safety
/// `object` came from [`make`] for the same `L` and is live.
unsafe fn lock<'a, L: RawRwLock<Native>>(object: *mut KcRwLock) -> &'a L {
    // SAFETY: by the caller's promise.
    unsafe { &(*object.cast::<Object<L>>()).lock }
}

/// # Safety
/// As for [`lock`].
unsafe extern "C" fn acquire_shared<L: RawRwLock<Native>>(object: *mut KcRwLock) -> KcReader {
    // SAFETY: by the caller's promise.
    KcReader(unsafe { lock::<L>(object) }.acquire_shared().to_bits())
}

/// # Safety
/// As for [`lock`]. `to` may be written.
unsafe extern "C" fn try_acquire_shared<L: RawRwLock<Native>>(
    object: *mut KcRwLock,
    to: *mut KcReader,
) -> bool {
    // SAFETY: by the caller's promise.
    let reader = unsafe { lock::<L>(object) }.try_acquire_shared();
    if let Some(reader) = reader {
        // SAFETY: by the caller's promise.
        unsafe { to.write(KcReader(reader.to_bits())) };
    }
    reader.is_some()
}

/// # Safety
/// As for [`lock`]. The reader is inside and got this as it entered.
unsafe extern "C" fn release_shared<L: RawRwLock<Native>>(object: *mut KcRwLock, reader: KcReader) {
    // SAFETY: by the caller's promise.
    unsafe { lock::<L>(object).release_shared(L::Reader::from_bits(reader.0)) };
}

/// # Safety
/// As for [`lock`].
unsafe extern "C" fn acquire<L: RawRwLock<Native>>(object: *mut KcRwLock) {
    // SAFETY: by the caller's promise.
    unsafe { lock::<L>(object) }.acquire();
}

/// # Safety
/// As for [`lock`].
unsafe extern "C" fn try_acquire<L: RawRwLock<Native>>(object: *mut KcRwLock) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { lock::<L>(object) }.try_acquire()
}

/// # Safety
/// As for [`lock`]. The calling thread is inside as the writer.
unsafe extern "C" fn release<L: RawRwLock<Native>>(object: *mut KcRwLock) {
    // SAFETY: by the caller's promise.
    unsafe { lock::<L>(object).release() };
}

/// # Safety
/// As for [`lock`]. The calling thread is inside as the writer.
unsafe extern "C" fn downgrade<L: RawRwLock<Native>>(object: *mut KcRwLock) -> KcReader {
    // SAFETY: by the caller's promise.
    KcReader(unsafe { lock::<L>(object).downgrade() }.to_bits())
}

/// Returns the table of `L`.
const fn algorithm<L: RawRwLock<Native>>(
    name: &'static CStr,
    title: &'static CStr,
    _info: &LockInfo,
) -> KcRwLockAlgorithm {
    KcRwLockAlgorithm {
        name: name.as_ptr(),
        title: title.as_ptr(),
        make: make::<L>,
        free: free::<L>,
        acquire_shared: acquire_shared::<L>,
        try_acquire_shared: try_acquire_shared::<L>,
        release_shared: release_shared::<L>,
        acquire: acquire::<L>,
        try_acquire: try_acquire::<L>,
        release: release::<L>,
        downgrade: downgrade::<L>,
    }
}

tables! {
    KcRwLockAlgorithm, RwLockId:
    kc_central_rw => CentralRw;
    kc_reader_first => ReaderFirst;
    kc_writer_first => WriterFirst;
    kc_phase_fair => PhaseFair;
    kc_bravo_central => BravoCentral;
    kc_bravo_writer_first => BravoWriterFirst;
    kc_bravo_phase_fair => BravoPhaseFair;
    kc_per_core => PerCore;
}

/// Returns the tables of all read-write locks, and a null pointer behind them.
#[unsafe(no_mangle)]
pub extern "C" fn kc_rwlock_algorithms() -> *const *const KcRwLockAlgorithm {
    ALL.as_ptr()
}

/// Returns the table of the read-write lock with this name, or null if none has it.
///
/// # Safety
/// `name` points to a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_rwlock_find(name: *const c_char) -> *const KcRwLockAlgorithm {
    // SAFETY: by the caller's promise.
    unsafe { find(&ALL, name, |lock: RwLockId| lock as usize) }
}

/// Returns a new read-write lock.
///
/// # Safety
/// `algorithm` is one of this library's tables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_rwlock_new(algorithm: *const KcRwLockAlgorithm) -> *mut KcRwLock {
    // SAFETY: by the caller's promise. The object is new.
    unsafe {
        let lock = ((*algorithm).make)();
        (*lock).algorithm = algorithm;
        lock
    }
}

/// Frees a read-write lock.
///
/// # Safety
/// `lock` came from [`kc_rwlock_new`]. Nobody uses it any more, and every release has returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_rwlock_destroy(lock: *mut KcRwLock) {
    // SAFETY: by the caller's promise.
    unsafe { ((*(*lock).algorithm).free)(lock) };
}
