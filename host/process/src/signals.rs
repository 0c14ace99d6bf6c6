//! Passing signals on to the program.

use std::cell::Cell;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Signals that are passed on.
const FORWARDED: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// So many programs run at a time, where they run beside one another.
pub const MOST_AT_A_TIME: usize = 64;

/// The process ids of the programs that are running; 0 stands for none.
static RUNNING: [AtomicI32; MOST_AT_A_TIME] = [const { AtomicI32::new(0) }; MOST_AT_A_TIME];

/// The first signal that came while there was no program to pass it on to, or 0.
static PENDING: AtomicI32 = AtomicI32::new(0);

/// The first signal that came while signals were [`Held`] and no program ran, or 0.
static KEPT: AtomicI32 = AtomicI32::new(0);

/// The first signal that was passed on while the last program ran, or 0.
static INTERRUPTED: AtomicI32 = AtomicI32::new(0);

/// A descriptor that can be read while [`INTERRUPTED`] is not 0, for who waits for that; -1 if there is none.
static TOLD: AtomicI32 = AtomicI32::new(-1);

/// Is held while handlers are in place. Handlers belong to the process, so one program runs at a
/// time, or several that run beside others.
static ALONE: RwLock<()> = RwLock::new(());

/// The handlers that are in place.
static IN_PLACE: Mutex<InPlace> =
    Mutex::new(InPlace { programs: 0, former: Vec::new(), children_ignored: false });

/// What was in force before, and for how many programs it is not.
struct InPlace {
    programs: usize,
    former: Vec<(libc::c_int, libc::sigaction)>,
    children_ignored: bool,
}

