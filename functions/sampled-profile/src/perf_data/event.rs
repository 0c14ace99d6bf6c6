//! The event that was sampled: the name that it has by default, its unit and its rate.

use linux_perf_data::linux_perf_event_reader::{
    HardwareEventId, PerfEventAttr, PerfEventType, SamplingPolicy, SoftwareCounterType,
};

use crate::{Rate, Unit, plain_event};

/// The name that perf uses for an event if the file does not name it.
pub(super) fn name_of(attr: &PerfEventAttr) -> String {
    match attr.type_ {
        PerfEventType::Hardware(event, _) => match event {
            HardwareEventId::CpuCycles => "cycles",
            HardwareEventId::Instructions => "instructions",
            HardwareEventId::CacheReferences => "cache-references",
            HardwareEventId::CacheMisses => "cache-misses",
            HardwareEventId::BranchInstructions => "branches",
            HardwareEventId::BranchMisses => "branch-misses",
            HardwareEventId::BusCycles => "bus-cycles",
            HardwareEventId::StalledCyclesFrontend => "stalled-cycles-frontend",
            HardwareEventId::StalledCyclesBackend => "stalled-cycles-backend",
            HardwareEventId::RefCpuCycles => "ref-cycles",
            _ => "hardware event",
        }
        .to_owned(),
        PerfEventType::Software(event) => match event {
            SoftwareCounterType::CpuClock => "cpu-clock",
            SoftwareCounterType::TaskClock => "task-clock",
            SoftwareCounterType::PageFaults => "page-faults",
            SoftwareCounterType::ContextSwitches => "context-switches",
            SoftwareCounterType::CpuMigrations => "cpu-migrations",
            SoftwareCounterType::PageFaultsMin => "minor-faults",
            SoftwareCounterType::PageFaultsMaj => "major-faults",
            SoftwareCounterType::AlignmentFaults => "alignment-faults",
            SoftwareCounterType::EmulationFaults => "emulation-faults",
            SoftwareCounterType::Dummy => "dummy",
            SoftwareCounterType::BpfOutput => "bpf-output",
            SoftwareCounterType::CgroupSwitches => "cgroup-switches",
            _ => "software event",
        }
        .to_owned(),
        PerfEventType::Tracepoint(id) => format!("tracepoint {id}"),
        PerfEventType::HwCache(..) => "hardware cache event".to_owned(),
        PerfEventType::Breakpoint(..) => "breakpoint".to_owned(),
        PerfEventType::DynamicPmu(pmu, config, ..) => format!("pmu{pmu}/config={config:#x}/"),
    }
}

/// How many events a sample stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// As many events as the sample's period says.
    Recorded,
    /// The same number of events for each sample.
    Fixed(u64),
    /// The number is unknown, so a sample counts as one.
    One,
}

impl Weight {
    pub(super) fn new(attr: &PerfEventAttr, has_period: bool) -> Self {
        match attr.sampling_policy {
            _ if has_period => Self::Recorded,
            SamplingPolicy::Period(period) => Self::Fixed(period.get()),
            _ => Self::One,
        }
    }

    /// The number of events that a sample with this period stands for.
    pub(super) fn of(self, period: Option<u64>) -> u64 {
        match self {
            Self::Recorded => period.unwrap_or(1),
            Self::Fixed(period) => period,
            Self::One => 1,
        }
    }
}

/// The unit that weights are counted in.
pub(super) fn unit(attr: &PerfEventAttr, name: &str, weight: Weight) -> Unit {
    match attr.type_ {
        _ if weight == Weight::One => Unit::Samples,
        PerfEventType::Software(SoftwareCounterType::CpuClock | SoftwareCounterType::TaskClock) => {
            Unit::Nanoseconds
        }
        _ => Unit::Events(plain_event(name).to_owned()),
    }
}

/// How often the event was sampled.
pub(super) fn rate(attr: &PerfEventAttr) -> Option<Rate> {
    match attr.sampling_policy {
        SamplingPolicy::Period(period) => Some(Rate::Period(period.get())),
        SamplingPolicy::Frequency(frequency) => Some(Rate::Hertz(frequency as f64)),
        SamplingPolicy::NoSampling => None,
    }
}
