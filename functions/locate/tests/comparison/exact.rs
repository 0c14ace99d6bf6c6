//! Differences add up to the total loss exactly, whatever the figures.

use crate::profiles::function;
use kilocore_figures::Nanoseconds;
use kilocore_locate::{Comparison, Loss, Options, Run, Work, compare};
use kilocore_sampled_profile::{Format, SampledProfile, Tally, Unit};
use proptest::collection::vec;
use proptest::prelude::*;

fn a_run() -> impl Strategy<Value = Run> {
    // A sample may have no stack at all.
    let stack = vec(0..12_u8, 0..6);
    let stacks = vec((stack, 1..1000_u64, 1..u64::from(u32::MAX)), 1..30);
    (stacks, 1..1_u64 << 40, 1..64_u32, 1..1_u64 << 45).prop_map(
        |(stacks, work, cores, elapsed)| {
            let mut profile = SampledProfile::new(Format::PerfScript, Unit::Nanoseconds);
            for (stack, samples, weight) in stacks {
                let ids: Vec<_> = stack
                    .into_iter()
                    .map(|name| {
                        let object = ["/bin/server", "libc.so.6", "k"][usize::from(name % 3)];
                        profile.functions.id(&function(&format!("f{name}@{object}")))
                    })
                    .collect();
                profile.contexts.sample(&ids, Tally::of(samples, weight));
            }
            // Millionths, so that most amounts of work are no whole numbers.
            let work = format!("{}.{:06}", work / 1_000_000, work % 1_000_000);
            Run {
                name: "a run".into(),
                profile,
                cores: Some(cores),
                work: work.parse::<Work>().ok().or(Some(Work::one())),
                elapsed: Some(Nanoseconds(elapsed)),
                frequency: None,
                clock_ghz: None,
            }
        },
    )
}

fn sum(losses: impl Iterator<Item = Loss>) -> Loss {
    losses.fold(Loss::default(), |sum, loss| sum + loss)
}

fn check(comparison: &Comparison) {
    let works = comparison.works;
    let busy = comparison.busy_loss();
    let functions = comparison.functions.iter().map(|row| row.exclusive.times().loss(works));
    assert_eq!(sum(functions), busy);
    let code = comparison.code.iter().map(|row| row.charged.times().loss(works));
    assert_eq!(sum(code), busy);
    let contexts = comparison.tree.nodes().iter().map(|node| node.exclusive.times().loss(works));
    assert_eq!(sum(contexts), busy);
    let idle = comparison.idle.unwrap().loss(works);
    assert_eq!(busy + idle, comparison.total_loss());
    for (_, _, node) in comparison.tree.contexts() {
        let callees = node.callees.iter().map(|&callee| comparison.tree.node(callee));
        let below = sum(callees.map(|callee| callee.inclusive.times().loss(works)));
        let own = node.exclusive.times().loss(works);
        assert_eq!(own + below, node.inclusive.times().loss(works));
    }
}

proptest! {
    #[test]
    fn losses_add_up(base in vec(a_run(), 1..3), scaled in vec(a_run(), 1..3)) {
        let on = |runs: Vec<Run>, cores| -> Vec<Run> {
            runs.into_iter().map(|run| Run { cores: Some(cores), ..run }).collect()
        };
        let (base, scaled) = (on(base, 2), on(scaled, 16));
        check(&compare(&base, &scaled, &Options::default()).unwrap());
    }

    /// The same figures on both sides are no loss anywhere, and nothing stands out.
    #[test]
    fn a_profile_compared_with_itself_loses_nothing(run in a_run()) {
        let run = [run];
        let comparison = compare(&run, &run, &Options::default()).unwrap();
        for row in &comparison.functions {
            prop_assert_eq!(row.exclusive.times().loss(comparison.works), Loss::default());
            prop_assert!(!row.exclusive_uncertainty.above_noise);
            prop_assert!(!row.inclusive_uncertainty.above_noise);
        }
        prop_assert!(comparison.contexts.iter().all(|c| !c.exclusive.above_noise && !c.inclusive.above_noise));
        prop_assert_eq!(comparison.total_loss(), Loss::default());
    }
}
