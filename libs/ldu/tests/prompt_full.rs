//! Checks of an [`InsertionLog`] that has grown to its limit: it stays short, and objects are still put in in the order
//! in which their insertions were made.

use crate::common;

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use common::programs::beside;
use common::{Census, prompt};
use kilocore_checking::planted::{Error, Source, plant};
use kilocore_checking::{
    Altered, Sequential, Sound, Thorough, Threads, explore_part, model, quarantine, verdict,
};
use kilocore_ldu::raw::{Inserted, InsertionLog, Node};
use kilocore_ldu::{Limits, PromptLdu};
use kilocore_locks::{CentralRw, RawRwLock};
use kilocore_platform::{Loom, Native, Platform, Shuttle};

type Machine = Altered<Loom, Thorough>;
/// The loads of this one are sequentially consistent, as in what ships.
type Shipped = Altered<Loom, Sequential>;

const DISORDER: &str = "objects are not put in in the order of their insertions";

const LOG: Source =
    Source { file: "libs/ldu/src/insertion_log.rs", text: include_str!("../src/insertion_log.rs") };

/// A node that one thread at a time has.
struct Mine<P: Platform>(NonNull<Node<P>>);

// SAFETY: as it says.
unsafe impl<P: Platform> Send for Mine<P> {}

impl<P: Platform> Mine<P> {
    fn new() -> Self {
        Self(NonNull::from(Box::leak(Box::new(Node::new()))))
    }

    fn node(&self) -> &Node<P> {
        // SAFETY: it is freed by `free`, with its only `Mine`.
        unsafe { self.0.as_ref() }
    }

    fn free(self) {
        assert!(self.node().is_settled(), "the log still has it");
        // SAFETY: it was made so, and is out of the log.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// A log and its lock, and the addresses of what was put into the structure, in order.
struct Ordered<P: Platform> {
    log: InsertionLog<P>,
    lock: CentralRw<P>,
    put_in: Mutex<Vec<usize>>,
}

impl<P: Platform> Ordered<P> {
    fn new() -> Self {
        Self { log: InsertionLog::new(), lock: CentralRw::new(), put_in: Mutex::default() }
    }

    fn insert(&self, own: &Mine<P>, limit: u32) {
        // SAFETY: this thread has the node, which stays until it is out of the log.
        unsafe {
            assert!(self.log.adopt(own.node()));
            let (_, released) = self.log.insert(&self.lock, own.0, limit, |node| self.put_in(node));
            released.free_all(|_| panic!("none is given up"));
        }
    }

    fn cancel(&self, own: &Mine<P>) {
        // SAFETY: this thread has the node.
        assert!(unsafe { self.log.cancel(own.node()) });
    }

    fn clear_cancelled(&self) {
        // SAFETY: this thread does not hold the lock.
        unsafe { self.log.clear_cancelled(&self.lock, |node| self.put_in(node)) }
            .free_all(|_| panic!("none is given up"));
    }

    fn put_in(&self, node: NonNull<Node<P>>) {
        self.put_in.lock().unwrap().push(node.addr().get());
    }
}

#[test]
fn nothing_stays_where_all_was_cancelled_whatever_the_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let root = Ordered::<Native>::new();
        let nodes = [(); 3].map(|()| Mine::new());
        nodes.iter().for_each(|own| root.insert(own, 1000));
        for own in order.map(|nth: usize| &nodes[nth]) {
            root.cancel(own);
            root.clear_cancelled();
        }
        assert!(root.log.is_empty(), "{order:?}");
        nodes.into_iter().for_each(Mine::free);
        assert!(root.put_in.lock().unwrap().is_empty());
    }
}

/// Many are inserted, and then all but some are cancelled, in some order, by owners that clear the log.
#[test]
fn what_is_gone_is_no_more_than_about_what_is_pending() {
    let mut random = 1_u64;
    for (count, stay) in [(3000, 0), (3000, 100), (500, 7), (60, 0), (9, 1)] {
        let root = Ordered::<Native>::new();
        let mut nodes: Vec<_> = (0..count).map(|_| Mine::new()).collect();
        nodes.iter().for_each(|own| root.insert(own, 8192));
        for nth in (1..nodes.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            nodes.swap(nth, (random >> 33) as usize % (nth + 1));
        }
        for (nth, own) in nodes[stay..].iter().enumerate() {
            root.cancel(own);
            root.clear_cancelled();
            let gone =
                nodes[stay..=stay + nth].iter().filter(|own| !own.node().is_settled()).count();
            let pending = count - nth - 1;
            assert!(gone <= pending + 2, "{gone} of {count} are gone, {pending} are pending");
        }
        assert_eq!(root.log.is_empty(), stay == 0);
        // SAFETY: the lock is the log's.
        unsafe { root.log.synchronize(&root.lock, |node| root.put_in(node)) }
            .free_all(|_| panic!("none is given up"));
        assert_eq!(root.put_in.lock().unwrap().len(), stay);
        nodes.into_iter().for_each(Mine::free);
    }
}

