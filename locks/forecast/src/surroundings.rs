//! What kept a program from its cores while it ran, and was not its own doing: other programs, other guests of
//! the same machine, a control group's quota, and cores that went.
//!
//! A thread that loses its core while it has a lock makes all others wait. So beyond some measure nothing is
//! said of a program's locks, nor of what more cores bring.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{CpuLimit, Interference, Run};

use crate::words::{counted, percent};

/// From this share of the cores' time on, what others had of it decides what a program does.
const BUSY_HOST: f64 = 0.2;
/// Other guests of the same machine are told apart from this share of the cores' time on.
const STOLEN: f64 = 0.05;
/// A limit was not there all the time if this many times as many cores were busy. The rest is what a
/// period may be exceeded by.
const EXCEEDED: f64 = 1.2;

/// What others had of a run's cores, if that was so much that it decides what the program did.
fn busy_host(run: &Run) -> Option<Interference> {
    run.interference.filter(|others| others.share(run.cores, run.wall_time) > BUSY_HOST)
}

/// The limit that held a run up, if it did so for so long that it decides what the program did.
fn quota(run: &Run) -> Option<&CpuLimit> {
    run.limit.as_ref().filter(|limit| limit.held_up(run.cores, run.wall_time))
}

/// Whether a run had its cores for itself, all of them, to its end.
pub(crate) fn is_undisturbed(run: &Run) -> bool {
    busy_host(run).is_none() && quota(run).is_none() && run.cores_lost == 0
}

/// What a control group allowed a program that kept so many cores busy, in words that can follow
/// `its`.
pub(crate) fn allowance(limit: &CpuLimit, busy_cores: f64) -> String {
    let held_up = match limit.throttled {
        0 => String::new(),
        times => format!(", and held it up in {times} of {} periods", limit.periods),
    };
    let once = if busy_cores > EXCEEDED * limit.cores { ", though not all the time" } else { "" };
    format!("control group allowed it the time of {:.2} cores{once}{held_up}", limit.cores)
}

/// Returns that a quota held the program up for so long that nothing can be said of its locks, if one did.
pub(crate) fn held_up(run: &Run) -> Option<String> {
    let limit = quota(run)?;
    let periods = format!("in {} of {} periods", limit.throttled, limit.periods);
    let time = match limit.held_up_share(run.cores, run.wall_time) {
        Some(share) => {
            let cores = counted(run.cores.into(), "core");
            format!("for {} of the time of its {cores}, {periods}", percent(share))
        }
        None => periods,
    };
    Some(format!(
        "{limit} held the program back {time}. That shows nothing of what it does with more: measure it \
         without that quota"
    ))
}

/// Returns that the program lost cores before its end, if it did.
pub(crate) fn cores_lost(run: &Run) -> Option<String> {
    (run.cores_lost > 0).then(|| {
        format!(
            "of its {}, {} turned off or taken from it while it was measured. Repeat it where it keeps them",
            counted(run.cores.into(), "core"),
            if run.cores_lost == 1 { "1 was".to_owned() } else { format!("{} were", run.cores_lost) }
        )
    })
}

/// Returns that the host was too busy for anything to be said of the program's locks, if it was.
pub(crate) fn host_was_busy(run: &Run, busy_cores: f64) -> Option<String> {
    let others = busy_host(run)?;
    let stolen = others.stolen / run.wall_time.max(Nanoseconds(1.0));
    let stolen = match stolen > STOLEN * f64::from(run.cores) {
        true => format!(", {stolen:.1} of them other guests of the same machine"),
        false => String::new(),
    };
    let load = others.load.map_or_else(String::new, |load| format!("load {load:.1}, "));
    Some(format!(
        "the host was busy ({load}the program had {busy_cores:.1} of {}, others {:.1}{stolen}). Repeat it when \
         the host has less to do",
        counted(run.cores.into(), "core"),
        others.cores(run.wall_time),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_profile::synthetic::{mutex, run};

    const WALL: Nanoseconds<f64> = Nanoseconds(2e9);

    /// A run of two seconds on two cores.
    fn two_seconds() -> Run {
        Run { wall_time: WALL, ..run(vec![mutex(1, "store", 10_000)], 10_000) }
    }

    #[test]
    fn a_busy_host_is_said_to_be_busy() {
        let mut run = two_seconds();
        let mut others = |cores: f64, stolen: f64, load| {
            run.interference =
                Some(Interference { others: WALL * cores, stolen: WALL * stolen, load });
            assert_eq!(is_undisturbed(&run), busy_host(&run).is_none());
            host_was_busy(&run, 0.7)
        };
        assert_eq!(others(0.2, 0.1, Some(9.0)), None);
        let said = others(1.2, 0.1, Some(30.0)).expect("that is more than half of two cores");
        let expected =
            "the host was busy (load 30.0, the program had 0.7 of 2 cores, others 1.3). Repeat";
        assert!(said.starts_with(expected), "{said}");
        let said = others(0.0, 1.0, None).expect("and so is this");
        let expected = "others 1.0, 1.0 of them other guests of the same machine)";
        assert!(said.contains(expected) && said.contains("(the program had"), "{said}");
    }

    #[test]
    fn a_quota_that_held_the_program_back_is_said_with_its_group() {
        let mut run = two_seconds();
        let mut under = |share: Option<f64>| {
            run.limit = Some(CpuLimit {
                cores: 1.0,
                periods: 20,
                throttled: 19,
                throttled_time: share.map(|share| WALL * (2.0 * share)),
                group: Some("/x".to_owned()),
            });
            assert_eq!(is_undisturbed(&run), held_up(&run).is_none());
            held_up(&run)
        };
        let said = under(Some(0.34)).expect("a third of the time");
        let expected = "a quota of 1 core (cgroup /x) held the program back for 34 % of the time of its 2 \
                        cores, in 19 of 20 periods.";
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(under(Some(0.01)), None, "a hundredth decides nothing, however often");
        let said = under(None).expect("nearly all periods");
        assert!(said.contains("(cgroup /x) held the program back in 19 of 20 periods."), "{said}");
    }

    #[test]
    fn cores_that_went_are_said() {
        let mut run = two_seconds();
        assert_eq!((cores_lost(&run), is_undisturbed(&run)), (None, true));
        run.cores_lost = 1;
        assert!(!is_undisturbed(&run));
        let said = cores_lost(&run).expect("one went");
        assert!(said.starts_with("of its 2 cores, 1 was turned off"), "{said}");
    }
}
