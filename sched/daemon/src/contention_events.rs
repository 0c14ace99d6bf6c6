//! The kernel's records of waits for its own locks, a bounded number of them a core.
//!
//! Each core has two events, for where waits begin and where they end. The kernel itself counts down how many
//! more records it may make, and then disables them, so that a wait costs nothing any more until the next
//! slice begins. What was recorded by then stands for the rest. The cost grows neither with the number
//! of waits nor with that of threads, and nothing is added to switches between threads.

use std::fmt::Debug;
use std::io;

use kilocore_linux::monotonic;
use kilocore_linux::perf_events::{
    ContentionEvent, ContentionPlace, Event, LockFlags, Ring, Tracefs, online_cores, page_size,
    process, records, word,
};
use kilocore_sched_policy::Nanos;
use perf_event_open_sys::bindings::{
    PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES, PERF_RECORD_SAMPLE, PERF_SAMPLE_CALLCHAIN,
    PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_RAW, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
    PERF_TYPE_TRACEPOINT, perf_event_attr,
};

use crate::contention::{Begin, Slice, Step};
use crate::descriptors;

/// So many waits a second are recorded on a core at most.
const RATE: u64 = 2_000;

/// In a slice, at least so many: as many as that is in the shortest one.
const LEAST: u64 = 4;

/// Pages of a core's buffer: 128 KiB, some five hundred waits.
const PAGES: usize = 32;

/// Functions of a stack that are kept at most: enough to tell who acquires the lock, and whether for a futex.
const DEPTH: u16 = 12;

/// The bytes of the records of a wait's beginning and end, at most.
const WAIT: usize = 8 * 12 + 8 * (DEPTH as usize + 2) + 8 * 8;

/// Ends may be more than beginnings by the waits that were under way.
const UNDER_WAY: u64 = 64;

/// Where records come from, small enough to be played by a test.
pub(crate) trait ContentionSource: Debug + Send {
    /// Takes what was recorded since the last call, and begins the next slice.
    fn slice(&mut self) -> Slice;
}

/// One of the events of a core.
#[derive(Debug)]
struct Traced {
    id: u64,
    place: ContentionPlace,
    /// How many more records it may make, by those that were read.
    left: u64,
}

/// The events of a core. The first has the buffer.
#[derive(Debug)]
struct Core {
    ring: Ring,
    ends: Event,
    traced: [Traced; 2],
    /// So many waits fit into the buffer.
    most: u64,
}

/// The kernel of this host.
#[derive(Debug)]
pub(crate) struct Kernel {
    cores: Vec<Core>,
    since: Nanos,
    bytes: Vec<u8>,
}

/// What the buffer of a core says.
#[derive(Debug, Default, PartialEq, Eq)]
struct CoreRecords {
    steps: Vec<Step>,
    /// From when on something is missing.
    missing: Option<Nanos>,
}

impl Kernel {
    /// Traces all cores.
    ///
    /// # Errors
    /// Why that cannot be, in words.
    pub(crate) fn open() -> Result<Self, String> {
        let tracefs = Tracefs::open().map_err(|error| error.to_string())?;
        let places = tracefs.find_contention().map_err(|error| error.to_string())?;
        let failed = |error: io::Error| format!("tracing a core: {error}");
        let numbers = online_cores().ok_or("the system does not say which cores are on")?;
        if !descriptors::make_room(2 * numbers.len()) {
            return Err(failed(io::Error::from_raw_os_error(libc::EMFILE)));
        }
        let mut cores = Vec::new();
        for number in numbers {
            match Core::open(number as libc::c_int, places) {
                // It was turned off a moment ago.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                opened => cores.push(opened.map_err(failed)?),
            }
        }
        let mut kernel = Self { cores, since: now(), bytes: Vec::new() };
        kernel.allow(LEAST).map_err(failed)?;
        kernel.since = now();
        Ok(kernel)
    }

    /// Lets so many more waits be recorded on each core.
    fn allow(&mut self, waits: u64) -> io::Result<()> {
        self.cores.iter_mut().try_for_each(|core| core.allow(waits))
    }
}

impl ContentionSource for Kernel {
    fn slice(&mut self) -> Slice {
        let (since, end) = (self.since, now());
        let mut slice = Slice { steps: Vec::new(), since, until: end, goes_on: true };
        for core in &mut self.cores {
            self.bytes.clear();
            core.ring.drain(&mut self.bytes);
            let read = read(&mut core.traced, &self.bytes, since);
            slice.steps.extend(read.steps);
            if let Some(missing) = read.missing {
                slice.until = slice.until.min(missing).max(since);
                slice.goes_on = false;
            }
        }
        let waits = (end.0 - since.0).saturating_mul(RATE) / 1_000_000_000;
        // What was allowed once cannot be refused.
        let _ = self.allow(waits.max(LEAST));
        self.since = if slice.goes_on { end } else { now() };
        slice
    }
}

