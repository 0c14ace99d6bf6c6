//! What the page says of simulated machines, in small.

use kilocore_comparisons::replicated_data::simulated::{Outcome, Subject, Work, simulate};
use kilocore_machine::Description;
use kilocore_platform::Cycles;
use kilocore_sim::SimHeap;

/// Simulated memory lies the same way every time.
#[global_allocator]
static HEAP: SimHeap = SimHeap;

const WORK: Work = Work { entries: 64, looks: 4, duration: Cycles(200_000), update_every: None };

fn eight_nodes() -> Description {
    kilocore_machine::find("opteron-8356-8s").expect("it is built in")
}

fn outcome(subject: Subject, cores: u32, work: Work) -> Outcome {
    simulate(subject, &eight_nodes(), cores, work).expect("the machine has as many cores")
}

#[test]
fn reads_scale_over_nodes_where_those_of_a_lock_collapse() {
    let slower = |subject| outcome(subject, 32, WORK).read / outcome(subject, 1, WORK).read;
    assert!(slower(Subject::Replicated) < 1.1);
    assert!(slower(Subject::CentralRw) > 100.0);
}

#[test]
fn reads_scale_beside_a_writer() {
    let work = Work { update_every: Some(Cycles(10_000)), ..WORK };
    let [replicated, lock] =
        [Subject::Replicated, Subject::PerCore].map(|subject| outcome(subject, 32, work));
    assert!(replicated.read * 10.0 < lock.read, "{replicated:?} {lock:?}");
    assert!(replicated.update.is_some_and(|cycles| cycles > 0.0));
}

#[test]
fn a_copy_that_is_near_is_read_sooner() {
    let work = Work { entries: 100_000, ..WORK };
    let [replicated, lock] =
        [Subject::Replicated, Subject::PerCore].map(|subject| outcome(subject, 32, work).read);
    assert!(replicated * 1.2 < lock, "{replicated} {lock}");
}

#[test]
fn simulations_come_out_the_same_each_time() {
    let work = Work { update_every: Some(Cycles(10_000)), ..WORK };
    for subject in Subject::ALL {
        assert_eq!(outcome(subject, 12, work), outcome(subject, 12, work), "{subject:?}");
    }
}
