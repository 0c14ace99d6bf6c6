//! Where and when the running task is, and what time it takes.

use crate::occupancy::{Executed, Phase};
use kilocore_platform::{CpuId, Cycles, NodeId};

use super::charge::give_way_to_earlier;
use crate::costs::LONGEST_STEP;
use crate::current::{suspend, with_engine};
use crate::outcome::{Activity, TaskTimes};
use crate::state::Intent;

/// What a context switch takes of the host's time, in memory operations.
const OPERATIONS_A_SWITCH: u64 = 4;

pub(super) fn cpu() -> CpuId {
    CpuId(with_engine(|engine| engine.current.0).unwrap_or(0))
}

pub(super) fn node() -> NodeId {
    with_engine(|engine| engine.current_core().place.node).unwrap_or_default()
}

/// Returns the number of the running task.
pub(super) fn task() -> usize {
    with_engine(|engine| engine.running_task().0 as usize).unwrap_or(0)
}

pub(super) fn now() -> Cycles {
    with_engine(|engine| engine.now()).unwrap_or_default()
}

pub(super) fn times() -> TaskTimes {
    with_engine(|engine| engine.tasks[engine.running_task()].times).unwrap_or_default()
}

pub(super) fn effort() -> u64 {
    with_engine(|engine| engine.operations + OPERATIONS_A_SWITCH * engine.switches).unwrap_or(0)
}

pub(super) fn work(time: Cycles) {
    let too_long = with_engine(|engine| {
        engine.work(time);
        engine.takes_too_long()
    });
    if too_long == Some(true) {
        suspend(Intent::GiveUp);
    }
}

pub(super) fn execute(phase: &Phase, instructions: f64) -> Executed {
    give_way_to_earlier();
    let executed = with_engine(|engine| {
        let done = engine.execute(phase, instructions);
        (done, engine.takes_too_long())
    });
    let (done, too_long) = executed.expect("only a task executes phases");
    if too_long {
        suspend(Intent::GiveUp);
    }
    done
}

pub(super) fn slow_down(time: Cycles) {
    with_engine(|engine| {
        let longer = engine.slowed_by_siblings(time).since(time);
        engine.pass(Activity::Working, longer.min(LONGEST_STEP));
    });
}

pub(super) fn pause(turns: u32) {
    with_engine(|engine| engine.pass(engine.spinning(), engine.costs.pause * u64::from(turns)));
}

pub(super) fn sleep(time: Cycles) {
    give_way_to_earlier();
    let asleep = with_engine(|engine| {
        engine.pass(Activity::System, engine.costs.futex_call);
        engine.sleep(Some(time.min(LONGEST_STEP)));
    });
    if asleep.is_some() {
        suspend(Intent::Sleep);
    }
}

pub(super) fn yield_now() {
    let others = with_engine(|engine| {
        engine.pass(Activity::System, engine.costs.futex_call);
        engine.others_want_core()
    });
    if others == Some(true) {
        suspend(Intent::GiveWay);
    }
}