impl Core {
    fn open(number: libc::c_int, places: [(u64, ContentionPlace); 2]) -> io::Result<Self> {
        let open = |(id, place): (u64, ContentionPlace)| {
            let event = Event::open(&mut attribute(id, place), -1, number)?;
            Ok::<_, io::Error>((Traced { id: event.id()?, place, left: 0 }, event))
        };
        let ((begin, begins), (end, ends)) = (open(places[0])?, open(places[1])?);
        let ring = Ring::at_most(begins, PAGES).map_err(|(_, error)| error)?;
        ends.write_to(ring.event())?;
        let most = (ring.pages() * page_size() / WAIT) as u64;
        Ok(Self { ring, ends, traced: [begin, end], most })
    }

    fn allow(&mut self, waits: u64) -> io::Result<()> {
        let waits = waits.min(self.most);
        let [begin, end] = &mut self.traced;
        let of_both = [(begin, self.ring.event(), waits), (end, &self.ends, waits + UNDER_WAY)];
        for (traced, event, wanted) in of_both {
            let more = wanted.saturating_sub(traced.left);
            if more > 0 {
                event.allow(u32::try_from(more).unwrap_or(u32::MAX))?;
                traced.left += more;
            } else {
                // The kernel may have been about to disable it when it was last allowed more.
                event.enable()?;
            }
            // Since 6.16, the kernel also stops an event that has made its last record, and only a period starts it
            // again.
            event.set_period(1)?;
        }
        Ok(())
    }
}

fn now() -> Nanos {
    Nanos(monotonic().as_nanos() as u64)
}

fn attribute(id: u64, place: ContentionPlace) -> perf_event_attr {
    let stack = if place.is_begin() { PERF_SAMPLE_CALLCHAIN } else { 0 };
    let sample =
        PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW | stack;
    let mut attribute = perf_event_attr {
        type_: PERF_TYPE_TRACEPOINT,
        size: size_of::<perf_event_attr>() as u32,
        config: id,
        sample_type: u64::from(sample),
        clockid: libc::CLOCK_MONOTONIC,
        sample_max_stack: if place.is_begin() { DEPTH } else { 0 },
        ..perf_event_attr::default()
    };
    attribute.__bindgen_anon_1.sample_period = 1;
    attribute.set_use_clockid(1);
    attribute.set_disabled(1);
    attribute.set_exclude_callchain_user(1);
    attribute
}

/// What the records of a core since a moment say. Counts how many more there may be.
fn read(traced: &mut [Traced; 2], bytes: &[u8], since: Nanos) -> CoreRecords {
    let mut read = CoreRecords::default();
    let mut last = [since; 2];
    for record in records(bytes).flatten() {
        match record.kind {
            PERF_RECORD_SAMPLE => {
                let Some(which) =
                    traced.iter().position(|traced| Some(traced.id) == word(record.body, 0))
                else {
                    continue;
                };
                traced[which].left = traced[which].left.saturating_sub(1);
                let Some(at) = word(record.body, 16) else { continue };
                last[which] = Nanos(at).max(since);
                read.steps.extend(step(traced[which].place, Nanos(at), record.body));
            }
            PERF_RECORD_LOST | PERF_RECORD_LOST_SAMPLES => {
                let lost = word(record.body, 8).unwrap_or(0);
                traced.iter_mut().for_each(|of| of.left = of.left.saturating_sub(lost));
                read.missing = Some(since);
            }
            _ => {}
        }
    }
    for (_, last) in traced.iter().zip(last).filter(|(traced, _)| traced.left == 0) {
        read.missing = Some(read.missing.map_or(last, |missing| missing.min(last)));
    }
    read
}

