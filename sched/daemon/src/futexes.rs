//! How long each thread sleeps in which futex, by the kernel's own tracepoints.
//!
//! The kernel notes the moment and the arguments when a thread enters the system call `futex` (or, on kernels
//! since 6.7, `futex_wait`) and when it leaves it. So waits are known to the nanosecond, also those between two
//! looks and those under way. A thread that is met while it sleeps, or whose records were lost, is left to
//! looks until its next record. Waits for one of several words (`futex_waitv`) are not traced.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;

use kilocore_linux::monotonic;
use kilocore_linux::perf_events::{
    Event, Field, Ring, Tracefs, Tracepoint, TracepointError, records, word,
};
use kilocore_sched_policy::Nanos;
use perf_event_open_sys::bindings::{
    PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES, PERF_RECORD_SAMPLE, PERF_SAMPLE_RAW,
    PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_TYPE_TRACEPOINT, perf_event_attr,
};

use crate::descriptors;
use crate::looks::{Sleep, sleep_of};
use crate::named::Named;
use crate::tree::Tree;

/// Pages of a thread's buffer: 32 KiB, more than 300 records.
const PAGES: usize = 8;

/// So many threads are traced at most, since each buffer takes memory.
const MOST: usize = 1000;

/// Where a record's moment and the size of its raw data are, which follow.
const TIME: usize = 8;
const RAW: usize = 16;

/// How a thread enters a wait, and how it leaves it.
const CALLS: [(&str, &str); 2] = [
    ("syscalls/sys_enter_futex", "syscalls/sys_exit_futex"),
    ("syscalls/sys_enter_futex_wait", "syscalls/sys_exit_futex_wait"),
];

/// For whom the kernel writes records, small enough to be played by a test.
pub(crate) trait FutexSource: Debug + Send {
    /// Begins to write for a thread.
    fn begin(&mut self, tid: u32) -> io::Result<()>;
    /// Takes what was written for it.
    fn take(&mut self, tid: u32, bytes: &mut Vec<u8>);
    /// Has no more written for a thread.
    fn end(&mut self, tid: u32);
    /// The present moment, by the records' clock.
    fn now(&mut self) -> Nanos;
}

/// What the kernel says of the places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(BTreeMap<u64, FutexTracepoint>);

#[derive(Debug, Clone, Copy)]
enum FutexTracepoint {
    /// A wait begins; without an operation, the call can only wait.
    Enter {
        word: Field,
        operation: Option<Field>,
        value: Field,
    },
    Exit,
}

impl Places {
    /// From the descriptions of how a call is entered and left.
    fn add(&mut self, enter: &Tracepoint, exit: &Tracepoint) -> Option<()> {
        let (word, value) = (enter.field("uaddr")?, enter.field("val")?);
        let place = FutexTracepoint::Enter { word, operation: enter.field("op"), value };
        self.0.extend([(enter.id, place), (exit.id, FutexTracepoint::Exit)]);
        Some(())
    }

    fn find() -> Result<Self, TracepointError> {
        let tracefs = Tracefs::open()?;
        let mut places = Self::default();
        for (index, (enter, exit)) in CALLS.into_iter().enumerate() {
            match (tracefs.find(enter), tracefs.find(exit)) {
                (Ok(enter), Ok(exit)) => drop(places.add(&enter, &exit)),
                // Older kernels have but the first call.
                (Err(error), _) | (_, Err(error)) if index == 0 => return Err(error),
                _ => {}
            }
        }
        Ok(places)
    }

    /// What a record says: when, and what is waited for, or nothing any more.
    fn read(&self, body: &[u8]) -> Option<(Nanos, Option<Sleep>)> {
        let moment = Nanos(word(body, TIME)?);
        let raw = body.get(RAW + 4..)?;
        let id = u16::from_ne_bytes(*raw.first_chunk()?);
        let sleep = match self.0.get(&u64::from(id))? {
            FutexTracepoint::Exit => None,
            FutexTracepoint::Enter { word, operation, value } => {
                let waits = libc::FUTEX_WAIT as u64;
                let operation = operation.map_or(Some(waits), |operation| operation.of(raw))?;
                let arguments = [word.of(raw)?, operation, value.of(raw)?, 0, 0, 0];
                sleep_of(libc::SYS_futex as u64, &arguments)
            }
        };
        Some((moment, sleep))
    }
}

/// The kernel of this host.
#[derive(Debug)]
struct Kernel {
    places: Places,
    rings: BTreeMap<u32, (Ring, Vec<Event>)>,
}

impl Kernel {
    fn open(&self, tid: u32) -> io::Result<(Ring, Vec<Event>)> {
        let mut events = self.places.0.keys().map(|id| {
            let mut attribute = perf_event_attr {
                type_: PERF_TYPE_TRACEPOINT,
                size: size_of::<perf_event_attr>() as u32,
                config: *id,
                sample_type: u64::from(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW),
                clockid: libc::CLOCK_MONOTONIC,
                ..perf_event_attr::default()
            };
            attribute.__bindgen_anon_1.sample_period = 1;
            attribute.set_use_clockid(1);
            Event::open(&mut attribute, tid as libc::pid_t, -1)
        });
        let first = events.next().ok_or(io::ErrorKind::NotFound)??;
        let others = events.collect::<io::Result<Vec<Event>>>()?;
        let ring = Ring::at_most(first, PAGES).map_err(|(_, error)| error)?;
        for other in &others {
            other.write_to(ring.event())?;
        }
        Ok((ring, others))
    }
}

