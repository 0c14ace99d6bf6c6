//! What happens to a disk while programs come and go, for random searches.

use std::sync::Arc;

use kilocore_buffer_pool::FaultyDisk;
use proptest::prelude::*;

/// What happens to the disk below a program.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DiskEvent {
    FailOnceAfter(u8),
    StopAfter(u8),
    FailSyncs(bool),
    FailWrites(bool),
    FailReads(bool),
    LoseWrites,
    DropCache,
}

impl DiskEvent {
    /// Whether errors have a reason from now on.
    pub(crate) fn is_failure(self) -> bool {
        !matches!(
            self,
            Self::FailSyncs(false)
                | Self::FailWrites(false)
                | Self::FailReads(false)
                | Self::DropCache
        )
    }

    pub(crate) fn happen_to(self, disk: &FaultyDisk) {
        match self {
            Self::FailOnceAfter(operations) => disk.fail_once_after(operations.into()),
            Self::StopAfter(operations) => disk.fail_power_after(operations.into()),
            Self::FailSyncs(fail) => disk.fail_syncs(fail),
            Self::FailWrites(fail) => disk.fail_writes(fail),
            Self::FailReads(fail) => disk.fail_reads(fail),
            Self::LoseWrites => disk.lose_writes(),
            Self::DropCache => disk.drop_cache(),
        }
    }
}

/// An event of the disk, of ten kinds.
pub(crate) fn disk_event() -> impl Strategy<Value = DiskEvent> {
    prop_oneof![
        2 => (0..12u8).prop_map(DiskEvent::FailOnceAfter),
        2 => (0..12u8).prop_map(DiskEvent::StopAfter),
        1 => any::<bool>().prop_map(DiskEvent::FailSyncs),
        1 => any::<bool>().prop_map(DiskEvent::FailWrites),
        1 => any::<bool>().prop_map(DiskEvent::FailReads),
        1 => Just(DiskEvent::LoseWrites),
        2 => Just(DiskEvent::DropCache),
    ]
}

/// How a program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Kill,
    PowerFailure,
}

pub(crate) fn end() -> impl Strategy<Value = End> {
    prop_oneof![2 => Just(End::Kill), 1 => Just(End::PowerFailure)]
}

/// Has the next program find what the last one left. That one has let go of the disk.
pub(crate) fn pass_on(
    disk: &mut Arc<FaultyDisk>,
    end: End,
    choose: &mut dyn FnMut(usize) -> usize,
) {
    let old = std::mem::take(Arc::get_mut(disk).expect("the program has ended"));
    *disk = Arc::new(match end {
        End::Kill => old.after_kill(),
        End::PowerFailure => old.after_power_failure(choose),
    });
}

/// The lives of some programs.
#[derive(Debug, Clone)]
pub(crate) struct Case<S> {
    pub(crate) seed: u64,
    pub(crate) frames: u32,
    pub(crate) steps: Vec<S>,
}

pub(crate) fn case<S: std::fmt::Debug>(
    frames: std::ops::Range<u32>,
    step: impl Strategy<Value = S>,
) -> impl Strategy<Value = Case<S>> {
    let steps = prop::collection::vec(step, 0..80);
    (any::<u64>(), frames, steps).prop_map(|(seed, frames, steps)| Case { seed, frames, steps })
}
