//! What the kernel tells of itself, where it may be traced: who wakes whom, and who waits for one of
//! its own locks.
//!
//! Without this, whom a thread waited for is known of watched words only, a thread that spins in the
//! kernel seems to compute, and one that sleeps there seems to wait for what its system call is for.

use kilocore_linux::perf_events::{
    ContentionEvent, ContentionPlace, Field, LockFlags, Tracefs, Tracepoint, is_in_interrupt,
};
use kilocore_lock_profile::KernelLockKind;
use perf_event_open_sys::bindings::{
    PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,
    PERF_SAMPLE_RAW, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_TYPE_TRACEPOINT, perf_event_attr,
};

use crate::ids::Tid;
use crate::samples::attribute;

/// Functions of a stack that are kept at most.
const DEPTH: u16 = 24;

/// What an event of a place tells, and where in its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trace {
    /// A thread is about to be woken.
    Waking { thread: Field, context: Field },
    /// The running thread begins to wait for a lock, or has one that it waited for.
    Contention(ContentionPlace),
}

/// What a record of a place says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TraceEvent {
    /// This thread is about to be woken; by the running one, unless by an interrupt.
    Wakes { thread: Tid, itself: bool },
    /// The running thread begins to wait for a lock.
    Begins { lock: u64, kind: KernelLockKind },
    /// It has the lock.
    Ends { lock: u64 },
}

/// The places in the kernel that are traced, by the numbers of their events.
#[derive(Debug, Clone)]
pub(crate) struct Traces(Vec<(u64, Trace)>);

impl Traces {
    /// Finds the places, if this kernel has all of them and shows them to this user.
    pub(crate) fn find() -> Option<Self> {
        let tracefs = Tracefs::open().ok()?;
        let waking = tracefs.find("sched/sched_waking").ok()?;
        Self::of(&waking, tracefs.find_contention().ok()?)
    }

    /// From the kernel's descriptions of the places.
    fn of(waking: &Tracepoint, contention: [(u64, ContentionPlace); 2]) -> Option<Self> {
        let (thread, context) = (waking.field("pid")?, waking.field("common_flags")?);
        let mut all = vec![(waking.id, Trace::Waking { thread, context })];
        all.extend(contention.map(|(id, place)| (id, Trace::Contention(place))));
        Some(Self(all))
    }

    /// The attribute of an event for each place.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (perf_event_attr, Trace)> {
        self.0.iter().map(|(id, trace)| (trace.attribute(*id), *trace))
    }
}

impl Trace {
    fn attribute(self, id: u64) -> perf_event_attr {
        let stack = if self.has_stack() { PERF_SAMPLE_CALLCHAIN } else { 0 };
        let sample = PERF_SAMPLE_IDENTIFIER
            | PERF_SAMPLE_IP
            | PERF_SAMPLE_TID
            | PERF_SAMPLE_TIME
            | PERF_SAMPLE_CPU
            | PERF_SAMPLE_RAW
            | stack;
        let mut attribute = attribute(PERF_TYPE_TRACEPOINT, id, 0);
        attribute.sample_type = u64::from(sample);
        (attribute.sample_regs_user, attribute.sample_stack_user) = (0, 0);
        attribute.sample_max_stack = if self.has_stack() { DEPTH } else { 0 };
        attribute.set_exclude_callchain_user(1);
        attribute
    }

    /// Whether its records have the kernel's stack.
    pub(crate) fn has_stack(self) -> bool {
        matches!(self, Self::Contention(place) if place.is_begin())
    }

    /// What a record's raw data say.
    pub(crate) fn read(self, raw: &[u8]) -> Option<TraceEvent> {
        Some(match self {
            Self::Waking { thread, context } => TraceEvent::Wakes {
                thread: Tid(u32::try_from(thread.of(raw)?).ok()?),
                itself: !is_in_interrupt(context, raw)?,
            },
            Self::Contention(place) => match place.read(raw)? {
                ContentionEvent::Begins { lock, flags } => {
                    TraceEvent::Begins { lock, kind: kind(flags) }
                }
                ContentionEvent::Ends { lock } => TraceEvent::Ends { lock },
            },
        })
    }
}

/// The kind of lock by the kernel's flags. A mutex that is spun for has the flag of spin locks too.
fn kind(flags: LockFlags) -> KernelLockKind {
    const FLAGS: [(LockFlags, KernelLockKind); 6] = [
        (LockFlags::MUTEX, KernelLockKind::Mutex),
        (LockFlags::REAL_TIME, KernelLockKind::RealTime),
        (LockFlags::PER_CPU, KernelLockKind::PerCpu),
        (LockFlags::READ, KernelLockKind::Reading),
        (LockFlags::WRITE, KernelLockKind::Writing),
        (LockFlags::SPIN, KernelLockKind::Spin),
    ];
    // Of locks that keep readers and writers apart without sleeping, all flags are zero or mixed.
    let set = FLAGS.iter().find(|(flag, _)| flags.has(*flag));
    set.map_or(KernelLockKind::Unknown, |(_, kind)| *kind)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The places as a kernel describes them, with the numbers 1 to 3.
    pub(crate) fn places() -> [Trace; 3] {
        let context = "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n";
        let lock = "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n";
        let flags = "\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n";
        let pid = "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
        let place = |id: u64, fields: &[&str]| {
            Tracepoint::parse(&format!("ID: {id}\nformat:\n{context}{}", fields.concat())).unwrap()
        };
        let begins = ContentionPlace::begins(&place(2, &[lock, flags])).expect("its fields");
        let ends = ContentionPlace::ends(&place(3, &[lock])).expect("its fields");
        let all = Traces::of(&place(1, &[pid]), [(2, begins), (3, ends)]);
        let all = all.expect("every field is there").0;
        [all[0].1, all[1].1, all[2].1]
    }

    /// The raw data of a record, for all three.
    pub(crate) fn raw(context: u8, lock: u64, flags: u32, pid: u32) -> Vec<u8> {
        let head = [0, 0, context, 0, 0, 0, 0, 0];
        [&head[..], &lock.to_ne_bytes(), &flags.to_ne_bytes(), &[0; 4], &pid.to_ne_bytes()].concat()
    }

    #[test]
    fn records_are_read_by_the_kernels_own_description() {
        let [waking, begins, ends] = places();
        let wakes = |itself| Some(TraceEvent::Wakes { thread: Tid(77), itself });
        assert_eq!(waking.read(&raw(1, 0, 0, 77)), wakes(true));
        assert_eq!(waking.read(&raw(0x19, 0, 0, 77)), wakes(false), "an interrupt wakes it");
        let (lock, kind) = (0xabc, KernelLockKind::Writing);
        assert_eq!(begins.read(&raw(0, 0xabc, 4, 0)), Some(TraceEvent::Begins { lock, kind }));
        assert_eq!(begins.read(&raw(8, 0xabc, 4, 0)), None);
        assert_eq!(ends.read(&raw(0, 0xabc, 0, 0)), Some(TraceEvent::Ends { lock }));
        assert_eq!(begins.read(&raw(0, 0xabc, 4, 0)[..17]), None, "it ends too early");
    }

    #[test]
    fn a_mutex_that_is_spun_for_is_a_mutex() {
        assert_eq!(kind(LockFlags(33)), KernelLockKind::Mutex);
        assert_eq!(kind(LockFlags(1)), KernelLockKind::Spin);
        assert_eq!(kind(LockFlags(2)), KernelLockKind::Reading);
        assert_eq!(kind(LockFlags(20)), KernelLockKind::PerCpu);
        assert_eq!(kind(LockFlags(0)), KernelLockKind::Unknown);
    }
}
