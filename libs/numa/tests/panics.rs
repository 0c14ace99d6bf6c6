//! What happens if a change, a clone or a drop panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kilocore_numa::{Nodes, ReplicatedOn};
use kilocore_platform::{Native, NodeId};

/// Counts how many there are, and panics at a clone if it is told to.
#[derive(Debug)]
struct Counted {
    number: u32,
    alive: Arc<AtomicUsize>,
    /// How many clones are left before one panics.
    clones: Arc<AtomicUsize>,
}

impl Counted {
    fn new() -> Self {
        let clones = Arc::new(AtomicUsize::new(usize::MAX));
        Self { number: 0, alive: Arc::new(AtomicUsize::new(1)), clones }
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        assert!(self.clones.fetch_sub(1, Ordering::Relaxed) > 0, "no clone is left");
        self.alive.fetch_add(1, Ordering::Relaxed);
        let (alive, clones) = (Arc::clone(&self.alive), Arc::clone(&self.clones));
        Self { number: self.number, alive, clones }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

type Data = ReplicatedOn<Native, Counted>;

fn on_three_nodes(value: Counted) -> Data {
    Data::on(&Nodes::new([0, 1, 2].map(NodeId)), value)
}

fn panics<R>(work: impl FnOnce() -> R) {
    assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
}

#[test]
fn all_copies_are_dropped() {
    let value = Counted::new();
    let alive = Arc::clone(&value.alive);
    let data = on_three_nodes(value);
    assert_eq!(alive.load(Ordering::Relaxed), 3);
    // A guard in the argument would live until the store has returned.
    let other = data.read().clone();
    data.store(other);
    assert_eq!(alive.load(Ordering::Relaxed), 3);
    drop(data);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn a_repair_that_panics_is_made_up_for_by_the_next() {
    let value = Counted::new();
    let (alive, clones) = (Arc::clone(&value.alive), Arc::clone(&value.clones));
    let data = on_three_nodes(value);
    let mut calls = 0;
    panics(|| {
        data.update(|copy| {
            copy.number += 1;
            calls += 1;
            assert!(calls < 2, "as planned");
        });
    });
    // The change of one copy was made, and then the first of the other side panicked.
    assert_eq!(data.read().number, 1, "the update has taken effect");
    for left in 0..2 {
        clones.store(left, Ordering::Relaxed);
        panics(|| data.update(|copy| copy.number += 1));
        assert_eq!(data.read().number, 1, "an update without a repair has no effect");
    }
    clones.store(usize::MAX, Ordering::Relaxed);
    data.update(|copy| {
        assert_eq!(copy.number, 1);
        copy.number += 1;
    });
    data.update(|copy| assert_eq!(copy.number, 2));
    assert_eq!(alive.load(Ordering::Relaxed), 3);
}

#[test]
fn a_store_whose_clone_panics_has_no_effect() {
    let value = Counted::new();
    let (alive, clones) = (Arc::clone(&value.alive), Arc::clone(&value.clones));
    let data = on_three_nodes(value);
    for left in 0..3 {
        let other = data.read().clone();
        clones.store(left, Ordering::Relaxed);
        panics(|| {
            let mut value = other.clone();
            value.number = 7;
            data.store(value);
        });
        clones.store(usize::MAX, Ordering::Relaxed);
        drop(other);
        assert_eq!(data.read().number, 0);
        assert_eq!(alive.load(Ordering::Relaxed), 3);
    }
    clones.store(1, Ordering::Relaxed);
    panics(|| on_three_nodes(Counted::new_with(&alive, &clones)));
    assert_eq!(alive.load(Ordering::Relaxed), 3, "what was made is dropped");
}

impl Counted {
    fn new_with(alive: &Arc<AtomicUsize>, clones: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { number: 0, alive: Arc::clone(alive), clones: Arc::clone(clones) }
    }
}

#[test]
fn a_store_repairs_what_a_panic_has_left() {
    let data = on_three_nodes(Counted::new());
    panics(|| data.update(|_| panic!("as planned")));
    let mut other = data.read().clone();
    other.number = 7;
    data.store(other);
    data.update(|copy| assert_eq!(copy.number, 7));
}

/// A value whose drop panics if it is told to.
#[derive(Clone)]
struct Fragile(Arc<AtomicUsize>);

impl Drop for Fragile {
    fn drop(&mut self) {
        if self.0.load(Ordering::Relaxed) == 1 {
            self.0.store(0, Ordering::Relaxed);
            panic!("as planned");
        }
    }
}

#[test]
fn a_drop_that_panics_leaves_all_copies_behind() {
    let panic = Arc::new(AtomicUsize::new(0));
    let data =
        ReplicatedOn::<Native, _>::on(&Nodes::new([0, 1].map(NodeId)), Fragile(panic.clone()));
    panic.store(1, Ordering::Relaxed);
    // Each copy, the first one while the old value is replaced.
    panics(|| data.update(|copy| *copy = Fragile(Arc::new(AtomicUsize::new(0)))));
    data.update(|_| ());
    let old = Arc::new(AtomicUsize::new(0));
    data.store(Fragile(old.clone()));
    old.store(1, Ordering::Relaxed);
    panics(|| data.store(Fragile(Arc::new(AtomicUsize::new(0)))));
    old.store(0, Ordering::Relaxed);
    data.update(|copy| assert!(!Arc::ptr_eq(&copy.0, &old), "all copies are new"));
    old.store(1, Ordering::Relaxed);
    drop(data);
}

#[test]
fn a_reader_that_panics_leaves() {
    let data = on_three_nodes(Counted::new());
    panics(|| {
        let _guard = data.read();
        panic!("as planned");
    });
    data.update(|copy| copy.number += 1);
    assert_eq!(data.read().number, 1);
}
