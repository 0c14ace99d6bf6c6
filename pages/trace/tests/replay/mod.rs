//! Replays traces that are checked in, under every policy.

use std::path::Path;

use kilocore_page_trace::replay::{Program, Replay};
use kilocore_page_trace::{Action, Script, Trace};
use kilocore_pages::Policy;

fn trace(name: &str) -> Trace {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/page-traces");
    Trace::read(&data.join(name)).expect("the trace is checked in")
}

#[test]
fn every_policy_gives_each_page_of_a_trace() {
    let trace = trace("browser.pages");
    let program = Program { other_pages: 0.0, used_before_release: 0.5 };
    let replay = Replay::new(&trace, program).expect("this process has processors");
    let script = Script::new(&trace, replay.processors() as u32);
    // What is measured: all but the first eighth of each thread's steps.
    let measured = script.steps.iter().flat_map(|steps| &steps[steps.len() / 8..]);
    let (mut zeroed, mut allocations) = (0, 0);
    for step in measured {
        if let Action::Allocate { zeroed: zero } = step.action {
            allocations += 1;
            zeroed += if zero { u64::from(step.pages) } else { 0 };
        }
    }
    for policy in Policy::ALL {
        let measured = replay.run(policy).unwrap_or_else(|error| panic!("{policy}: {error}"));
        assert_eq!(measured.initializations.len() as u64, zeroed, "{policy}");
        assert_eq!(measured.allocations.1, allocations, "{policy}");
        let latency = measured.latency();
        assert!(latency.percentile_10 > 0, "{policy}: {latency:?}");
        assert!(latency.percentile_10 <= latency.percentile_99, "{policy}");
    }
}
