//! The events that tell of threads and cores, and what each of them is.
//!
//! An event of switches tells of each, with the registers that the leaving thread has in user
//! space: in a system call, these are the call's arguments. A timer tells what runs. One that may
//! only see user space takes no sample at a switch, for that is in the kernel; but records that a
//! thread left or got a core come with either.

use perf_event_open_sys::bindings::{
    PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_DUMMY,
    PERF_TYPE_SOFTWARE, perf_event_attr,
};

use crate::samples::attribute;
use crate::traces::Trace;

/// Ticks a second. It is a prime, so that it does not keep step with a program's own timers.
pub(crate) const TICKS: u64 = 997;

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// Its samples are of threads that leave their cores.
    Switch,
    /// Its samples are of a timer.
    Tick,
    /// Its samples are of threads about to enter a system call.
    Call,
    /// Its samples are of a place in the kernel.
    Traced(Trace),
}

/// Every switch, with so many bytes of the stack.
pub(crate) fn switches(stack: u32) -> perf_event_attr {
    let config = u64::from(PERF_COUNT_SW_CONTEXT_SWITCHES);
    let mut attribute = attribute(PERF_TYPE_SOFTWARE, config, stack);
    attribute.set_context_switch(1);
    attribute.set_task(u64::from(stack == 0));
    attribute
}

/// Nothing at all, to have a buffer for others.
pub(crate) fn nothing() -> perf_event_attr {
    attribute(PERF_TYPE_SOFTWARE, u64::from(PERF_COUNT_SW_DUMMY), 0)
}

/// A timer, with so many bytes of the stack of whom it finds.
pub(crate) fn ticks(stack: u32) -> perf_event_attr {
    let mut attribute = attribute(PERF_TYPE_SOFTWARE, u64::from(PERF_COUNT_SW_CPU_CLOCK), stack);
    attribute.__bindgen_anon_1.sample_freq = TICKS;
    attribute.set_freq(1);
    attribute.set_exclude_idle(1);
    attribute
}

/// A timer that sees user space only, and records of switches without samples.
pub(crate) fn ticks_and_switches_of_user_space() -> perf_event_attr {
    let mut attribute = ticks(0);
    attribute.set_exclude_kernel(1);
    attribute.set_context_switch(1);
    attribute.set_task(1);
    attribute
}
