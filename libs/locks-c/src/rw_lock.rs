//! The tables of functions of the read-write locks.

use core::ffi::{CStr, c_char};

use kilocore_locks::{CentralRw, RawRwLock, Rwsem};
use kilocore_platform::Native;

use crate::lock::{Tables, c_string};

/// For how many turns a thread in the queue of a semaphore spins before it sleeps.
const SEMAPHORE_TURNS: u32 = 256;

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

/// What can be done with a read-write lock of one algorithm; `struct kc_rwlock_algorithm` of the
/// header.
#[repr(C)]
#[derive(Debug)]
pub struct KcRwLockAlgorithm {
    name: *const c_char,
    title: *const c_char,
    make: extern "C" fn() -> *mut KcRwLock,
    free: unsafe extern "C" fn(*mut KcRwLock),
    acquire_shared: unsafe extern "C" fn(*mut KcRwLock),
    try_acquire_shared: unsafe extern "C" fn(*mut KcRwLock) -> bool,
    release_shared: unsafe extern "C" fn(*mut KcRwLock),
    acquire: unsafe extern "C" fn(*mut KcRwLock),
    try_acquire: unsafe extern "C" fn(*mut KcRwLock) -> bool,
    release: unsafe extern "C" fn(*mut KcRwLock),
    downgrade: unsafe extern "C" fn(*mut KcRwLock),
}

// SAFETY: the texts are static and nobody writes to them.
unsafe impl Sync for KcRwLockAlgorithm {}

/// A read-write lock that C can ask for.
trait Offered: RawRwLock<Native> {
    /// Its table.
    const TABLE: &'static KcRwLockAlgorithm;
}

extern "C" fn make<L: Offered>() -> *mut KcRwLock {
    let head = KcRwLock { algorithm: L::TABLE };
    Box::into_raw(Box::new(Object { head, lock: L::new() })).cast()
}

/// # Safety
/// `object` came from [`make`] for the same `L`, and nobody uses it any more.
unsafe extern "C" fn free<L: Offered>(object: *mut KcRwLock) {
    // SAFETY: by the caller's promise.
    drop(unsafe { Box::from_raw(object.cast::<Object<L>>()) });
}

/// Writes functions that call the methods of a lock.
macro_rules! functions {
    ($($name:ident $(-> $result:ty)?;)*) => {
        $(
            /// # Safety
            /// `object` came from [`make`] for the same `L` and is live. The caller keeps the promise
            /// that the method asks for.
            #[allow(unused_unsafe)]
            unsafe extern "C" fn $name<L: Offered>(object: *mut KcRwLock) $(-> $result)? {
                // SAFETY: by the caller's promise.
                let lock = unsafe { &(*object.cast::<Object<L>>()).lock };
                // SAFETY: by the caller's promise.
                unsafe { lock.$name() }
            }
        )*
    };
}

functions! {
    acquire_shared;
    try_acquire_shared -> bool;
    release_shared;
    acquire;
    try_acquire -> bool;
    release;
    downgrade;
}

/// Returns the table of `L`.
const fn algorithm<L: Offered>(name: &'static CStr, title: &'static CStr) -> KcRwLockAlgorithm {
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

/// Writes the table of each lock, under the name by which C knows it, and a table of the tables.
macro_rules! algorithms {
    ($($symbol:ident => $lock:ty, $name:literal, $title:literal;)*) => {
        $(
            #[doc = $title]
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            pub static $symbol: KcRwLockAlgorithm =
                algorithm::<$lock>(c_string!($name), c_string!($title));

            impl Offered for $lock {
                const TABLE: &'static KcRwLockAlgorithm = &$symbol;
            }
        )*

        /// The tables, and a null pointer behind them.
        static ALL: Tables<KcRwLockAlgorithm, { [$($name),*].len() + 1 }> =
            Tables([$(&raw const $symbol,)* core::ptr::null()]);
    };
}

algorithms! {
    kc_central_rw => CentralRw<Native>, "central-rw", "one counter; readers first";
    kc_rwsem => Rwsem<Native, SEMAPHORE_TURNS>, "rwsem", "the kernel's read-write semaphore";
}

/// Returns the tables of all read-write locks, and a null pointer behind them.
#[unsafe(no_mangle)]
pub extern "C" fn kc_rwlock_algorithms() -> *const *const KcRwLockAlgorithm {
    ALL.0.as_ptr()
}

/// Returns the table of the read-write lock with this name, or null if none has it.
///
/// # Safety
/// `name` points to a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_rwlock_find(name: *const c_char) -> *const KcRwLockAlgorithm {
    // SAFETY: by the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let tables = ALL.0.iter().filter(|table| !table.is_null());
    // SAFETY: what is not null points to a static, whose name is a static text.
    let found = tables.copied().find(|table| unsafe { CStr::from_ptr((**table).name) } == name);
    found.unwrap_or(core::ptr::null())
}

/// Returns a new read-write lock.
///
/// # Safety
/// `algorithm` is one of this library's tables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_rwlock_new(algorithm: *const KcRwLockAlgorithm) -> *mut KcRwLock {
    // SAFETY: by the caller's promise.
    unsafe { ((*algorithm).make)() }
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
