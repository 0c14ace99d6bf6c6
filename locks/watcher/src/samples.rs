//! The records of this crate's events, taken apart.
//!
//! All events sample the same: their own id, the place, the thread, the moment, the core and the
//! registers of user space. Some copy the stack as well. Those of places in the kernel have raw data
//! instead of registers, and perhaps the kernel's stack. Records that are no samples end with the
//! thread, the moment, the core and the id.

use kilocore_linux::perf_events::{Record, process, word};
use perf_event_open_sys::bindings::{
    PERF_RECORD_EXIT, PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES, PERF_RECORD_MISC_CPUMODE_MASK,
    PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_SWITCH_OUT, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
    PERF_RECORD_SAMPLE, PERF_RECORD_SWITCH, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_THROTTLE,
    PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_REGS_USER,
    PERF_SAMPLE_STACK_USER, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, perf_event_attr,
};

use crate::ids::{Moment, Pid, Tid};
use crate::registers::{COUNT, Registers, SAMPLED};

/// What follows the thread in every record that is no sample.
const TRAILER: usize = 32;

/// The attribute of an event of a type, which takes a sample at each of its occurrences and copies
/// so many bytes of the stack.
pub(crate) fn attribute(kind: u32, config: u64, stack: u32) -> perf_event_attr {
    let with_stack = if stack > 0 { PERF_SAMPLE_STACK_USER } else { 0 };
    let sample = PERF_SAMPLE_IDENTIFIER
        | PERF_SAMPLE_IP
        | PERF_SAMPLE_TID
        | PERF_SAMPLE_TIME
        | PERF_SAMPLE_CPU
        | PERF_SAMPLE_REGS_USER
        | with_stack;
    let mut attribute = perf_event_attr {
        type_: kind,
        size: size_of::<perf_event_attr>() as u32,
        config,
        sample_type: u64::from(sample),
        sample_regs_user: SAMPLED,
        sample_stack_user: stack,
        clockid: libc::CLOCK_MONOTONIC,
        ..perf_event_attr::default()
    };
    attribute.__bindgen_anon_1.sample_period = 1;
    attribute.set_use_clockid(1);
    attribute.set_sample_id_all(1);
    attribute.set_disabled(1);
    attribute.set_exclude_hv(1);
    attribute
}

/// Whose record it is, when and where it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) at: Moment,
    pub(crate) core: u32,
    /// The number of the event, by which the kernel names it.
    pub(crate) id: u64,
}

/// What a record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordContent<'a> {
    Sample { kernel: bool, ip: u64, registers: Option<Registers>, stack: &'a [u8] },
    In,
    Out { preempted: bool },
    Exit,
}

/// A record of the kernel, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nobody keeps one, and most are of the large kind")]
pub(crate) enum ParsedRecord<'a> {
    RecordContent(Origin, RecordContent<'a>),
    /// Records were lost before this.
    Lost,
    /// A record of a kind that is not asked for, or one that is too short.
    Other,
}