impl FutexSource for Kernel {
    fn begin(&mut self, tid: u32) -> io::Result<()> {
        if !descriptors::make_room(self.places.0.len()) {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        }
        let opened = self.open(tid)?;
        self.rings.insert(tid, opened);
        Ok(())
    }

    fn take(&mut self, tid: u32, bytes: &mut Vec<u8>) {
        if let Some((ring, _)) = self.rings.get_mut(&tid) {
            ring.drain(bytes);
        }
    }

    fn end(&mut self, tid: u32) {
        self.rings.remove(&tid);
    }

    fn now(&mut self) -> Nanos {
        Nanos(monotonic().as_nanos() as u64)
    }
}

/// What is known of a thread.
#[derive(Debug, Default)]
struct SleepState {
    /// Whether it is known what it does.
    is_known: bool,
    /// What it sleeps for, and since when.
    asleep: Option<(Sleep, Nanos)>,
}

/// How long a thread slept for what.
pub(crate) type Slept = BTreeMap<Sleep, Nanos>;

/// The threads that are traced.
#[derive(Debug)]
pub(crate) struct Futexes {
    source: Box<dyn FutexSource>,
    places: Places,
    known: BTreeMap<Named, SleepState>,
    /// When the window began.
    since: Nanos,
    untraced: usize,
}

impl Futexes {
    /// Those of this kernel.
    ///
    /// # Errors
    /// Why they are not to be had, in words.
    pub(crate) fn find() -> Result<Self, String> {
        let places = Places::find().map_err(|error| error.to_string())?;
        let kernel = Kernel { places: places.clone(), rings: BTreeMap::new() };
        // 0 is this thread.
        kernel.open(0).map_err(|error| format!("tracing a thread: {error}"))?;
        Ok(Self::of(places, Box::new(kernel)))
    }

    fn of(places: Places, mut source: Box<dyn FutexSource>) -> Self {
        let since = source.now();
        Self { source, places, known: BTreeMap::new(), since, untraced: 0 }
    }

    /// Says how many threads were not traced, if any.
    pub(crate) fn unseen(&self) -> Option<String> {
        (self.untraced > 0).then(|| {
            format!(
                "exact sleep of {} threads, for whose tracing there was no room (at most {MOST}; `ulimit -n`, `ulimit -l`)",
                self.untraced
            )
        })
    }

    /// How long threads have slept since the last call; those of which that is known.
    pub(crate) fn take(&mut self, tree: &Tree) -> BTreeMap<Named, Slept> {
        let alive: BTreeMap<u32, Named> =
            tree.threads().map(|thread| (thread.of.id, thread.of)).collect();
        let source = &mut self.source;
        self.known.retain(|of, _| {
            let there = alive.get(&of.id) == Some(of);
            if !there {
                source.end(of.id);
            }
            there
        });
        let mut slept = BTreeMap::new();
        let mut untraced = 0;
        let mut bytes = Vec::new();
        let mut end = self.since;
        for of in alive.values() {
            let room = self.known.len() < MOST;
            let Some(known) = self.known.get_mut(of) else {
                if !room {
                    untraced += 1;
                    continue;
                }
                match self.source.begin(of.id) {
                    Ok(()) => drop(self.known.insert(*of, SleepState::default())),
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                    Err(_) => untraced += 1,
                }
                continue;
            };
            bytes.clear();
            self.source.take(of.id, &mut bytes);
            end = self.source.now();
            if let Some(time) = known.window(&self.places, &bytes, self.since, end) {
                slept.insert(*of, time);
            }
        }
        self.since = end;
        self.untraced = self.untraced.max(untraced);
        slept
    }
}

impl SleepState {
    /// What a thread's records of a window say; `None` if they do not tell of all of it.
    fn window(&mut self, places: &Places, bytes: &[u8], since: Nanos, end: Nanos) -> Option<Slept> {
        let mut is_whole = self.is_known;
        let mut slept = Slept::new();
        let mut add = |(sleep, from): (Sleep, Nanos), until: Nanos| {
            let time = until.0.saturating_sub(from.0.max(since.0));
            slept.entry(sleep).or_insert(Nanos(0)).0 += time;
        };
        for record in records(bytes) {
            let Ok(record) = record else {
                is_whole = false;
                break;
            };
            match record.kind {
                PERF_RECORD_LOST | PERF_RECORD_LOST_SAMPLES => {
                    (self.is_known, self.asleep, is_whole) = (false, None, false);
                }
                PERF_RECORD_SAMPLE => {
                    let Some((moment, sleep)) = places.read(record.body) else { continue };
                    if let Some(asleep) = self.asleep.take() {
                        add(asleep, moment);
                    }
                    self.asleep = sleep.map(|sleep| (sleep, moment));
                    self.is_known = true;
                }
                _ => {}
            }
        }
        if let Some(asleep) = self.asleep {
            add(asleep, end);
        }
        is_whole.then_some(slept)
    }
}

