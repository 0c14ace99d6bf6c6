//! The same for the other orders, and for what remembers pages and compares tails.

use std::sync::Arc;

use kilocore_checking::{Threads, model};
use kilocore_locks::Ttas;
use kilocore_lru::{
    Class, Fate, FrameId, Layout, MultiGeneration, Options, PageHash, PageLists, Policy, S3Fifo,
    S3FifoOptions, Striped,
};
use kilocore_platform::{CpuId, Loom, NodeId};

use super::{Machine, PREEMPTIONS, both_on};

type Queues = S3Fifo<Machine, Ttas<Machine>>;
type Generations = MultiGeneration<Machine, Ttas<Machine>>;
type Stripes = Striped<Machine, Ttas<Machine>>;

fn queues() -> Queues {
    S3Fifo::new(2, 2, S3FifoOptions { small_percent: 50, batch: 1 }).expect("in range")
}

fn generations() -> Generations {
    MultiGeneration::new(2, 2, 1).expect("in range")
}

fn stripes(policy: Policy) -> Stripes {
    // A stripe for each of two frames.
    let layout = Layout { group_bits: 0, ..Layout::finer(2) };
    Striped::with_policy(2, 2, Options { layout, batch: 1, sorted: false }, policy)
        .expect("in range")
}

fn balanced() -> Stripes {
    stripes(Policy::RESISTANT)
}

fn lazy() -> Stripes {
    stripes(Policy::LAZY)
}

fn add<T: PageLists<Machine>>(lists: &T, frame: u32) {
    let hash = PageHash(frame.into());
    lists.add_page(FrameId(frame), Class::File, hash).expect("it is no member");
}

fn one_page<T: PageLists<Machine>>(lists: &T) {
    add(lists, 0);
}

fn two_pages<T: PageLists<Machine>>(lists: &T) {
    add(lists, 0);
    add(lists, 1);
}

/// A page that reclaim spares at first.
fn a_used_page<T: PageLists<Machine>>(lists: &T) {
    add(lists, 0);
    lists.touch(FrameId(0));
    lists.touch(FrameId(0));
}

fn add_another<T: PageLists<Machine>>(lists: &T) {
    add(lists, 1);
}

fn touch<T: PageLists<Machine>>(lists: &T) {
    lists.touch(FrameId(0));
}

fn reclaim_one<T: PageLists<Machine>>(lists: &T) {
    let reclaimed = lists.reclaim(Class::File, 1, &mut |_| Fate::Reclaim);
    assert_eq!(reclaimed, 1, "there is a page all the time");
}

fn keep_all<T: PageLists<Machine>>(lists: &T) {
    lists.reclaim(Class::File, 2, &mut |_| Fate::Keep);
}

fn isolate<T: PageLists<Machine>>(lists: &T) {
    drop(lists.isolate(FrameId(0)));
}

/// A page leaves and comes back.
fn reclaim_and_add_again<T: PageLists<Machine>>(lists: &T) {
    let mut gone = None;
    lists.reclaim(Class::File, 1, &mut |frame| {
        gone = Some(frame);
        Fate::Reclaim
    });
    if let Some(frame) = gone {
        add(lists, frame.0);
    }
}

/// Whoever adds a page again uses links that the other thread used before.
fn add_what_was_reclaimed<T: PageLists<Machine>>(lists: &T) {
    let _ = lists.add_page(FrameId(0), Class::Anonymous, PageHash(0));
}

/// The same for all orders.
macro_rules! suite {
    ($name:ident, $make:ident, $type:ident) => {
        mod $name {
            use super::*;

            fn both_of(before: fn(&$type), one: fn(&$type), other: fn(&$type), members: u32) {
                both_on($make, $type::validate, before, [one, other], members);
            }

            #[test]
            fn one_reclaims_while_the_other_adds() {
                both_of(a_used_page, reclaim_one, add_another, 1);
            }

            #[test]
            fn one_keeps_what_the_other_uses() {
                both_of(one_page, keep_all, touch, 1);
            }

            #[test]
            fn one_keeps_what_the_other_isolates() {
                both_of(two_pages, keep_all, isolate, 2);
            }

            #[test]
            fn both_give_up_pages_and_add_them_again() {
                both_of(two_pages, reclaim_and_add_again, reclaim_and_add_again, 2);
            }

            #[test]
            fn one_adds_what_the_other_reclaims() {
                model(PREEMPTIONS, || {
                    let lists = Arc::new($make());
                    Loom::place(CpuId(0), NodeId(0));
                    one_page(&*lists);
                    let others = Arc::clone(&lists);
                    let thread = Machine::spawn(move || {
                        Loom::place(CpuId(1), NodeId(0));
                        add_what_was_reclaimed(&*others);
                    });
                    reclaim_one(&*lists);
                    Machine::join(thread);
                    Arc::into_inner(lists).expect("the other thread has ended").validate();
                });
            }
        }
    };
}

suite!(s3_fifo, queues, Queues);
suite!(multi_generation, generations, Generations);
suite!(oldest_tail, balanced, Stripes);
suite!(lazy_stripes, lazy, Stripes);