/// Takes a record apart. One that is too short is nothing of interest.
pub(crate) fn take(record: Record<'_>) -> ParsedRecord<'_> {
    let told = match record.kind {
        PERF_RECORD_SAMPLE => sample(record),
        PERF_RECORD_SWITCH | PERF_RECORD_SWITCH_CPU_WIDE => {
            let flags = u32::from(record.flags);
            let preempted = flags & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0;
            let out = flags & PERF_RECORD_MISC_SWITCH_OUT != 0;
            trailer(record).map(|origin| {
                (origin, if out { RecordContent::Out { preempted } } else { RecordContent::In })
            })
        }
        PERF_RECORD_EXIT => trailer(record).map(|origin| (origin, RecordContent::Exit)),
        PERF_RECORD_LOST | PERF_RECORD_LOST_SAMPLES | PERF_RECORD_THROTTLE => {
            return ParsedRecord::Lost;
        }
        _ => None,
    };
    told.map_or(ParsedRecord::Other, |(origin, told)| ParsedRecord::RecordContent(origin, told))
}

fn sample(record: Record<'_>) -> Option<(Origin, RecordContent<'_>)> {
    let body = record.body;
    let origin = origin(body)?;
    let (mut registers, mut next) = (None, 48);
    // 64-bit code: that of 32 bits has other registers.
    if word(body, 40)? != 0 {
        let mut values = [0; COUNT];
        for value in &mut values {
            *value = word(body, next)?;
            next += 8;
        }
        registers = (word(body, 40)? == 2).then_some(Registers(values));
    }
    let kernel = u32::from(record.flags) & PERF_RECORD_MISC_CPUMODE_MASK == PERF_RECORD_MISC_KERNEL;
    Some((
        origin,
        RecordContent::Sample { kernel, ip: word(body, 8)?, registers, stack: stack(body, next) },
    ))
}

/// Takes a record of a place in the kernel apart: whose it is, the kernel's stack if it has one, and its
/// raw data.
pub(crate) fn traced(record: Record<'_>, has_stack: bool) -> Option<(Origin, Vec<u64>, &[u8])> {
    let body = record.body;
    let origin = origin(body)?;
    let (mut stack, mut next) = (Vec::new(), 40);
    if has_stack {
        let depth = usize::try_from(word(body, next)?).ok()?;
        let from = next + 8;
        next = from.checked_add(depth.checked_mul(8)?)?;
        stack = body.get(from..next)?.chunks_exact(8).map_while(|at| word(at, 0)).collect();
    }
    let size = usize::try_from(process(body, next)?).ok()?;
    Some((origin, stack, body.get(next + 4..)?.get(..size)?))
}

/// Whose a sample is, by what it begins with.
fn origin(body: &[u8]) -> Option<Origin> {
    Some(Origin {
        id: word(body, 0)?,
        pid: Pid(process(body, 16)? as u32),
        tid: Tid(process(body, 20)? as u32),
        at: Moment(word(body, 24)?),
        core: process(body, 32)? as u32,
    })
}

/// What the event of a record is called, if the record is a sample.
pub(crate) fn sampled_by(record: Record<'_>) -> Option<u64> {
    (record.kind == PERF_RECORD_SAMPLE).then(|| word(record.body, 0))?
}

/// The copy of the stack at the end of a sample, if there is one: its size, so many bytes, and how
/// many of them are the stack's.
fn stack(body: &[u8], from: usize) -> &[u8] {
    let part = || {
        let size = usize::try_from(word(body, from)?).ok()?;
        let bytes = body.get(from + 8..)?.get(..size)?;
        let filled = usize::try_from(word(body, from + 8 + size)?).ok()?;
        bytes.get(..filled)
    };
    part().unwrap_or_default()
}

fn trailer(record: Record<'_>) -> Option<Origin> {
    let from = record.body.len().checked_sub(TRAILER)?;
    let body = &record.body[from..];
    Some(Origin {
        pid: Pid(process(body, 0)? as u32),
        tid: Tid(process(body, 4)? as u32),
        at: Moment(word(body, 8)?),
        core: process(body, 16)? as u32,
        id: word(body, 24)?,
    })
}

#[cfg(test)]
mod tests {
    use kilocore_linux::perf_events::{record, records};
    use proptest::prelude::*;

    use super::*;

    fn only(bytes: &[u8]) -> Record<'_> {
        records(bytes).next().unwrap().unwrap()
    }

    #[test]
    fn a_sample_is_read_with_its_registers_and_its_stack() {
        let words = |words: &[u64]| words.iter().flat_map(|w| w.to_ne_bytes()).collect::<Vec<_>>();
        let thread = [5u32, 6].iter().flat_map(|w| w.to_ne_bytes()).collect::<Vec<_>>();
        let values: Vec<u64> = (100..100 + COUNT as u64).collect();
        let parts =
            [words(&[9, 0x40]), thread, words(&[77, 3, 2]), words(&values), words(&[16, 1, 2, 8])];
        let bytes = record(PERF_RECORD_SAMPLE, 1, &parts.each_ref().map(Vec::as_slice));
        let ParsedRecord::RecordContent(origin, told) = take(only(&bytes)) else {
            panic!("it is a sample")
        };
        let expected = Origin { pid: Pid(5), tid: Tid(6), at: Moment(77), core: 3, id: 9 };
        assert_eq!(origin, expected);
        let RecordContent::Sample { kernel, ip, registers, stack } = told else {
            panic!("a sample")
        };
        assert_eq!((kernel, ip, stack), (true, 0x40, &1u64.to_ne_bytes()[..]));
        assert_eq!(registers.unwrap().ip(), 108);
    }

    #[test]
    fn a_switch_tells_which_way_and_whether_by_force() {
        let trailer: Vec<u8> =
            [(7u64 << 32) | 5, 88, 1, 4].iter().flat_map(|w| w.to_ne_bytes()).collect();
        let flags = PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        for (flags, told) in [
            (0, RecordContent::In),
            (flags as u16, RecordContent::Out { preempted: true }),
            (PERF_RECORD_MISC_SWITCH_OUT as u16, RecordContent::Out { preempted: false }),
        ] {
            let bytes = record(PERF_RECORD_SWITCH_CPU_WIDE, flags, &[&[0; 8], &trailer]);
            let origin = Origin { pid: Pid(5), tid: Tid(7), at: Moment(88), core: 1, id: 4 };
            assert_eq!(take(only(&bytes)), ParsedRecord::RecordContent(origin, told));
        }
    }

    #[test]
    fn a_record_of_the_kernel_is_read_with_its_stack_and_data() {
        let words = |words: &[u64]| words.iter().flat_map(|w| w.to_ne_bytes()).collect::<Vec<_>>();
        let head = words(&[9, 0x40, (6 << 32) | 5, 77, 3]);
        let data = [5_u32.to_ne_bytes().to_vec(), vec![1, 2, 3, 4, 5, 0, 0, 0]].concat();
        let bytes = record(PERF_RECORD_SAMPLE, 1, &[&head, &words(&[2, 0x10, 0x20]), &data]);
        let (origin, stack, raw) = traced(only(&bytes), true).expect("it is whole");
        assert_eq!((origin.pid, origin.tid, origin.at), (Pid(5), Tid(6), Moment(77)));
        assert_eq!((stack, raw), (vec![0x10, 0x20], &[1, 2, 3, 4, 5][..]));
        assert_eq!(sampled_by(only(&bytes)), Some(9));
        let bytes = record(PERF_RECORD_SAMPLE, 1, &[&head, &data]);
        assert_eq!(traced(only(&bytes), false).expect("it is whole").2, &[1, 2, 3, 4, 5]);
        let bytes = record(PERF_RECORD_SAMPLE, 1, &[&head, &words(&[u64::MAX, 1])]);
        assert_eq!(traced(only(&bytes), true), None);
    }

    proptest! {
        #[test]
        fn any_record_is_taken_apart(
            kind in 0u32..20, flags: u16, body in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            let bytes = record(kind, flags, &[&body]);
            for has_stack in [false, true] {
                if let Some((_, stack, raw)) = traced(only(&bytes), has_stack) {
                    prop_assert!(8 * stack.len() + raw.len() <= body.len());
                }
            }
            if let ParsedRecord::RecordContent(_, RecordContent::Sample { stack, .. }) = take(only(&bytes)) {
                prop_assert!(stack.len() <= body.len());
            }
        }
    }
}
