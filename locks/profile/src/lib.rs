//! The lock profile of a program: what `kilocore record locks` writes and `kilocore forecast` reads.
//!
//! A profile is one JSON document, [`Profile`]. `docs/formats/profile.md` describes it for
//! readers that are not written in Rust. It is made from the recordings that
//! `libkilocore_measure.so` leaves behind, one for each process image ([`read_directory`]).

mod checked;
mod comparison;
mod counts;
mod cpu_limit;
mod directory;
mod document;
mod frame;
mod histogram;
mod host_threads;
mod interval;
mod json;
mod kernel_locks;
mod migration;
mod objects;
mod outside;
mod pace;
mod places;
mod pthread;
mod reader;
mod recording;
mod scaling;
mod snapshot;
mod spin_places;
mod symbols;
pub mod thread_account;
mod thread_findings;
mod thread_time;
mod traced;
mod tried_here;
mod watching;

pub use comparison::{ChangeVerdict, Doubt, PaceChange, ProfileComparison, Side};
pub use counts::LockCounts;
pub use cpu_limit::CpuLimit;
pub use directory::read_directory;
pub use document::{
    Barrier, Caller, Condition, Family, Handoffs, Host, Lock, MostlyBy, Nesting, Process, Profile,
    ReadSide, Run, Threads,
};
pub use frame::Frame;
pub use histogram::Histogram;
pub use host_threads::{HostThread, UnlikeCores};
pub use json::{FORMAT, FORMAT_VERSION, ProfileError};
pub use kernel_locks::{KernelLockKind, KernelLockWaits};
pub use migration::MigratingLines;
pub use objects::{Object, ObjectKind};
pub use outside::{Awake, Futexes, Outside, Unrecorded, WhyUnrecorded};
pub use pace::Pace;
pub use pthread::is_pthread;
pub use recording::{ClockRate, Lack, RECORDING_EXTENSION, Recording, RecordingError};
pub use scaling::{
    ENOUGH_SECTIONS, Interference, RUN, SECTION, Scaling, ScalingPoint, ScalingQuality, TimedRun,
    WhyNotTimed,
};
pub use snapshot::Snapshot;
pub use spin_places::SpinPlace;
pub use symbols::Symbols;
pub use thread_findings::Finding;
pub use thread_time::{
    Activities, Bottleneck, RoleTimes, RoleWait, ThreadTimes, TimesCoverage, WaitEdge, WaitedFor,
    WaitedWord, WordKind,
};
pub use traced::{Trace, Traced, TracedWord};
pub use tried_here::{TrialFailure, TrialRound, TriedGain, TriedHere};
pub use watching::{Interval, Precision, Rights, Watching};
