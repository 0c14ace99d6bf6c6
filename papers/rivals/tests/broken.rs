//! What the suite is worth: schemes with a bug planted are found out.

use crate::common;

use common::spin_rw::SpinRw;
use common::{on_shuttle, small};
use kilocore_checking::explore;
use kilocore_ldu::{Attached, Detached, Scheme, Search};
use kilocore_platform::{Platform, Shuttle};
use kilocore_rivals::conformance::{Counts, Item, Job, Multiset, together};
use kilocore_rivals::{Harris, OpLog, Order, Ordered, Tuning, Unordered};
use std::sync::Arc;

/// What shuttle says of a program.
fn verdict(program: impl Fn() + Copy + Send + Sync + 'static) -> Result<(), String> {
    kilocore_checking::verdict(|| explore(program, 2_000, 3))
}

/// A log that is applied core by core.
#[derive(Debug)]
struct CoreByCore;

// SAFETY: none. The structure of the suite notices, and panics.
unsafe impl Tuning for CoreByCore {
    const MERGES: bool = false;
}

#[test]
fn a_log_that_is_not_merged_by_time_is_found_out() {
    type S = OpLog<Shuttle, SpinRw<Shuttle>, CoreByCore>;
    let message = verdict(|| together::<Shuttle, S>(small(2, 10, 1), on_shuttle)).unwrap_err();
    assert!(message.contains("in the structure"), "{message}");
}

/// A log that is applied with what is added meanwhile, as far as that is seen.
#[derive(Debug)]
struct Uncut;

// SAFETY: none. The structure of the suite notices, and panics.
unsafe impl Tuning for Uncut {
    const CUTS: bool = false;
}

#[test]
fn a_log_that_is_not_cut_at_one_moment_is_found_out() {
    type S = OpLog<Shuttle, SpinRw<Shuttle>, Uncut>;
    let message = verdict(|| together::<Shuttle, S>(small(3, 10, 1), on_shuttle)).unwrap_err();
    assert!(message.contains("in the structure"), "{message}");
}

/// An order of a list whose removals do not mark.
#[derive(Debug)]
struct Unmarked<O>(O);

// SAFETY: none. The program below frees nothing that may still be linked.
unsafe impl<O: Order> Order for Unmarked<O> {
    const NAME: &'static str = "unmarked";
    const SORTED: bool = O::SORTED;
    const MARKS: bool = false;
    type Key = O::Key;

    fn key<P: Platform, S: Search>(item: &S::Item) -> O::Key {
        O::key::<P, S>(item)
    }
}

/// Four objects in a list. Two threads remove one each, and insert another one; then everybody looks.
/// Nothing is given back before the end, so that a list that is wrong leads nowhere else.
fn neighbours<S: Scheme<Shuttle>>() {
    type Token<S> = Attached<<S as Scheme<Shuttle>>::Hook, Item<Shuttle>>;
    let counts: Arc<Counts> = Arc::default();
    let scheme = Arc::new(S::new(2));
    let root = Arc::new(scheme.root(Multiset::default()));
    let mut thread = scheme.thread();
    let mut inside: Vec<Token<S>> = (0..4)
        .map(|id| {
            let object = Detached::new(Item::new(id, 4 * id as u64, &counts));
            scheme.insert(&root, object, &mut thread)
        })
        .collect();
    let job = |object: Token<S>, id: usize| -> Job {
        let (scheme, root, counts) = (Arc::clone(&scheme), Arc::clone(&root), Arc::clone(&counts));
        Box::new(move || {
            let mut thread = scheme.thread();
            let removed = scheme.remove(&root, object, &mut thread);
            let new = Detached::new(Item::new(id, 4 * id as u64 - 18, &counts));
            let new = scheme.insert(&root, new, &mut thread);
            let mut ids = Vec::new();
            scheme.search(&root, &(0..=99), &mut |item| ids.push(item.id), &mut thread);
            assert!(!ids.contains(&removed.id), "{ids:?} have {}, which was removed", removed.id);
            assert!(ids.contains(&new.id), "{ids:?} lack {}, which is inside", new.id);
            assert!(ids.contains(&0), "{ids:?} lack the first one");
            let new = scheme.remove(&root, new, &mut thread);
            std::mem::forget((removed, new));
        })
    };
    let (second, third) = (inside.remove(1), inside.remove(1));
    on_shuttle(vec![job(second, 6), job(third, 7)]);
    std::mem::forget(inside);
}

#[test]
fn a_list_whose_removals_do_not_mark_is_found_out() {
    fn found_out<O: Order>() {
        verdict(neighbours::<Harris<Shuttle, O>>).unwrap();
        let message = verdict(neighbours::<Harris<Shuttle, Unmarked<O>>>).unwrap_err();
        assert!(message.contains("removed") || message.contains("inside"), "{message}");
    }
    found_out::<Ordered>();
    found_out::<Unordered>();
}
