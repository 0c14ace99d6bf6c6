//! The functions that create, use and destroy a root.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use std::sync::Arc;

use kilocore_ldu::raw::{Inside, Log, Released, Update};
use kilocore_ldu::{Adaptive, Advice, Always, Global, Limits, PerCore, SLOTS, Slots, TURNS};
use kilocore_locks::Rwsem;
use kilocore_platform::{Cycles, Native};

use crate::ldu::object::Object;

const ENOENT: c_int = 2;
const EBUSY: c_int = 16;
const EEXIST: c_int = 17;
const EINVAL: c_int = 22;

type Function = unsafe extern "C" fn(*mut c_void, *mut Object);

/// The functions by which the log changes the structure; `struct kc_ldu_structure` of the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KcLduStructure {
    insert: Option<Function>,
    remove: Option<Function>,
    release: Option<Function>,
}

/// The options of a root; `struct kc_ldu_options` of the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KcLduOptions {
    slots: *const KcLduSlots,
    when: c_int,
    most_objects: u32,
}

/// The value of `KC_LDU_ADAPTIVE` in the header.
const ADAPTIVE: c_int = 1;

/// Slots for the queues of several roots.
#[derive(Debug)]
pub struct KcLduSlots(Arc<Slots<Native>>);

type Lock = Rwsem<Native, TURNS>;

/// A root: a log, and the caller's functions that it calls.
#[derive(Debug)]
pub struct KcLdu {
    log: AnyLog,
    calls: Calls,
}

/// A log of any of the kinds that C can ask for.
#[derive(Debug)]
enum AnyLog {
    Global(Log<Native, Global<Native>, Lock, Always>),
    PerCore(Log<Native, PerCore<Native>, Lock, Always>),
    Adaptive(Log<Native, Global<Native>, Lock, Adaptive<Native>>),
}

/// The caller's functions, and the context that they are called with.
#[derive(Debug, Clone, Copy)]
struct Calls {
    insert: Function,
    remove: Function,
    release: Option<Function>,
    context: *mut c_void,
}

// SAFETY: by the header's contract any thread may call the caller's functions with this context,
// one thread at a time.
unsafe impl Send for Calls {}
// SAFETY: as above.
unsafe impl Sync for Calls {}

impl Calls {
    fn apply(&self, object: NonNull<Object>, update: Update) {
        let function = match update {
            Update::Insert => self.insert,
            Update::Remove => self.remove,
        };
        // SAFETY: the log applies one update at a time, and insertions and removals of one object
        // alternate. This is what the header promises to the functions.
        unsafe { function(self.context, object.as_ptr()) };
    }

    fn give_back(&self, released: Released<Native>) {
        released.free_all(|object| self.release(object));
    }

    fn release(&self, object: NonNull<Object>) {
        if let Some(release) = self.release {
            // SAFETY: the object was given up, and nobody else can reach it.
            unsafe { release(self.context, object.as_ptr()) };
        }
    }
}

/// Evaluates `$action` with the log of a root, whatever kind of log it is.
macro_rules! with_log {
    ($root:expr, $log:ident => $action:expr) => {
        match &$root.log {
            AnyLog::Global($log) => $action,
            AnyLog::PerCore($log) => $action,
            AnyLog::Adaptive($log) => $action,
        }
    };
}

/// Returns a new root, or null if a function is missing or the options contradict each other. The
/// functions of `structure` are called with `context`.
///
/// # Safety
/// `structure` points to functions that behave as the header asks. `options` is null or points to
/// options whose slots are null or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_new(
    structure: *const KcLduStructure,
    context: *mut c_void,
    options: *const KcLduOptions,
) -> *mut KcLdu {
    // SAFETY: by the caller's promise.
    let KcLduStructure { insert, remove, release } = unsafe { *structure };
    let (Some(insert), Some(remove)) = (insert, remove) else { return core::ptr::null_mut() };
    // SAFETY: by the caller's promise.
    let options = unsafe { options.as_ref() };
    let mut limits = Limits::default();
    if let Some(most) = options.map(|options| options.most_objects).filter(|&most| most > 0) {
        limits.nodes = most;
    }
    // SAFETY: by the caller's promise.
    let slots = options.and_then(|options| unsafe { options.slots.as_ref() });
    let adaptive = options.is_some_and(|options| options.when == ADAPTIVE);
    let log = match (slots, adaptive) {
        (None, false) => AnyLog::Global(Log::new((), limits)),
        (None, true) => AnyLog::Adaptive(Log::new((), limits)),
        (Some(slots), false) => AnyLog::PerCore(Log::new(Arc::clone(&slots.0), limits)),
        (Some(_), true) => return core::ptr::null_mut(),
    };
    let calls = Calls { insert, remove, release, context };
    Box::into_raw(Box::new(KcLdu { log, calls }))
}

/// Applies the log and frees the root.
///
/// # Safety
/// `root` came from [`kc_ldu_new`] and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_destroy(root: *mut KcLdu) {
    // SAFETY: by the caller's promise.
    let root = unsafe { Box::from_raw(root) };
    synchronize(&root);
}

/// Returns slots for cores with numbers below `cores`, or null if `cores` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn kc_ldu_slots_new(cores: u32) -> *mut KcLduSlots {
    if cores == 0 {
        return core::ptr::null_mut();
    }
    Box::into_raw(Box::new(KcLduSlots(Slots::new(cores, SLOTS))))
}

