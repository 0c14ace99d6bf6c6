//! Compares the adapters with plain models, on the real machine. Also runs two readers at a time
//! under loom.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::Arc;

use kilocore_ldu::adapters::{
    All, Entry, Interval, IntervalTree, Invalid, List, Member, Overlap, Set,
};
use kilocore_ldu::{Search, Structure};
use kilocore_platform::{Loom, Native};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// A step of a program.
#[derive(Debug, Clone)]
enum Step {
    /// Inserts an item, or removes it if it is in.
    Toggle(prop::sample::Index),
    /// Asks the structure for one of the items, and compares the answer with the model's.
    Ask(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => any::<prop::sample::Index>().prop_map(Step::Toggle),
        1 => any::<prop::sample::Index>().prop_map(Step::Ask),
    ];
    vec(step, 0..4000)
}

/// How to test a structure.
struct Trial<'a, S: Search<Query: Sized>, K> {
    items: &'a [S::Item],
    queries: &'a [S::Query],
    /// Returns what identifies a found item.
    key: fn(&S::Item) -> K,
    /// Returns whether an item matches a query. This does not use the structure's own code.
    answers: fn(&S::Item, &S::Query) -> bool,
    /// Checks what must hold after each step.
    check: fn(&S, usize) -> Result<(), String>,
}

impl<S: Search<Query: Sized>, K: Ord + std::fmt::Debug> Trial<'_, S, K> {
    fn run(&self, mut structure: S, steps: &[Step]) -> Result<(), TestCaseError> {
        let mut is_in = vec![false; self.items.len()];
        for step in steps {
            match step {
                Step::Toggle(index) => {
                    let index = index.index(self.items.len());
                    // SAFETY: an item is inserted when it is out and removed when it is in. The
                    // items outlive the structure, which this function owns.
                    unsafe {
                        if is_in[index] {
                            structure.remove(&self.items[index]);
                        } else {
                            structure.insert(&self.items[index]);
                        }
                    }
                    is_in[index] = !is_in[index];
                }
                Step::Ask(query) => self.ask(&structure, &is_in, query.get(self.queries))?,
            }
            let len = is_in.iter().filter(|&&is_in| is_in).count();
            (self.check)(&structure, len).map_err(TestCaseError::fail)?;
        }
        Ok(())
    }

    fn ask(&self, structure: &S, is_in: &[bool], query: &S::Query) -> Result<(), TestCaseError> {
        let mut found = Vec::new();
        structure.search(query, &mut |item| found.push((self.key)(item)));
        found.sort();
        let mut expected = Vec::new();
        for (item, &is_in) in self.items.iter().zip(is_in) {
            let answers = (self.answers)(item, query);
            prop_assert_eq!(S::matches(item, query), answers);
            if is_in && answers {
                expected.push((self.key)(item));
            }
        }
        expected.sort();
        prop_assert_eq!(found, expected);
        Ok(())
    }
}

/// Returns `Ok` if a structure is valid and has the expected length.
fn sound(valid: Result<(), Invalid>, len: usize, expected: usize) -> Result<(), String> {
    valid.map_err(|error| error.to_string())?;
    if len == expected { Ok(()) } else { Err(format!("{len} items instead of {expected}")) }
}

/// Generates numbers: many of them are equal, some are near to each other, some are anything, and
/// some are near the largest number.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..12_u64, 0..1000_u64, any::<u64>(), (0..12_u64).prop_map(|less| u64::MAX - less)]
}

fn bounds() -> impl Strategy<Value = (u64, u64)> {
    (number(), number()).prop_map(|(one, other)| (one.min(other), one.max(other)))
}

/// Numbers, and how often each was inserted. This structure keeps no pointer to an item.
#[derive(Default)]
struct Counts(BTreeMap<u64, u64>);

impl Structure for Counts {
    type Item = u64;

    unsafe fn insert(&mut self, item: &u64) {
        *self.0.entry(*item).or_default() += 1;
    }

    unsafe fn remove(&mut self, item: &u64) {
        if let Some(count) = self.0.get_mut(item) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(item);
            }
        }
    }
}

impl Search for Counts {
    type Query = Overlap;

    fn search(&self, query: &Overlap, found: &mut dyn FnMut(&u64)) {
        for (number, &count) in self.0.range(query.start..=query.last) {
            (0..count).for_each(|_| found(number));
        }
    }

    fn matches(item: &u64, query: &Overlap) -> bool {
        (query.start..=query.last).contains(item)
    }

    fn rank(item: &u64) -> u64 {
        *item
    }
}

