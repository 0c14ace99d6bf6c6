//! Compares logs in front of an interval tree with a plain list, over millions of operations. After
//! each read, the tree contains what was inserted and not removed, and all its invariants hold.

use std::collections::BTreeMap;

use kilocore_ldu::adapters::{Interval, IntervalTree, Overlap};
use kilocore_ldu::{Adaptive, Always, Global, In, Ldu, Limits, Out, PerCore, Policy, Queue};
use kilocore_ldu::{SLOTS, Search, Slots};
use kilocore_locks::Rwsem;
use kilocore_platform::Native;
use proptest::prelude::*;

type Tree = IntervalTree<Native, u64>;
type Root<Q, D> = Ldu<Native, Tree, Q, Rwsem<Native>, D>;

/// The number of steps of one case.
const STEPS: usize = 20_000;
/// The number of cases for each kind of log. Together they have 2.4 million steps.
const CASES: u32 = 30;

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Inserts an object that is out, or a new one, with this interval.
    Insert(u64, u64),
    /// Does the same directly.
    InsertDirectly(u64, u64),
    Remove(usize),
    RemoveDirectly(usize),
    /// Gives up an object that is out.
    Drop(usize),
    Find(u64, u64),
    Synchronize,
    Flush,
}

fn step() -> impl Strategy<Value = Step> {
    let interval = || (0..500u64, 0..40u64);
    prop_oneof![
        300 => interval().prop_map(|(start, length)| Step::Insert(start, length)),
        30 => interval().prop_map(|(start, length)| Step::InsertDirectly(start, length)),
        300 => any::<usize>().prop_map(Step::Remove),
        30 => any::<usize>().prop_map(Step::RemoveDirectly),
        60 => any::<usize>().prop_map(Step::Drop),
        8 => interval().prop_map(|(start, length)| Step::Find(start, length)),
        3 => Just(Step::Synchronize),
        3 => Just(Step::Flush),
    ]
}

struct World<Q: Queue<Native>, D: Policy<Native>> {
    root: Root<Q, D>,
    inside: Vec<In<Native, Tree>>,
    outside: Vec<Out<Native, Tree>>,
    made: u64,
}

impl<Q: Queue<Native>, D: Policy<Native>> World<Q, D> {
    /// Returns an object to insert. It is an object that was removed before, if it is settled and
    /// can be changed; or one that was just removed, unchanged; or a new one.
    fn object(&mut self, start: u64, length: u64) -> Out<Native, Tree> {
        if self.made.is_multiple_of(3)
            && let Some(object) = self.outside.pop()
        {
            return object;
        }
        self.made += 1;
        self.root.object(Interval::new(start, start + length, self.made))
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Insert(start, length) => {
                let object = self.object(start, length);
                self.inside.push(self.root.insert(object));
            }
            Step::InsertDirectly(start, length) => {
                let object = self.object(start, length);
                self.inside.push(self.root.insert_directly(object));
            }
            Step::Remove(pick) if !self.inside.is_empty() => {
                let object = self.inside.swap_remove(pick % self.inside.len());
                self.outside.push(self.root.remove(object));
            }
            Step::RemoveDirectly(pick) if !self.inside.is_empty() => {
                let object = self.inside.swap_remove(pick % self.inside.len());
                self.outside.push(self.root.remove_directly(object));
            }
            Step::Drop(pick) if !self.outside.is_empty() => {
                drop(self.outside.swap_remove(pick % self.outside.len()));
            }
            Step::Find(start, length) => self.find(Overlap { start, last: start + length }),
            Step::Synchronize => {
                self.root.synchronize();
                assert!(self.outside.iter().all(|object| object.is_settled()));
            }
            Step::Flush => assert!(self.root.flush(), "nobody is inside"),
            Step::Remove(_) | Step::RemoveDirectly(_) | Step::Drop(_) => {}
        }
    }

    fn find(&self, query: Overlap) {
        let mut found = BTreeMap::new();
        self.root.read(|tree| {
            tree.validate().expect("the tree is sound");
            assert_eq!(tree.len(), self.inside.len());
            tree.search(&query, &mut |item| {
                assert!(found.insert(item.value, item.start).is_none(), "found twice");
            });
        });
        let expected: BTreeMap<u64, u64> = self
            .inside
            .iter()
            .filter(|item| Tree::matches(item, &query))
            .map(|item| (item.value, item.start))
            .collect();
        assert_eq!(found, expected);
    }
}

fn run<Q: Queue<Native>, D: Policy<Native>>(domain: Q::Domain, nodes: u32, steps: &[Step]) {
    let limits = Limits { nodes, age: None };
    let root = Root::<Q, D>::with(Tree::new(), domain, limits);
    let mut world = World { root, inside: Vec::new(), outside: Vec::new(), made: 0 };
    for &step in steps {
        world.take(step);
    }
    for object in std::mem::take(&mut world.inside) {
        world.outside.push(world.root.remove(object));
    }
    world.root.read(|tree| assert!(tree.is_empty()));
    assert!(world.outside.iter().all(|object| object.is_settled()));
    let counts = world.root.counts();
    assert!(counts.applied <= counts.logged, "{counts:?}");
}

macro_rules! against_a_plain_list {
    ($($name:ident: $queue:ty, $policy:ty, $domain:expr, $nodes:expr;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig {
                cases: CASES, max_shrink_iters: 200_000, ..ProptestConfig::default()
            })]
            $(
                #[test]
                fn $name(steps in prop::collection::vec(step(), STEPS)) {
                    run::<$queue, $policy>($domain, $nodes, &steps);
                }
            )*
        }
    };
}

against_a_plain_list! {
    global: Global<Native>, Always, (), 4096;
    global_and_short: Global<Native>, Always, (), 16;
    per_core: PerCore<Native>, Always, Slots::new(2, SLOTS), 4096;
    adaptive: Global<Native>, Adaptive<Native>, (), 4096;
}