/// Two threads each insert an object. One of them cancels its insertion, and clears the log if the other is not in it.
fn cleared_beside_an_insertion<P: Threads>() {
    quarantine::begin();
    let root = Arc::new(Ordered::<P>::new());
    let [gone, other] = [(); 2].map(|()| Mine::new());
    let ended = Arc::new(Mutex::new(None));
    let clearer = {
        let (root, ended) = (Arc::clone(&root), Arc::clone(&ended));
        move || {
            root.insert(&gone, 1000);
            root.cancel(&gone);
            root.clear_cancelled();
            *ended.lock().unwrap() = Some(gone);
        }
    };
    beside::<P>(vec![Box::new(clearer)], || root.insert(&other, 1000));
    let gone = ended.lock().unwrap().take().expect("it has ended");
    // SAFETY: the lock is the log's.
    unsafe { root.log.synchronize(&root.lock, |node| root.put_in(node)) }
        .free_all(|_| panic!("none is given up"));
    let put_in = root.put_in.lock().unwrap().clone();
    let expected = [other.0.addr().get()];
    [gone, other].into_iter().for_each(Mine::free);
    quarantine::end();
    assert_eq!(put_in, expected, "what is pending is put in, once");
}

#[test]
fn a_log_is_cleared_beside_an_insertion() {
    model(Some(3), cleared_beside_an_insertion::<Machine>);
    model(Some(3), cleared_beside_an_insertion::<Shipped>);
    explore_part(cleared_beside_an_insertion::<Altered<Shuttle, Sound>>, 1_500, 4);
}

/// A thread finds the log full, of which it may leave `limit / 2`, while another thread inserts an object, after the one
/// that was inserted `again`, in its old place, or once.
fn inserted_beside_a_full_log<P: Threads>(limit: u32, again: bool) {
    quarantine::begin();
    let root = Arc::new(Ordered::<P>::new());
    let [parent, child, gone, other] = [(); 4].map(|()| Mine::new());
    root.insert(&parent, 1000);
    root.insert(&gone, 1000);
    root.cancel(&gone);
    if again {
        root.cancel(&parent);
        root.insert(&parent, 1000);
    }
    let ended = Arc::new(Mutex::new(None));
    let sweeper = {
        let (root, ended) = (Arc::clone(&root), Arc::clone(&ended));
        move || {
            root.insert(&other, limit);
            *ended.lock().unwrap() = Some(other);
        }
    };
    beside::<P>(vec![Box::new(sweeper)], || root.insert(&child, 1000));
    let other = ended.lock().unwrap().take().expect("it has ended");
    // SAFETY: the lock is the log's.
    unsafe { root.log.synchronize(&root.lock, |node| root.put_in(node)) }
        .free_all(|_| panic!("none is given up"));
    let order = root.put_in.lock().unwrap().clone();
    let place = |own: &Mine<P>| order.iter().position(|&at| at == own.0.addr().get());
    let in_order = place(&parent) < place(&child);
    let all = [&parent, &child, &other].map(|own| place(own).is_some());
    [parent, child, gone, other].into_iter().for_each(Mine::free);
    quarantine::end();
    // Last, as in `prompt`.
    assert_eq!((order.len(), all), (3, [true; 3]));
    assert!(in_order, "{DISORDER}");
}

#[test]
fn a_full_log_keeps_the_order() {
    // Under a checker each node counts for eight. One limit has all that are pending stay, the other has them put in.
    for limit in [8, 2] {
        for again in [false, true] {
            model(Some(3), move || inserted_beside_a_full_log::<Machine>(limit, again));
            model(Some(3), move || inserted_beside_a_full_log::<Shipped>(limit, again));
            let large = move || inserted_beside_a_full_log::<Altered<Shuttle, Sound>>(limit, again);
            explore_part(large, 1_500, 4);
        }
    }
}

