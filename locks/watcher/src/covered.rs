//! How much of what a process did in a window was done by the threads that were watched.
//!
//! Threads that begin in a window are watched from the next one on, and where there are very many,
//! only some are. The system counts the processor time of a whole process, also of threads that
//! nobody has seen. The share that the watched threads had of it says for how much their writes
//! stand.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{Moment, Tid};
use crate::window::{SwitchKind, Window};
use kilocore_figures::Nanoseconds;

/// A process that computed less in a window says nothing by that.
const LEAST: Nanoseconds = Nanoseconds(500_000);
/// The watched threads had all of the time if they had so much: switches are not exact.
const NEARLY_ALL: f64 = 0.9;

/// The share, from 0 to 1, of so much processor time; nothing if it cannot be told.
pub(crate) fn covered(window: &Window, computed: Option<Nanoseconds>) -> Option<f64> {
    let computed = computed.filter(|computed| *computed >= LEAST && !window.lost_switches)?;
    let share = ran(window) / computed.0 as f64;
    Some(if share >= NEARLY_ALL { 1.0 } else { share.max(f64::MIN_POSITIVE) })
}

/// The time in which watched threads had cores, in nanoseconds.
fn ran(window: &Window) -> f64 {
    let watched: BTreeSet<Tid> = window.watched.iter().copied().collect();
    // Since when each runs, or nothing if it does not.
    let mut running: BTreeMap<Tid, Option<Moment>> = window
        .ticks
        .iter()
        .map(|tick| tick.tid)
        .chain(window.hits.iter().map(|hit| hit.tid))
        .map(|tid| (tid, Some(window.begin)))
        .collect();
    let mut known: BTreeSet<Tid> = BTreeSet::new();
    let mut sum = 0;
    for switch in window.switches.iter().filter(|switch| watched.contains(&switch.tid)) {
        let first = known.insert(switch.tid);
        let since = running.entry(switch.tid).or_default();
        match switch.what {
            SwitchKind::In => *since = Some(switch.at),
            SwitchKind::Out { .. } | SwitchKind::Exit => {
                let before = since.take().or(first.then_some(window.begin));
                sum += before.map_or(0, |before| (switch.at - before).0);
            }
        }
    }
    running.retain(|tid, _| watched.contains(tid));
    let going_on = running.into_values().flatten().map(|since| (window.end - since).0);
    (sum + going_on.sum::<u64>()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Pid;
    use crate::window::{Switch, Tick};

    #[test]
    fn what_unwatched_threads_computed_is_not_covered() {
        let out =
            || SwitchKind::Out { preempted: false, call: None, registers: None, stack: Vec::new() };
        let at = |tid, at, what| Switch { pid: Pid(1), tid: Tid(tid), at: Moment(at), what };
        let window = Window {
            begin: Moment(0),
            end: Moment(10_000_000),
            switches: vec![
                at(1, 1_000_000, SwitchKind::In),
                at(2, 1_500_000, out()),
                at(1, 2_000_000, SwitchKind::Exit),
                at(4, 2_000_000, SwitchKind::In),
                at(2, 9_000_000, SwitchKind::In),
            ],
            ticks: vec![Tick {
                pid: Pid(1),
                tid: Tid(3),
                at: Moment(5),
                kernel: false,
                registers: None,
                stack: Vec::new(),
            }],
            watched: vec![Tid(1), Tid(2), Tid(3)],
            ..Window::default()
        };
        // The first ran for one, the second for one and a half and one, the third for ten.
        assert!((ran(&window) - 13.5e6).abs() < 1.0);
        let share = |ns| covered(&window, Some(Nanoseconds(ns)));
        assert!((share(27_000_000).unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(share(14_000_000), Some(1.0));
        assert_eq!((share(1_000), covered(&window, None)), (None, None));
        let lost = Window { lost_switches: true, ..window };
        assert_eq!(covered(&lost, Some(Nanoseconds(27_000_000))), None);
    }
}