#[cfg(test)]
mod tests {
    use kilocore_linux::perf_events::record;
    use proptest::prelude::*;

    use super::*;

    fn places() -> Places {
        let field = |name: &str, offset| {
            format!("\tfield:u64 {name};\toffset:{offset};\tsize:8;\tsigned:0;\n")
        };
        let enter = [field("uaddr", 16), field("op", 24), field("val", 32)].concat();
        let place = |text: &str| Tracepoint::parse(text).expect("a place");
        let mut places = Places::default();
        places.add(&place(&format!("ID: 5\n{enter}")), &place("ID: 6\n")).expect("its fields");
        places
    }

    fn sample(moment: u64, raw: &[u64]) -> Vec<u8> {
        let raw: Vec<u8> = raw.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let size = (raw.len() as u32).to_ne_bytes();
        record(PERF_RECORD_SAMPLE, 0, &[&[0; 8], &moment.to_ne_bytes(), &size, &raw])
    }

    fn enter(moment: u64, word: u64, operation: u64, value: u64) -> Vec<u8> {
        sample(moment, &[5, 0, word, operation, value])
    }

    fn exit(moment: u64) -> Vec<u8> {
        sample(moment, &[6, 0, 0])
    }

    fn slept(
        known: &mut SleepState,
        records: &[Vec<u8>],
        since: u64,
        end: u64,
    ) -> Option<Vec<(u64, u64)>> {
        let slept = known.window(&places(), &records.concat(), Nanos(since), Nanos(end))?;
        Some(slept.into_iter().map(|(sleep, time)| (sleep.word, time.0)).collect())
    }

    #[test]
    fn waits_are_measured_within_the_window_also_those_under_way() {
        let mut known = SleepState { is_known: true, asleep: None };
        let first = [enter(110, 64, 0x80, 2), exit(130), enter(150, 64, 0x80, 2), exit(155)];
        let begun = [enter(160, 64, 0x81, 1), exit(161), enter(180, 128, 0x89, 2)];
        let all = [&first[..], &begun[..]].concat();
        assert_eq!(slept(&mut known, &all, 100, 200), Some(vec![(64, 25), (128, 20)]));
        assert_eq!(slept(&mut known, &[], 200, 300), Some(vec![(128, 100)]), "it goes on");
        assert_eq!(slept(&mut known, &[exit(310)], 300, 400), Some(vec![(128, 10)]));
        assert_eq!(slept(&mut known, &[], 400, 500), Some(vec![]));
    }

    #[test]
    fn a_window_with_lost_records_or_an_unknown_beginning_is_left_to_looks() {
        let mut known = SleepState::default();
        assert_eq!(slept(&mut known, &[], 0, 100), None, "it may sleep since before");
        assert_eq!(slept(&mut known, &[exit(150)], 100, 200), None, "for a part");
        assert_eq!(slept(&mut known, &[enter(250, 64, 0, 2)], 200, 300), Some(vec![(64, 50)]));
        let lost = record(PERF_RECORD_LOST, 0, &[&[0; 16]]);
        assert_eq!(slept(&mut known, &[lost], 300, 400), None);
        assert_eq!(slept(&mut known, &[], 400, 500), None, "it may sleep for anything");
    }

    #[test]
    fn this_kernel_traces_this_threads_waits_or_says_why_not() {
        let Ok(places) = Places::find() else {
            assert!(!Futexes::find().expect_err("it cannot").is_empty());
            return;
        };
        let mut kernel = Kernel { places: places.clone(), rings: BTreeMap::new() };
        // SAFETY: takes no argument.
        let tid = unsafe { libc::gettid() } as u32;
        if let Err(error) = kernel.begin(tid) {
            assert!(matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)), "{error}");
            return;
        }
        let futex = 2_u32;
        let timeout = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        let begin = kernel.now();
        // SAFETY: waits for a word of ours, which nobody changes, until the time is up.
        unsafe {
            libc::syscall(libc::SYS_futex, &raw const futex, 128, 2, &raw const timeout);
        }
        let mut bytes = Vec::new();
        kernel.take(tid, &mut bytes);
        let mut known = SleepState { is_known: true, asleep: None };
        let end = kernel.now();
        let slept = known.window(&places, &bytes, begin, end).expect("nothing was lost");
        let sleep = Sleep { word: (&raw const futex).addr() as u64, as_mutex: true };
        let time = slept[&sleep];
        assert!(time.0 >= 1_000_000 && time.0 <= end.0 - begin.0, "{time:?}");
        kernel.end(tid);
    }

    proptest! {
        #[test]
        fn any_record_is_read(bytes: Vec<u8>, raw in prop::collection::vec(0_u64..9, 0..8)) {
            let _ = places().read(&bytes);
            let record = sample(5, &raw);
            let mut known = SleepState::default();
            let _ = known.window(&places(), &[record, bytes].concat(), Nanos(0), Nanos(9));
        }
    }
}