#[test]
fn who_sweeps_and_who_applies_exclude_each_other() {
    let narrow = Limits { nodes: 2, age: None };
    type Prompt = PromptLdu<Machine, Census, CentralRw<Machine>>;
    let run = move || prompt::inserted_into_a_full_log::<Machine, Prompt>((), narrow);
    let call = "compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).ok()";
    let found = plant(LOG, call, Error::InTwoSteps, || verdict(|| model(Some(2), run)));
    assert!(found.is_err(), "loom finds nothing wrong with two that take at a time");
}

/// As `mprotect` does with a mapping: over and over a part of it gets a node of its own, and then it is whole again, by a
/// thread that is inside and inserts in no other way.
#[test]
fn insertions_inside_keep_the_log_short() {
    const LIMIT: u32 = 64;
    let (log, lock) = (InsertionLog::<Native>::new(), CentralRw::<Native>::new());
    let (inside, freed) = (Cell::new(0_i32), Cell::new(0));
    // Those that were given up leave the log so, and are nobody's.
    let let_go = |node: NonNull<Node<Native>>| {
        freed.set(freed.get() + 1);
        // SAFETY: it was made by `Mine::new`, and the log has ended with it.
        drop(unsafe { Box::from_raw(node.as_ptr()) });
    };
    let remove = |own: Mine<Native>| {
        // SAFETY: this thread has the node, which is in.
        let given_up = unsafe {
            log.remove(&lock, own.0, |_| inside.set(inside.get() - 1));
            own.node().give_up()
        };
        if given_up {
            freed.set(freed.get() + 1);
            own.free();
        }
    };
    let mut long = Vec::new();
    let mut applied = 0;
    for turn in 0..20_000 {
        let own = Mine::new();
        lock.acquire();
        // SAFETY: acquired above. This thread has the node, which stays until it is out of the log.
        unsafe {
            assert!(log.adopt(own.node()) && !log.is_pending(own.node()));
            let is_full = log.insert_inside(own.0, LIMIT);
            assert!(log.is_pending(own.node()));
            lock.release();
            if is_full {
                let put_in = |_| inside.set(inside.get() + 1);
                let (how, released) = log.shorten(&lock, LIMIT, put_in);
                applied += u32::from(how == Inserted::Full);
                released.free_all(let_go);
            }
        }
        // For a while half of them stay, so that the log has to be applied.
        if turn < 1000 && turn % 2 == 0 {
            long.push(own);
        } else {
            remove(own);
        }
    }
    let (kept, most) = (20_000 - freed.get() - long.len(), 3 * LIMIT as usize);
    assert!(kept <= most && applied > 0, "the log keeps {kept}, and was applied {applied} times");
    long.into_iter().for_each(remove);
    // SAFETY: the lock is the log's.
    unsafe { log.synchronize(&lock, |_| panic!("all were removed")) }.free_all(let_go);
    assert_eq!((inside.get(), freed.get()), (0, 20_000));
}

#[test]
fn a_log_full_of_what_is_pending_is_applied_though_somebody_is_inside() {
    // Under a checker each node counts for eight: the second one finds a log that is twice as long.
    fn run<P: Threads>() {
        let root = Arc::new(Ordered::<P>::new());
        let [first, second] = [(); 2].map(|()| Mine::new());
        root.insert(&first, 1000);
        root.lock.acquire();
        let (holder, ended) = (Arc::clone(&root), Arc::new(Mutex::new(None)));
        let other = {
            let (root, ended) = (Arc::clone(&root), Arc::clone(&ended));
            move || {
                root.insert(&second, 1);
                *ended.lock().unwrap() = Some(second);
            }
        };
        // SAFETY: acquired above, for this thread.
        beside::<P>(vec![Box::new(other)], move || unsafe { holder.lock.release() });
        let second = ended.lock().unwrap().take().expect("it has ended");
        let put_in = root.put_in.lock().unwrap().len();
        // SAFETY: the lock is the log's.
        unsafe { root.log.synchronize(&root.lock, |node| root.put_in(node)) }
            .free_all(|_| panic!("none is given up"));
        [first, second].into_iter().for_each(Mine::free);
        assert_eq!(put_in, 2, "the log was not applied");
    }
    model(Some(3), run::<Machine>);
}
