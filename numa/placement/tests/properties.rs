//! What holds for any string of references.

use kilocore_placement::{
    Adjustable, AdjustableOptions, Burst, Coherence, Costs, FirstReference, FixedDelay, Memory,
    Never, Node, Options, Page, Policy, Processor, Start, WithUpdates,
};
use kilocore_platform::Cycles;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
struct Step {
    processor: u32,
    page: u32,
    burst: Burst,
}

fn steps(length: usize, pages: u32, most: u32) -> impl Strategy<Value = Vec<Step>> {
    let step =
        (0..3u32, 0..pages, 0..=most, 0..=most / 4).prop_map(|(processor, page, reads, writes)| {
            Step { processor, page, burst: Burst { reads, writes } }
        });
    prop::collection::vec(step, 1..length)
}

fn policies() -> Vec<Box<dyn Policy>> {
    let adjustable = AdjustableOptions { period: Cycles(5000), ..AdjustableOptions::new(60) };
    vec![
        Box::new(Never),
        Box::new(FirstReference),
        Box::new(FixedDelay { delay: 1 }),
        Box::new(FixedDelay { delay: 40 }),
        Box::new(WithUpdates { delay: 5, budget: 20 }),
        Box::new(Adjustable::new(adjustable)),
        Box::new(Adjustable::new(AdjustableOptions { drops: true, ..adjustable })),
    ]
}

fn run(options: &Options, policy: Box<dyn Policy>, steps: &[Step]) -> Memory {
    let mut memory = Memory::new(options.clone(), policy).unwrap().with_optimum();
    let mut clocks = [Cycles(0); 3];
    for step in steps {
        let clock = &mut clocks[step.processor as usize];
        *clock += memory.refer(*clock, Processor(step.processor), Page(step.page), step.burst);
    }
    memory
}

/// Tries every way to have copies of one page on two nodes, with its home on the third.
fn least_by_trying(costs: &Costs, invalidates: bool, steps: &[Step], home: Node) -> u64 {
    let mut total = 0;
    for node in (0..3u32).filter(|&node| node != u32::from(home.0)) {
        let lengths = 1 << steps.len();
        total += (0..lengths)
            .map(|choice| cost_of(costs, invalidates, steps, node, choice))
            .min()
            .unwrap();
    }
    let at_home = steps.iter().filter(|step| step.processor == u32::from(home.0));
    total + at_home.map(|step| step.burst.references() * costs.local.0).sum::<u64>()
}

/// What a node pays that has a copy during the steps whose bits are set.
fn cost_of(costs: &Costs, invalidates: bool, steps: &[Step], node: u32, choice: u32) -> u64 {
    let (mut has, mut total) = (false, 0);
    for (index, step) in steps.iter().enumerate() {
        let wants = choice >> index & 1 == 1;
        if wants && !has {
            total += costs.bringing().0;
        }
        has = wants;
        let (reads, writes) = (u64::from(step.burst.reads), u64::from(step.burst.writes));
        if step.processor == node {
            total += reads * if has { costs.local.0 } else { costs.remote_read[0].0 };
            let written = costs.local.0 + costs.update.0;
            total += writes * if has { written } else { costs.remote_write.0 };
        } else if has && !invalidates {
            total += writes * costs.update.0;
        }
        if invalidates && writes > 0 && step.processor != node {
            has = false;
        }
    }
    total
}

proptest! {
    #[test]
    fn a_burst_costs_what_its_references_cost(steps in steps(60, 3, 30), seed in 0u64..4) {
        let coherence = [Coherence::WriteUpdate, Coherence::WriteInvalidate][seed as usize % 2];
        let start = [Start::FirstTouch, Start::RoundRobin][seed as usize / 2];
        let options = Options { coherence, start, ..Options::lee_and_cho(3) };
        let one_by_one: Vec<Step> = steps
            .iter()
            .flat_map(|step| {
                let reads = std::iter::repeat_n(Burst::READ, step.burst.reads as usize);
                let writes = std::iter::repeat_n(Burst::WRITE, step.burst.writes as usize);
                reads.chain(writes).map(|burst| Step { burst, ..*step })
            })
            .collect();
        // Daemons come between references, so only policies without any are compared.
        let alike = policies().into_iter().zip(policies()).filter(|(policy, _)| policy.period().is_none());
        for (burst, single) in alike {
            let (burst, single) =
                (run(&options, burst, &steps), run(&options, single, &one_by_one));
            prop_assert_eq!(burst.account(), single.account());
        }
    }

    #[test]
    fn nobody_is_better_than_the_optimum(steps in steps(200, 4, 200), update in any::<bool>()) {
        let coherence = if update { Coherence::WriteUpdate } else { Coherence::WriteInvalidate };
        let options = Options { coherence, ..Options::lee_and_cho(3) };
        for policy in policies() {
            let name = format!("{policy:?}");
            let memory = run(&options, policy, &steps);
            let (optimum, cycles) = (memory.optimum().unwrap().0, memory.account().cycles);
            prop_assert!(optimum <= cycles, "{} < {}: {}", cycles, optimum, name);
        }
    }

    #[test]
    fn the_optimum_is_the_least_of_all_ways(steps in steps(9, 1, 100), update in any::<bool>()) {
        let coherence = if update { Coherence::WriteUpdate } else { Coherence::WriteInvalidate };
        let options = Options { coherence, ..Options::lee_and_cho(3) };
        let touched = steps.iter().find(|step| step.burst.references() > 0);
        prop_assume!(touched.is_some());
        // Only a step with references places the page.
        // And a copy may be given up between the reads and the writes of a burst.
        let steps: Vec<Step> = steps
            .iter()
            .flat_map(|&step| {
                let Burst { reads, writes } = step.burst;
                let bursts = [Burst { reads, writes: 0 }, Burst { reads: 0, writes }];
                bursts.map(|burst| Step { burst, ..step })
            })
            .filter(|step| step.burst.references() > 0)
            .collect();
        let memory = run(&options, Box::new(Never), &steps);
        let home = memory.machine().home(Page(0));
        let least = least_by_trying(&options.costs, !update, &steps, home);
        prop_assert_eq!(memory.optimum().unwrap().0, least);
    }

    #[test]
    fn counts_and_costs_add_up(steps in steps(100, 4, 50)) {
        let options = Options::lee_and_cho(3);
        let memory = run(&options, Box::new(FixedDelay { delay: 20 }), &steps);
        let account = memory.account();
        let references: u64 = steps.iter().map(|step| step.burst.references()).sum();
        prop_assert_eq!(account.references(), references);
        let local = references - account.remote_reads - account.remote_writes;
        let cycles = local * 5
            + account.remote_reads * 100
            + account.remote_writes * 10
            + account.updates * 10
            + account.replications * (4096 + 500);
        prop_assert_eq!(account.cycles, cycles);
    }
}
