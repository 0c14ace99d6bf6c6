//! What the kernel is asked to record.

use perf_event_open_sys::bindings::{
    PERF_ATTR_SIZE_VER5, PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_SW_CPU_CLOCK,
    PERF_COUNT_SW_TASK_CLOCK, PERF_FORMAT_ID, PERF_FORMAT_LOST, PERF_SAMPLE_CALLCHAIN,
    PERF_SAMPLE_CPU, PERF_SAMPLE_IP, PERF_SAMPLE_PERIOD, PERF_SAMPLE_REGS_USER,
    PERF_SAMPLE_STACK_USER, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_TYPE_HARDWARE,
    PERF_TYPE_SOFTWARE, perf_event_attr,
};

use crate::sampler::{CallGraph, Event, Hertz};

/// How much of the structure is used: what kernels know since 4.1, and old readers too.
pub(crate) const SIZE: usize = PERF_ATTR_SIZE_VER5 as usize;

/// What every record ends with that is no sample: process and thread, time, core.
pub(crate) const TRAILER: usize = 24;

/// Where a sample's body has its time: after its address, process and thread.
pub(crate) const TIME_IN_SAMPLE: usize = 16;

/// The registers of user space that unwinding may need, as the kernel numbers them: all but the
/// segments' on x86-64. None where nobody has tried.
pub(crate) const USER_REGISTERS: Option<u64> = if cfg!(target_arch = "x86_64") {
    Some(0xff_0fff)
} else if cfg!(target_arch = "aarch64") {
    Some((1 << 33) - 1)
} else {
    None
};

/// How much of a stack is copied into a sample, in bytes: as much as perf does.
const STACK_COPY: u32 = 8192;

/// What may differ between kernels and users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// Whether cores may be watched as a whole.
    pub(crate) cores: bool,
    /// Whether samples may be taken in the kernel.
    pub(crate) kernel: bool,
    /// Whether the kernel counts losses (Linux 6.0).
    pub(crate) lost: bool,
}

/// The attribute of the event.
pub(crate) fn attribute(
    event: Event,
    frequency: Hertz,
    call_graph: CallGraph,
    watermark: u32,
    allowed: Allowed,
) -> perf_event_attr {
    let (kind, config) = match event {
        Event::CpuClock => (PERF_TYPE_SOFTWARE, u64::from(PERF_COUNT_SW_CPU_CLOCK)),
        Event::TaskClock => (PERF_TYPE_SOFTWARE, u64::from(PERF_COUNT_SW_TASK_CLOCK)),
        Event::Cycles => (PERF_TYPE_HARDWARE, u64::from(PERF_COUNT_HW_CPU_CYCLES)),
    };
    let chain = match call_graph {
        CallGraph::None => 0,
        CallGraph::FramePointers => PERF_SAMPLE_CALLCHAIN,
        // The kernel's part of the stack is in the chain all the same.
        CallGraph::Dwarf => PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
    };
    let sample = PERF_SAMPLE_IP
        | PERF_SAMPLE_TID
        | PERF_SAMPLE_TIME
        | PERF_SAMPLE_CPU
        | PERF_SAMPLE_PERIOD
        | chain;
    let lost = if allowed.lost { PERF_FORMAT_LOST } else { 0 };
    let mut attribute = perf_event_attr {
        type_: kind,
        size: SIZE as u32,
        config,
        sample_type: u64::from(sample),
        read_format: u64::from(PERF_FORMAT_ID | lost),
        ..perf_event_attr::default()
    };
    attribute.__bindgen_anon_1.sample_freq = u64::from(frequency.0);
    attribute.__bindgen_anon_2.wakeup_watermark = watermark;
    if call_graph == CallGraph::Dwarf {
        attribute.sample_regs_user = USER_REGISTERS.unwrap_or_default();
        attribute.sample_stack_user = STACK_COPY;
        attribute.set_exclude_callchain_user(1);
    }
    attribute.set_freq(1);
    attribute.set_watermark(1);
    attribute.set_disabled(1);
    attribute.set_inherit(u64::from(!allowed.cores));
    attribute.set_enable_on_exec(u64::from(!allowed.cores));
    // A core's timer goes on while the core is idle. Counters need not know of this.
    attribute.set_exclude_idle(u64::from(allowed.cores && event == Event::CpuClock));
    attribute.set_exclude_kernel(u64::from(!allowed.kernel));
    attribute.set_exclude_hv(u64::from(!allowed.kernel));
    attribute.set_mmap(1);
    attribute.set_mmap2(1);
    attribute.set_comm(1);
    attribute.set_comm_exec(1);
    attribute.set_task(1);
    attribute.set_sample_id_all(1);
    // A clock that programs have too, so that a part of a recording can be found by its time.
    attribute.set_use_clockid(1);
    attribute.clockid = libc::CLOCK_MONOTONIC;
    attribute
}

/// The attribute as the file has it.
pub(crate) fn bytes(attribute: &perf_event_attr) -> [u8; SIZE] {
    const { assert!(size_of::<perf_event_attr>() >= SIZE) };
    // SAFETY: the structure is at least so large, and has no padding so far: numbers, and unions
    // of numbers of which the default sets all bits.
    unsafe { (&raw const *attribute).cast::<[u8; SIZE]>().read() }
}
