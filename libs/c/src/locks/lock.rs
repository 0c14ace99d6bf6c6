//! The tables of functions of the locks.

use core::ffi::{CStr, c_char};

use kilocore_locks::{KeepsThread, LockId, LockInfo};
use kilocore_platform::Native;

use crate::locks::tables::{find, tables};

/// The words of a lock.
pub(crate) type State = [u64; 2];

/// A lock; `struct kc_lock` of the header.
#[repr(C)]
#[derive(Debug)]
pub struct KcLock {
    pub(crate) algorithm: *const KcLockAlgorithm,
    pub(crate) state: State,
}

/// What can be done with a lock of one algorithm; `struct kc_lock_algorithm` of the header.
#[repr(C)]
#[derive(Debug)]
pub struct KcLockAlgorithm {
    name: *const c_char,
    title: *const c_char,
    sleeps: bool,
    pub(crate) acquire: unsafe extern "C" fn(*mut State),
    try_acquire: unsafe extern "C" fn(*mut State) -> bool,
    pub(crate) release: unsafe extern "C" fn(*mut State),
}

// SAFETY: the texts are static and nobody writes to them.
unsafe impl Sync for KcLockAlgorithm {}

/// Returns the lock in the words at `state`.
///
/// # Safety
/// All bits of `state` were zero when it was first used, and it was used for locks of type `L` only.
/// It is live, and aligned to eight bytes.
unsafe fn lock<'a, L: KeepsThread>(state: *mut State) -> &'a L {
    const {
        assert!(size_of::<L>() <= size_of::<State>());
        assert!(align_of::<L>() <= align_of::<State>());
    }
    // SAFETY: the words are large enough and aligned. A lock whose bits are all zero is free.
    unsafe { &*state.cast::<L>() }
}

/// # Safety
/// As for [`lock`].
unsafe extern "C" fn acquire<L: KeepsThread>(state: *mut State) {
    // SAFETY: by the caller's promise.
    let lock = unsafe { lock::<L>(state) };
    L::with_thread(|thread| lock.acquire(thread));
}

/// # Safety
/// As for [`lock`].
unsafe extern "C" fn try_acquire<L: KeepsThread>(state: *mut State) -> bool {
    // SAFETY: by the caller's promise.
    let lock = unsafe { lock::<L>(state) };
    L::with_thread(|thread| lock.try_acquire(thread))
}

/// # Safety
/// As for [`lock`]. The lock is held.
unsafe extern "C" fn release<L: KeepsThread>(state: *mut State) {
    // SAFETY: by the caller's promise.
    let lock = unsafe { lock::<L>(state) };
    // SAFETY: by the caller's promise.
    L::with_thread(|thread| unsafe { lock.release(thread) });
}

/// Returns the table of `L`.
const fn algorithm<L: KeepsThread>(
    name: &'static CStr,
    title: &'static CStr,
    info: &LockInfo,
) -> KcLockAlgorithm {
    KcLockAlgorithm {
        name: name.as_ptr(),
        title: title.as_ptr(),
        sleeps: info.waiting.sleeps(),
        acquire: acquire::<L>,
        try_acquire: try_acquire::<L>,
        release: release::<L>,
    }
}

tables! {
    KcLockAlgorithm, LockId:
    kc_tas => Tas;
    kc_ttas => Ttas;
    kc_backoff => Backoff;
    kc_ticket => Ticket;
    kc_ticket_backoff => TicketBackoff;
    kc_partitioned => Partitioned;
    kc_alock => Alock;
    kc_mcs => Mcs;
    kc_clh => Clh;
    kc_mcs_park => McsPark;
    kc_clh_park => ClhPark;
    kc_mcs_tp => McsTp;
    kc_futex => Futex;
    kc_adaptive => Adaptive;
    kc_mutexee => Mutexee;
    kc_cna => Cna;
    kc_c_bo_mcs => CBoMcs;
    kc_c_bo_mcs_park => CBoMcsPark;
    kc_c_tkt_tkt => CTktTkt;
    kc_c_ptl_tkt => CPtlTkt;
    kc_hmcs => Hmcs;
    kc_ahmcs => Ahmcs;
    kc_hticket => Hticket;
    kc_malthusian => Malthusian;
    kc_malthusian_spin => MalthusianSpin;
    kc_requester => Requester;
}

/// Returns the tables of all locks, and a null pointer behind them.
#[unsafe(no_mangle)]
pub extern "C" fn kc_lock_algorithms() -> *const *const KcLockAlgorithm {
    ALL.as_ptr()
}

/// Returns the table of the lock with this name, or null if no lock has it.
///
/// # Safety
/// `name` points to a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_lock_find(name: *const c_char) -> *const KcLockAlgorithm {
    // SAFETY: by the caller's promise.
    unsafe { find(&ALL, name, |lock: LockId| lock as usize) }
}
