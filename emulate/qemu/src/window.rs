//! The part of the run that is asked for: where it begins and ends, and what happens there.
//!
//! * **Before it**, the program is *fast-forwarded* (`forward.rs`) until a place that is named, or until the part
//!   begins, or until the program makes its first thread.
//! * **Where it begins**, all that was counted is forgotten (`since.rs`).
//! * **Where it ends**, the report is written, and the program is ended.
//!
//! Places are reached by the thread that runs, and in the order of simulated time, so that they are the same ones on
//! each run.

use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_emulation_orders::{Orders, Place, Seen, Window};
use kilocore_platform::Cycles;

use crate::sent::{Receiver, Sent};
use crate::{clock, forward, guest, machine, results, since, stops, watched};

/// How far the program is.
static STAGE: AtomicU8 = AtomicU8::new(INSIDE);
/// Loads and stores are not simulated.
const FORWARD: u8 = 0;
/// They are, and the part has not begun.
const DETAILED: u8 = 1;
/// The part has begun.
const INSIDE: u8 = 2;

static ASKED: Mutex<Option<Asked>> = Mutex::new(None);

/// A part of the run that is not all of it.
#[derive(Debug)]
struct Asked {
    until: Option<Awaited>,
    warm: Option<Awaited>,
    from: Option<Awaited>,
    seen: Seen,
}

/// A place that has not been reached yet.
#[derive(Debug)]
struct Awaited {
    place: Place,
    /// How often what happens there has happened.
    times: u32,
}

/// What may be a place.
#[derive(Debug, Clone, Copy)]
enum Event {
    Called(u64),
    Signal(i32),
    FirstThread,
    NoThreads,
    Time(Cycles),
}

/// The program begins.
pub(crate) fn begin(orders: &Orders) {
    if orders.window.is_whole() {
        return;
    }
    let Window { warm, from, until } = orders.window.clone();
    let awaited = |place: Option<Place>| {
        let later = place.filter(|place| !matches!(place, Place::Start | Place::Time(0)));
        later.map(|place| Awaited { place, times: 0 })
    };
    let is_warm_at_once = matches!(warm, Some(Place::Start | Place::Time(0)));
    let mut asked = Asked {
        until: awaited(until),
        warm: awaited(warm),
        from: awaited(from),
        seen: Seen::default(),
    };
    let stage = match asked.from {
        None => INSIDE,
        Some(_) if is_warm_at_once || !forward::is_possible() => DETAILED,
        Some(_) => FORWARD,
    };
    if stage >= DETAILED {
        asked.warm = None;
        asked.seen.detailed_ns = Some(0.0);
    }
    if stage == INSIDE {
        asked.seen.from_ns = Some(0.0);
    }
    watched::begin(asked.places());
    asked.plan();
    guest::call_when_due(time_passes);
    STAGE.store(stage, Ordering::Relaxed);
    *lock() = Some(asked);
}

fn lock() -> MutexGuard<'static, Option<Asked>> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether loads and stores are simulated.
pub(crate) fn is_detailed() -> bool {
    STAGE.load(Ordering::Relaxed) != FORWARD
}

/// What came of the part that was asked for.
pub(crate) fn seen() -> Option<Seen> {
    let times = |awaited: &Option<Awaited>| awaited.as_ref().map_or(0, |awaited| awaited.times);
    lock().as_ref().map(|asked| Seen {
        from_times: times(&asked.from),
        until_times: times(&asked.until),
        ..asked.seen
    })
}

/// A function is about to be called that is looked for: the one at this address.
pub(crate) extern "C" fn called(vcpu: c_uint, address: *mut c_void) {
    if !guest::runs(vcpu) {
        return;
    }
    if is_detailed() {
        // Which thread's call comes first is to be known.
        guest::let_others_go_on();
        stops::has_waited(|| 0..0);
    }
    if guest::runs(vcpu) {
        happens(Event::Called(address.addr() as u64));
    }
}

/// The program is about to send somebody a signal.
pub(crate) fn sends_signal(Sent { signal, to }: Sent) {
    let own = u64::from(std::process::id());
    let is_own = match to {
        // Zero is the group of processes that it is in.
        Receiver::Process(process) => process == own || process == 0,
        Receiver::Thread { process, .. } => process.is_none_or(|process| process == own),
    };
    if is_own {
        happens(Event::Signal(signal as i32));
    }
}

/// The program is about to make a thread.
pub(crate) fn thread_is_made() {
    happens(Event::FirstThread);
    if !is_detailed() {
        // From here on, the order of loads and stores matters.
        begin_detail(Event::FirstThread);
    }
}