/// Gives the slots up. They are freed when no root uses them any more.
///
/// # Safety
/// `slots` came from [`kc_ldu_slots_new`], and nobody creates a root with them any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_slots_destroy(slots: *mut KcLduSlots) {
    // SAFETY: by the caller's promise.
    drop(unsafe { Box::from_raw(slots) });
}

/// Puts an object in.
///
/// # Safety
/// `root` is live. `object` points to an object that the caller owns and that stays in place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_insert(root: *const KcLdu, object: *mut Object) -> c_int {
    // SAFETY: by the caller's promise.
    let (root, object) = unsafe { (&*root, NonNull::new_unchecked(object)) };
    // SAFETY: by the caller's promise.
    let node = unsafe { object.as_ref() };
    if node.is_attached() {
        return -EEXIST;
    }
    // SAFETY: the caller owns the object, and the object is detached.
    if !with_log!(root, log => unsafe { log.adopt(node) }) {
        return -EBUSY;
    }
    // SAFETY: as above, and this root owns the object now.
    unsafe { update(root, object) };
    0
}

/// Takes an object out.
///
/// # Safety
/// As for [`kc_ldu_insert`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_remove(root: *const KcLdu, object: *mut Object) -> c_int {
    // SAFETY: by the caller's promise.
    let (root, object) = unsafe { (&*root, NonNull::new_unchecked(object)) };
    // SAFETY: by the caller's promise.
    let node = unsafe { object.as_ref() };
    // SAFETY: the caller owns the object.
    if !node.is_attached() || !with_log!(root, log => unsafe { log.owns(node) }) {
        return -ENOENT;
    }
    // SAFETY: as above, and this root owns the object.
    unsafe { update(root, object) };
    0
}

/// # Safety
/// The caller owns the object, and the object belongs to this root. It stays alive and in place.
unsafe fn update(root: &KcLdu, object: NonNull<Object>) {
    let calls = &root.calls;
    let apply = |object, update| calls.apply(object, update);
    // SAFETY: by the caller's promise. A root is never moved, because it is in a Box, and
    // `kc_ldu_destroy` synchronizes it before it is dropped.
    calls.give_back(with_log!(root, log => unsafe { log.update(object, apply) }));
}

/// Gives up a removed object, which is then handed to the structure's release function.
///
/// # Safety
/// As for [`kc_ldu_insert`]. If this returns 0, the caller no longer owns the object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_release(root: *const KcLdu, object: *mut Object) -> c_int {
    // SAFETY: by the caller's promise.
    let (root, object) = unsafe { (&*root, NonNull::new_unchecked(object)) };
    // SAFETY: by the caller's promise.
    let node = unsafe { object.as_ref() };
    if root.calls.release.is_none() {
        return -EINVAL;
    }
    if node.is_attached() {
        return -EEXIST;
    }
    // SAFETY: the caller owns the object.
    if !with_log!(root, log => unsafe { log.owns(node) }) {
        return -ENOENT;
    }
    // SAFETY: as above. The object is detached, and the caller does not use it again.
    if unsafe { node.give_up() } {
        root.calls.release(object);
    }
    0
}

/// What a reader gets when it enters and hands back when it leaves.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KcLduReader {
    /// When the reader asked to enter, in cycles, or 0 if the operation is not timed.
    began: u64,
    /// 1 if updates were logged at that time, otherwise 0.
    logs: u64,
}

/// Enters as a reader.
///
/// # Safety
/// `root` is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_read_lock(root: *const KcLdu) -> KcLduReader {
    // SAFETY: by the caller's promise.
    let root = unsafe { &*root };
    let calls = &root.calls;
    let apply = |object, update| calls.apply(object, update);
    let (Inside(advice), released) = with_log!(root, log => log.enter(apply));
    calls.give_back(released);
    KcLduReader {
        began: advice.began.map_or(0, |Cycles(cycles)| cycles),
        logs: u64::from(advice.logs),
    }
}

/// Leaves as a reader.
///
/// # Safety
/// `root` is live. The caller has entered, and `reader` is what it got when it entered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_read_unlock(root: *const KcLdu, reader: KcLduReader) {
    // SAFETY: by the caller's promise.
    let root = unsafe { &*root };
    let began = (reader.began != 0).then_some(Cycles(reader.began));
    let inside = Inside(Advice { logs: reader.logs != 0, began });
    // SAFETY: by the caller's promise.
    with_log!(root, log => unsafe { log.leave(inside) });
}

/// Applies the log.
///
/// # Safety
/// `root` is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_synchronize(root: *const KcLdu) {
    // SAFETY: by the caller's promise.
    synchronize(unsafe { &*root });
}

fn synchronize(root: &KcLdu) {
    let calls = &root.calls;
    let apply = |object, update| calls.apply(object, update);
    calls.give_back(with_log!(root, log => log.synchronize(apply)));
}

/// Applies the log unless a thread is inside, and returns whether it did.
///
/// # Safety
/// `root` is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_flush(root: *const KcLdu) -> bool {
    // SAFETY: by the caller's promise.
    let root = unsafe { &*root };
    let calls = &root.calls;
    let apply = |object, update| calls.apply(object, update);
    let (done, released) = with_log!(root, log => log.try_synchronize(apply));
    calls.give_back(released);
    done
}