/// The handler. It passes on nothing that the terminal sends: that goes to the whole foreground
/// process group, so the program has it already. Many programs take a second Ctrl-C as an order to
/// give up at once.
extern "C" fn on_signal(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the thread's own errno, which the interrupted code may be about to read.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: with SA_SIGINFO the kernel hands over a valid siginfo.
    came(signal, unsafe { &*info });
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// What is done about a signal that came. Async-signal-safe.
fn came(signal: libc::c_int, info: &libc::siginfo_t) {
    interrupted_by(signal);
    let by_terminal = info.si_code == libc::SI_KERNEL;
    if !by_terminal || running().next().is_none() {
        forward(signal);
    }
}

/// Takes the signals that were sent to this process and that none of its threads has taken yet.
///
/// A terminal tells this process and its programs at the same moment. A program may have ended of it before a thread of
/// this process gets a core. If the former handlers were put back then, the signal would end this process.
fn take_what_waits() {
    // SAFETY: zero bytes are valid for these.
    let (mut signals, mut former): (libc::sigset_t, libc::sigset_t) =
        unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
    // SAFETY: the set is ours.
    unsafe { libc::sigemptyset(&raw mut signals) };
    for signal in FORWARDED {
        // SAFETY: the set is ours, and these are signals.
        unsafe { libc::sigaddset(&raw mut signals, signal) };
    }
    // Blocked, so that what waits is taken here, or by another thread's handler.
    // SAFETY: both sets are ours.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, &raw mut former) };
    for signal in FORWARDED {
        // What was blocked before is to wait for longer.
        // SAFETY: the sets are ours, and these are signals.
        unsafe {
            if libc::sigismember(&raw const former, signal) == 1 {
                libc::sigdelset(&raw mut signals, signal);
            }
        }
    }
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    loop {
        // SAFETY: zero bytes are a valid siginfo.
        let mut info: libc::siginfo_t = unsafe { core::mem::zeroed() };
        // SAFETY: all three are ours. It does not wait.
        let signal =
            unsafe { libc::sigtimedwait(&raw const signals, &raw mut info, &raw const at_once) };
        if signal <= 0 {
            break;
        }
        came(signal, &info);
    }
    // SAFETY: the mask that was in force before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const former, core::ptr::null_mut()) };
}

/// Notes that a signal came, and wakes who waits for one.
fn interrupted_by(signal: libc::c_int) {
    let _ = INTERRUPTED.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    let (told, one) = (TOLD.load(Ordering::SeqCst), 1u64.to_ne_bytes());
    // SAFETY: write is async-signal-safe, and the bytes are readable. It fails only where there is nobody to wake: the
    // count of a descriptor that does not block is never near its end.
    unsafe { libc::write(told, one.as_ptr().cast(), one.len()) };
}

/// A descriptor that can be read once a signal came since the first of the programs began that run now. It stays open,
/// and nobody must read it. `None` if the system has none.
pub(crate) fn told() -> Option<RawFd> {
    Some(TOLD.load(Ordering::SeqCst)).filter(|&told| told >= 0)
}

/// Makes the descriptor, or has it forget what came before.
fn forget_what_was_told() {
    match told() {
        Some(told) => {
            let mut count = [0u8; 8];
            // SAFETY: the bytes are ours. It does not block, and fails if nothing came.
            unsafe { libc::read(told, count.as_mut_ptr().cast(), count.len()) };
        }
        None => {
            // SAFETY: integers only.
            let made = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
            TOLD.store(made, Ordering::SeqCst);
        }
    }
}

/// The process ids of the programs that are running.
fn running() -> impl Iterator<Item = libc::pid_t> {
    RUNNING.iter().map(|place| place.load(Ordering::SeqCst)).filter(|&pid| pid > 0)
}

/// Passes a signal on, or keeps it for the program that is about to start.
fn forward(signal: libc::c_int) {
    let mut passed_on = false;
    for pid in running() {
        // SAFETY: kill is async-signal-safe; the program is not waited for yet, so the id is its.
        unsafe { libc::kill(pid, signal) };
        passed_on = true;
    }
    if !passed_on {
        let _ = PENDING.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    }
}

/// Keeps what asks this process to end from ending it, until it is dropped.
///
/// This is for work that must not be cut off, such as writing down what was measured. `timeout` and
/// shells send the signal that ends a program to the program's starter as well, and some send it
/// twice. If a signal comes before a program is started, that program gets it. `SIGUSR1` and
/// `SIGUSR2` do nothing meanwhile, unless somebody else handles them.
#[derive(Debug)]
pub struct Held {
    former: Vec<(libc::c_int, libc::sigaction)>,
}

/// Signals that tell a process which measures when to begin and to end. If one comes too late, it
/// must not end that process.
const TOLD_BY: [libc::c_int; 2] = [libc::SIGUSR1, libc::SIGUSR2];

extern "C" fn nothing(_: libc::c_int) {}

extern "C" fn keep(signal: libc::c_int) {
    let _ = KEPT.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
}

impl Held {
    /// From now on. Signals that are ignored stay so.
    #[must_use]
    pub fn begin() -> Self {
        KEPT.store(0, Ordering::SeqCst);
        let mut former = Vec::new();
        let mut handle = |signals: &[libc::c_int], handler: extern "C" fn(libc::c_int)| {
            former.extend(signals.iter().filter_map(|&signal| {
                let old = unless_ignored(signal, handler as usize, libc::SA_RESTART)?;
                Some((signal, old))
            }));
        };
        handle(&FORWARDED, keep);
        handle(&TOLD_BY, nothing);
        Self { former }
    }

    /// Whether a signal came that no program has been given.
    #[must_use]
    pub fn came(&self) -> bool {
        Self::signal().is_some()
    }

    /// The signal that came while signals are held, or were held last, and that no program has been given.
    #[must_use]
    pub fn signal() -> Option<libc::c_int> {
        Some(KEPT.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        put_back(&mut self.former);
    }
}

/// Puts a handler in place, unless the signal is ignored; what was in force before.
fn unless_ignored(
    signal: libc::c_int,
    handler: usize,
    flags: libc::c_int,
) -> Option<libc::sigaction> {
    // SAFETY: zero bytes are a valid sigaction.
    let (mut action, mut old): (libc::sigaction, libc::sigaction) =
        unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: both structures are ours; the handlers only use atomics, write and kill.
    let failed = unsafe { libc::sigaction(signal, &raw const action, &raw mut old) } != 0;
    if failed {
        return None;
    }
    if old.sa_sigaction == libc::SIG_IGN {
        // What is ignored here is ignored by the program, too (nohup).
        // SAFETY: the action just read.
        unsafe { libc::sigaction(signal, &raw const old, core::ptr::null_mut()) };
        return None;
    }
    Some(old)
}

fn put_back(former: &mut Vec<(libc::c_int, libc::sigaction)>) {
    for (signal, old) in former.drain(..) {
        // SAFETY: the action that was in force before.
        unsafe { libc::sigaction(signal, &raw const old, core::ptr::null_mut()) };
    }
}

/// Sees to it that children can be waited for: whoever ignores their ends, as some supervisors do
/// for all that they start, has the system reap them. Gives what was in force before.
fn wait_for_children() -> Option<(libc::c_int, libc::sigaction)> {
    // SAFETY: zero bytes are a valid sigaction, which asks for the default.
    let (action, mut old): (libc::sigaction, libc::sigaction) =
        unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
    // SAFETY: both structures are ours.
    let failed = unsafe { libc::sigaction(libc::SIGCHLD, &raw const action, &raw mut old) } != 0;
    (!failed).then_some((libc::SIGCHLD, old))
}

/// What keeps programs that must run alone from running beside this one.
enum Room {
    Alone { _guard: RwLockWriteGuard<'static, ()> },
    BesideOthers { _guard: RwLockReadGuard<'static, ()> },
}

/// Handlers that pass signals on; puts the former ones back when the last is dropped.
pub(crate) struct Forwarding {
    /// The place of the program's process id.
    place: Cell<Option<usize>>,
    children_ignored: bool,
    has_left: bool,
    _room: Room,
}

impl Forwarding {
    /// Puts the handlers in place. What comes before [`Forwarding::to`] is kept.
    pub(crate) fn begin(beside_others: bool) -> Self {
        let room = if beside_others {
            Room::BesideOthers { _guard: ALONE.read().unwrap_or_else(PoisonError::into_inner) }
        } else {
            Room::Alone { _guard: ALONE.write().unwrap_or_else(PoisonError::into_inner) }
        };
        let mut in_place = IN_PLACE.lock().unwrap_or_else(PoisonError::into_inner);
        if in_place.programs == 0 {
            in_place.begin();
        }
        in_place.programs += 1;
        let children_ignored = in_place.children_ignored;
        Self { place: Cell::new(None), children_ignored, has_left: false, _room: room }
    }

    /// From now on, signals go to this process.
    pub(crate) fn to(&self, pid: libc::pid_t) {
        let free = |place: &AtomicI32| {
            place.compare_exchange(0, pid, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        self.place.set(RUNNING.iter().position(free));
        let pending = PENDING.swap(0, Ordering::SeqCst);
        if pending != 0 {
            forward(pending);
        }
    }

    /// The process is about to be waited for, and its id may become another's.
    pub(crate) fn to_nobody(&self) {
        if let Some(place) = self.place.take() {
            RUNNING[place].store(0, Ordering::SeqCst);
        }
    }

    /// The first signal that came since the first of the programs began that run now. Puts the former handlers back
    /// if this was the last one.
    pub(crate) fn end(mut self) -> Option<libc::c_int> {
        self.leave();
        // Nobody who begins anew has forgotten it: this one's room is still taken.
        Some(INTERRUPTED.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }

    /// Puts the former handlers back if this was the last program.
    fn leave(&mut self) {
        self.to_nobody();
        if !std::mem::replace(&mut self.has_left, true) {
            let mut in_place = IN_PLACE.lock().unwrap_or_else(PoisonError::into_inner);
            in_place.programs -= 1;
            take_what_waits();
            if in_place.programs == 0 {
                put_back(&mut in_place.former);
            }
        }
    }

    /// Whether the ends of children were ignored before.
    pub(crate) fn children_ignored(&self) -> bool {
        self.children_ignored
    }
}

impl InPlace {
    fn begin(&mut self) {
        PENDING.store(0, Ordering::SeqCst);
        INTERRUPTED.store(0, Ordering::SeqCst);
        forget_what_was_told();
        self.former.extend(wait_for_children());
        self.children_ignored =
            self.former.iter().any(|(_, old)| old.sa_sigaction == libc::SIG_IGN);
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            on_signal;
        for signal in FORWARDED {
            let flags = libc::SA_RESTART | libc::SA_SIGINFO;
            self.former.extend(Some(signal).zip(unless_ignored(signal, handler as usize, flags)));
        }
        let kept = KEPT.swap(0, Ordering::SeqCst);
        if kept != 0 {
            interrupted_by(kept);
            forward(kept);
        }
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.leave();
    }
}