/// Loads and stores are simulated from here on, if they are not already. The program has one thread.
pub(crate) fn simulate_from_here() {
    if !is_detailed() {
        begin_detail(Event::Time(Cycles(0)));
    }
}

/// The last thread that the program has made has ended.
pub(crate) fn threads_have_ended() {
    happens(Event::NoThreads);
}

/// It is this late for the thread that runs.
fn time_passes(now: Cycles) {
    happens(Event::Time(now));
}

/// What an event reaches.
#[derive(Debug, Default)]
struct Reached {
    until: bool,
    warm: bool,
    from: bool,
}

fn happens(event: Event) {
    // Nobody has the lock while somebody simulates, which may be an event.
    let reached = lock().as_mut().map(|asked| asked.reached_by(event)).unwrap_or_default();
    if reached.until {
        note(|seen| &mut seen.until_ns);
        results::write_here(seen());
        // SAFETY: it ends the process at once, whatever its threads do.
        unsafe { libc::_exit(0) }
    }
    if (reached.warm || reached.from) && !is_detailed() {
        begin_detail(event);
    }
    if reached.from {
        STAGE.store(INSIDE, Ordering::Relaxed);
        note(|seen| &mut seen.from_ns);
        since::begin();
    }
}

/// Loads and stores are simulated from here on.
fn begin_detail(event: Event) {
    STAGE.store(DETAILED, Ordering::Relaxed);
    note(|seen| &mut seen.detailed_ns);
    forward::end();
    // QEMU translates all anew by itself when the first thread is made.
    if !matches!(event, Event::FirstThread) {
        forward::translate_anew();
    }
}

/// Notes what time it is.
fn note(of: fn(&mut Seen) -> &mut Option<f64>) {
    let Some(thread) = guest::this_thread() else { return };
    let now = guest::simulate(&thread, kilocore_sim::Guest::now);
    if let Some(asked) = &mut *lock() {
        *of(&mut asked.seen) = Some(machine::ns(now));
    }
}

impl Asked {
    fn places(&self) -> impl Iterator<Item = &Place> {
        [&self.until, &self.warm, &self.from].into_iter().flatten().map(|awaited| &awaited.place)
    }

    /// What this event reaches, which nobody waits for any more then.
    fn reached_by(&mut self, event: Event) -> Reached {
        let is_inside = STAGE.load(Ordering::Relaxed) == INSIDE;
        // What ends the part was there before what begins it: one event is not both.
        let until = take_if(&mut self.until, |awaited| {
            let later = matches!(event, Event::FirstThread);
            !later && (is_inside || awaited.place.is_fixed()) && awaited.is_reached_by(event)
        });
        let sooner = matches!(event, Event::NoThreads);
        let warm = take_if(&mut self.warm, |awaited| !sooner && awaited.is_reached_by(event));
        let from = take_if(&mut self.from, |awaited| !sooner && awaited.is_reached_by(event));
        if from {
            self.warm = None;
        }
        self.plan();
        Reached { until, warm, from }
    }

    /// Has the clock looked at when the next time is reached.
    fn plan(&self) {
        let times = self.places().filter_map(|place| match place {
            Place::Time(ns) => Some(machine::cycles(*ns).0),
            _ => None,
        });
        clock::set_due(Cycles(times.min().unwrap_or(u64::MAX)));
    }
}

fn take_if(awaited: &mut Option<Awaited>, is_reached: impl FnOnce(&mut Awaited) -> bool) -> bool {
    let reached = awaited.as_mut().is_some_and(is_reached);
    if reached {
        *awaited = None;
    }
    reached
}

impl Awaited {
    /// Whether this event, which has happened now, reaches the place.
    fn is_reached_by(&mut self, event: Event) -> bool {
        let time = match (&self.place, event) {
            (place @ Place::Call { time, .. }, Event::Called(address)) => {
                watched::is_at(place, address).then_some(*time)
            }
            (Place::Signal { number, time }, Event::Signal(sent)) => {
                (*number == sent).then_some(*time)
            }
            (Place::Threads, Event::FirstThread | Event::NoThreads) => Some(None),
            (Place::Time(ns), Event::Time(now)) => (now >= machine::cycles(*ns)).then_some(None),
            _ => None,
        };
        let Some(time) = time else { return false };
        self.times = self.times.saturating_add(1);
        time.is_none_or(|time| time.get() == self.times)
    }
}