proptest! {
    // There are four times 256 programs of 2,000 steps on average, some two million steps in all.
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_interval_tree_finds_what_overlaps(
        intervals in vec(bounds(), 1..64),
        queries in vec(bounds(), 1..16),
        steps in steps(),
    ) {
        let items: Vec<Interval<Native, ()>> =
            intervals.into_iter().map(|(start, last)| Interval::new(start, last, ())).collect();
        let queries: Vec<Overlap> =
            queries.into_iter().map(|(start, last)| Overlap { start, last }).collect();
        let trial = Trial::<IntervalTree<Native, ()>, _> {
            items: &items,
            queries: &queries,
            key: |item| ptr::from_ref(item),
            answers: |item, query| item.start.max(query.start) <= item.last.min(query.last),
            check: |tree, len| {
                let mut starts = Vec::new();
                tree.search(&Overlap { start: 0, last: u64::MAX }, &mut |item| {
                    starts.push(item.start);
                });
                let first = tree.first().map(|item| item.start);
                if first != starts.first().copied() || !starts.is_sorted() {
                    return Err(format!("{first:?} is first of {starts:?}"));
                }
                if tree.is_empty() != (len == 0) || starts.len() != len {
                    return Err(format!("{starts:?} should be {len}"));
                }
                sound(tree.validate(), tree.len(), len)
            },
        };
        trial.run(IntervalTree::new(), &steps)?;
    }

    #[test]
    fn a_list_has_what_was_put_in(count in 1..64_usize, steps in steps()) {
        let items: Vec<Entry<Native, usize>> = (0..count).map(Entry::new).collect();
        let trial = Trial::<List<Native, usize>, _> {
            items: &items,
            queries: &[All],
            key: |item| ptr::from_ref(item),
            answers: |_, All| true,
            check: |list, len| sound(list.validate(), list.len(), len),
        };
        trial.run(List::new(), &steps)?;
    }

    #[test]
    fn a_set_finds_what_is_equal(
        values in vec(number(), 1..64),
        others in vec(number(), 0..8),
        buckets in 0..32_usize,
        steps in steps(),
    ) {
        let items: Vec<Member<Native, u64>> = values.iter().copied().map(Member::new).collect();
        let queries: Vec<u64> = values.into_iter().chain(others).collect();
        let trial = Trial::<Set<Native, u64>, _> {
            items: &items,
            queries: &queries,
            key: |item| ptr::from_ref(item),
            answers: |item, &query| item.value == query,
            check: |set, len| {
                for value in [0, 1, u64::MAX] {
                    if set.contains(&value) != (set.count(&value) > 0) {
                        return Err(format!("{value} is in and is not"));
                    }
                }
                if set.len() > set.buckets() {
                    return Err(format!("{} members, {} buckets", set.len(), set.buckets()));
                }
                sound(set.validate(), set.len(), len)
            },
        };
        trial.run(Set::with_buckets(buckets), &steps)?;
    }

    #[test]
    fn a_standard_map_can_be_a_structure(
        items in vec(number(), 1..64),
        queries in vec(bounds(), 1..16),
        steps in steps(),
    ) {
        let queries: Vec<Overlap> =
            queries.into_iter().map(|(start, last)| Overlap { start, last }).collect();
        let trial = Trial::<Counts, _> {
            items: &items,
            queries: &queries,
            key: |item| *item,
            answers: |item, query| *item >= query.start && *item <= query.last,
            check: |counts, len| {
                let sum = counts.0.values().sum::<u64>() as usize;
                sound(Ok(()), sum, len)
            },
        };
        trial.run(Counts::default(), &steps)?;
    }
}

/// Returns the greatest height of a tree of `count` nodes in which siblings' heights differ by at
/// most one.
///
/// The smallest such tree of height h has a child of height h − 1 and a child of height h − 2, both
/// as small as possible. So it has N(h) = 1 + N(h − 1) + N(h − 2) nodes, where N(0) = 0 and N(1) =
/// 1.
fn greatest_height(count: usize) -> usize {
    let (mut height, mut smallest, mut next) = (0, 0, 1);
    while next <= count {
        (smallest, next) = (next, 1 + next + smallest);
        height += 1;
    }
    height
}