/// What a record says, less what is said of interrupts.
fn step(place: ContentionPlace, at: Nanos, body: &[u8]) -> Option<Step> {
    let tid = process(body, 12)? as u32;
    let (mut stack, mut next) = (Vec::new(), 24);
    if place.is_begin() {
        let depth = usize::try_from(word(body, next)?).ok()?;
        let from = next + 8;
        next = from.checked_add(depth.checked_mul(8)?)?;
        stack = body.get(from..next)?.chunks_exact(8).map_while(|at| word(at, 0)).collect();
    }
    Some(match place.read(body.get(next + 4..)?)? {
        ContentionEvent::Begins { lock, flags } => {
            let begins = Some(Begin { spins: flags.has(LockFlags::SPIN), stack });
            Step { at, tid, lock, begins }
        }
        ContentionEvent::Ends { lock } => Step { at, tid, lock, begins: None },
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use kilocore_linux::perf_events::{Tracepoint, record};
    use proptest::prelude::*;

    use super::*;

    const BEGIN: u64 = 71;
    const END: u64 = 72;

    /// The events of a core that may make so many more records each.
    fn traced(left: u64) -> [Traced; 2] {
        let field = |name: &str, offset: u32, size: u32| {
            format!("\tfield:x {name};\toffset:{offset};\tsize:{size};\tsigned:0;\n")
        };
        let common = [field("common_flags", 2, 1), field("lock_addr", 8, 8)].concat();
        let text = format!("ID: 5\n{common}{}", field("flags", 16, 4));
        let place = Tracepoint::parse(&text).expect("a place");
        let begins = ContentionPlace::begins(&place).expect("its fields");
        let ends = ContentionPlace::ends(&place).expect("its fields");
        [(BEGIN, begins), (END, ends)].map(|(id, place)| Traced { id, place, left })
    }

    /// A record of thread 8.
    fn sample(id: u64, moment: u64, lock: u64, flags: u32) -> Vec<u8> {
        let stack: &[u64] = if id == BEGIN { &[2, 0x10, 0x20] } else { &[] };
        let stack: Vec<u8> = stack.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let thread = [7_u32.to_ne_bytes(), 8_u32.to_ne_bytes()].concat();
        let raw = [&[0; 8][..], &lock.to_ne_bytes(), &flags.to_ne_bytes()].concat();
        let size = (raw.len() as u32).to_ne_bytes();
        let (id, moment) = (id.to_ne_bytes(), moment.to_ne_bytes());
        record(PERF_RECORD_SAMPLE, 0, &[&id, &thread, &moment, &stack, &size, &raw])
    }

    #[test]
    fn records_become_steps() {
        let bytes = [sample(BEGIN, 50, 9, 33), sample(99, 55, 9, 0), sample(END, 60, 9, 0)];
        let read = read(&mut traced(5), &bytes.concat(), Nanos(40));
        let begins = Some(Begin { spins: true, stack: vec![0x10, 0x20] });
        let steps = vec![
            Step { at: Nanos(50), tid: 8, lock: 9, begins },
            Step { at: Nanos(60), tid: 8, lock: 9, begins: None },
        ];
        assert_eq!(read, CoreRecords { steps, missing: None });
    }

    #[test]
    fn nothing_is_known_after_the_last_record_that_was_allowed() {
        let bytes = [sample(BEGIN, 50, 9, 2), sample(END, 60, 9, 0), sample(BEGIN, 70, 9, 2)];
        let mut two = traced(2);
        assert_eq!(read(&mut two, &bytes.concat(), Nanos(40)).missing, Some(Nanos(70)));
        assert_eq!((two[0].left, two[1].left), (0, 1));
        let lost = record(PERF_RECORD_LOST, 0, &[&[0; 8], &4_u64.to_ne_bytes()]);
        let mut five = traced(5);
        let missing = read(&mut five, &[bytes.concat(), lost].concat(), Nanos(40)).missing;
        assert_eq!(missing, Some(Nanos(40)), "nobody knows from when on");
        assert_eq!((five[0].left, five[1].left), (0, 0));
    }

    /// Threads that fight for the lock of this process's memory, until told to end.
    fn fight(over: &AtomicBool) {
        let (size, access) = (1 << 16, libc::PROT_READ | libc::PROT_WRITE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        while !over.load(Ordering::Relaxed) {
            // SAFETY: memory of its own, which is given back and nobody uses.
            let failed = unsafe {
                let memory = libc::mmap(std::ptr::null_mut(), size, access, flags, -1, 0);
                memory == libc::MAP_FAILED || libc::munmap(memory, size) != 0
            };
            assert!(!failed, "{}", io::Error::last_os_error());
        }
    }

    #[test]
    fn this_kernel_records_no_more_waits_than_are_allowed_or_says_why_not() {
        let mut kernel = match Kernel::open() {
            Ok(kernel) => kernel,
            Err(why) => {
                assert!(!why.is_empty());
                eprintln!("not tested: {why}");
                return;
            }
        };
        let (over, mut met) = (AtomicBool::new(false), 0);
        // The kernel has disabled events, and how often they have recorded beginnings since.
        let (mut was_full, mut later) = (false, 0);
        let own = std::process::id();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| fight(&over));
            }
            let began = std::time::Instant::now();
            // A busy host may let one thread run at a time for a while.
            while (met < 100 || later < 5) && began.elapsed().as_secs() < 60 {
                let allowed: u64 = kernel.cores.iter().map(|core| core.traced[0].left).sum();
                std::thread::sleep(std::time::Duration::from_millis(20));
                let slice = kernel.slice();
                let begins = slice.steps.iter().filter(|step| step.begins.is_some()).count() as u64;
                // A few more may come before the kernel gets round to disabling an event.
                let most = allowed + 16 * kernel.cores.len() as u64;
                assert!(begins <= most, "{begins} of {allowed}");
                assert!(slice.since <= slice.until && slice.until <= now());
                let of_own = |step: &&Step| {
                    std::path::Path::new(&format!("/proc/{own}/task/{}", step.tid)).exists()
                };
                met += slice.steps.iter().filter(of_own).count();
                later += u64::from(was_full && begins > 0);
                was_full |= !slice.goes_on;
            }
            over.store(true, Ordering::Relaxed);
        });
        assert!(
            met >= 100 && later >= 5,
            "{met} in all, in {later} slices after the first full one"
        );
    }

    proptest! {
        #[test]
        fn any_record_is_read(id in 70_u64..74, bytes: Vec<u8>, left in 0_u64..3) {
            let any = record(PERF_RECORD_SAMPLE, 0, &[&id.to_ne_bytes(), &bytes]);
            let read = read(&mut traced(left), &[any, bytes].concat(), Nanos(5));
            prop_assert!(read.missing.is_none_or(|missing| missing >= Nanos(5)));
        }
    }
}
