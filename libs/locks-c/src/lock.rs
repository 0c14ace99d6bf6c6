//! The tables of functions of the locks.

use core::ffi::{CStr, c_char};

use kilocore_locks::{KeepsThread, LockId, Waiting};
use kilocore_platform::Native;

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
    waiting: Waiting,
) -> KcLockAlgorithm {
    KcLockAlgorithm {
        name: name.as_ptr(),
        title: title.as_ptr(),
        sleeps: waiting.sleeps(),
        acquire: acquire::<L>,
        try_acquire: try_acquire::<L>,
        release: release::<L>,
    }
}

/// Returns `text` and a zero byte behind it. `N` is one more than its length.
pub(crate) const fn terminated<const N: usize>(text: &str) -> [u8; N] {
    assert!(text.len() + 1 == N);
    let mut bytes = [0; N];
    let mut i = 0;
    while i < text.len() {
        bytes[i] = text.as_bytes()[i];
        i += 1;
    }
    bytes
}

/// Makes a C string, for ever, of a text that is known to the compiler.
macro_rules! c_string {
    ($text:expr) => {{
        static BYTES: [u8; $text.len() + 1] = crate::lock::terminated($text);
        match core::ffi::CStr::from_bytes_with_nul(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("a name has no zero byte in it"),
        }
    }};
}
pub(crate) use c_string;

/// Writes the table of each lock, under the name by which C knows it, and a table of the tables.
macro_rules! algorithms {
    ($($symbol:ident => $lock:ident;)*) => {
        $(
            #[doc = concat!("[`", stringify!($lock), "`](kilocore_locks::", stringify!($lock), ")")]
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            pub static $symbol: KcLockAlgorithm = algorithm::<kilocore_locks::$lock<Native>>(
                c_string!(LockId::$lock.info().name),
                c_string!(LockId::$lock.info().title),
                LockId::$lock.info().waiting,
            );
        )*

        /// The tables in the order of [`LockId::ALL`], and a null pointer behind them.
        static ALL: Tables<KcLockAlgorithm, { LockId::ALL.len() + 1 }> = {
            let mut tables = [core::ptr::null(); LockId::ALL.len() + 1];
            $(tables[LockId::$lock as usize] = &raw const $symbol;)*
            Tables(tables)
        };
    };
}

algorithms! {
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

/// Pointers to tables, and a null pointer behind them.
#[repr(transparent)]
pub(crate) struct Tables<T: 'static, const N: usize>(pub(crate) [*const T; N]);

// SAFETY: they point to statics that may be shared.
unsafe impl<T: Sync, const N: usize> Sync for Tables<T, N> {}

/// Returns the tables of all locks, and a null pointer behind them.
#[unsafe(no_mangle)]
pub extern "C" fn kc_lock_algorithms() -> *const *const KcLockAlgorithm {
    ALL.0.as_ptr()
}

/// Returns the table of the lock with this name, or null if no lock has it.
///
/// # Safety
/// `name` points to a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_lock_find(name: *const c_char) -> *const KcLockAlgorithm {
    // SAFETY: by the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let lock = name.to_str().ok().and_then(|name| name.parse::<LockId>().ok());
    lock.map_or(core::ptr::null(), |lock| ALL.0[lock as usize])
}