/// Returns 100,000 starts, in several orders that are bad for trees without balance.
fn orders() -> [(&'static str, Vec<u64>); 4] {
    const COUNT: u64 = 100_000;
    [
        ("rising", (0..COUNT).collect()),
        ("falling", (0..COUNT).rev().collect()),
        ("from both ends", (0..COUNT / 2).flat_map(|i| [i, COUNT - i]).collect()),
        ("all equal", vec![7; COUNT as usize]),
    ]
}

#[test]
fn a_tree_stays_low_whatever_the_order() {
    assert_eq!([0, 1, 2, 3, 4, 6, 7, 100_000].map(greatest_height), [0, 1, 2, 2, 3, 3, 4, 23]);
    for (order, starts) in orders() {
        let items: Vec<Interval<Native, ()>> =
            starts.into_iter().map(|start| Interval::new(start, start + 5, ())).collect();
        let mut tree = IntervalTree::new();
        let bounded = |tree: &IntervalTree<Native, ()>| {
            assert!(tree.depth() <= greatest_height(tree.len()), "{order}: {}", tree.depth());
        };
        for item in &items {
            // SAFETY: each interval is inserted once, and outlives the tree.
            unsafe { tree.insert(item) };
            bounded(&tree);
        }
        assert_eq!(tree.validate(), Ok(()), "{order}");
        let (gone, left) = items.split_at(items.len() * 9 / 10);
        for item in gone {
            // SAFETY: each interval is in and is removed once.
            unsafe { tree.remove(item) };
            bounded(&tree);
        }
        assert_eq!((tree.validate(), tree.len()), (Ok(()), left.len()), "{order}");
    }
}

/// Two threads search at the same time. loom would report it if one of them wrote.
fn two_readers<S: Search<Query: Sync>>(
    empty: impl Fn() -> S + Send + Sync + 'static,
    item: impl Fn(u64) -> S::Item + Send + Sync + 'static,
    query: &'static S::Query,
) {
    loom::model(move || {
        let items: Arc<Vec<S::Item>> = Arc::new((0..3).map(&item).collect());
        let mut structure = empty();
        for item in items.iter() {
            // SAFETY: each item is inserted once, and outlives the structure.
            unsafe { structure.insert(item) };
        }
        let shared = Arc::new((structure, items));
        let search = move |shared: &(S, _)| {
            let mut found = 0;
            shared.0.search(query, &mut |_| found += 1);
            assert_eq!(found, 2);
        };
        let other = loom::thread::spawn({
            let shared = Arc::clone(&shared);
            move || search(&shared)
        });
        search(&shared);
        other.join().unwrap();
    });
}

#[test]
fn readers_share_an_interval_tree() {
    const QUERY: Overlap = Overlap { start: 5, last: 12 };
    two_readers::<IntervalTree<Loom, ()>>(
        IntervalTree::new,
        |index| Interval::new(10 * index, 10 * index + 9, ()),
        &QUERY,
    );
}

#[test]
fn readers_share_a_set() {
    two_readers::<Set<Loom, u64>>(|| Set::with_buckets(1), |index| Member::new(index / 2), &0);
}

thread_local! {
    /// Whether allocations of this thread fail.
    static EXHAUSTED: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, which can be made to fail for a thread.
struct Failing;

// SAFETY: this calls the system's allocator, or returns null, which says that there is no memory.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if EXHAUSTED.get() {
            return ptr::null_mut();
        }
        // SAFETY: by the caller's promise, which is what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above, and all memory comes from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// A set goes on working if it finds no memory to grow. No other operation of the three adapters
/// needs memory at all.
#[test]
fn a_set_that_finds_no_memory_to_grow_works_on() {
    let members: Vec<Member<Native, u64>> = (0..100).map(Member::new).collect();
    let intervals: Vec<Interval<Native, ()>> =
        (0..100).map(|start| Interval::new(start, start, ())).collect();
    let entries: Vec<Entry<Native, ()>> = (0..100).map(|_| Entry::new(())).collect();
    let (mut set, mut tree, mut list) = (Set::with_buckets(8), IntervalTree::new(), List::new());

    EXHAUSTED.set(true);
    for index in 0..99 {
        // SAFETY: each item is inserted once, and outlives its structure.
        unsafe {
            set.insert(&members[index]);
            tree.insert(&intervals[index]);
            list.insert(&entries[index]);
        }
    }
    // SAFETY: each item is in.
    unsafe {
        set.remove(&members[50]);
        tree.remove(&intervals[50]);
        list.remove(&entries[50]);
    }
    EXHAUSTED.set(false);
    assert_eq!((set.len(), set.buckets(), set.validate()), (98, 8, Ok(())));
    assert_eq!((tree.len(), tree.validate()), (98, Ok(())));
    assert_eq!((list.len(), list.validate()), (98, Ok(())));

    // SAFETY: the item is not in the set, and outlives it.
    unsafe { set.insert(&members[99]) };
    assert_eq!((set.len(), set.buckets(), set.validate()), (99, 16, Ok(())));
    assert!((0..100).all(|value| set.contains(&value) == (value != 50)));
}
