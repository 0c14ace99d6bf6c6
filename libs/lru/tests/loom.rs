//! All executions of two threads that use the lists at the same time, with few preemptions. The locks
//! are simple here, because they are checked elsewhere.

mod rivals;

use std::sync::Arc;

use kilocore_checking::{Altered, Thorough, Threads, model};
use kilocore_locks::Ttas;
use kilocore_lru::{Class, Fate, FrameId, Layout, List, Options, PageLists, Striped};
use kilocore_platform::{CpuId, Loom, NodeId};

type Machine = Altered<Loom, Thorough>;
type Lists = Striped<Machine, Ttas<Machine>>;

const PREEMPTIONS: Option<usize> = Some(3);

/// Three frames of one stripe, as there is one only, under one lock or under one for each list.
const LAYOUTS: [Layout; 2] = [Layout::STOCK, Layout::first_finer(1)];

/// Two threads, each on a core of its own, after what `before` did. Afterwards every frame has to be on
/// one list or on none, and all `members` have to be on one.
fn both(before: fn(&Lists), one: fn(&Lists), other: fn(&Lists), members: u32) {
    both_in_batches(1, before, one, other, members);
}

/// The same with batches of so many frames.
fn both_in_batches(
    batch: u32,
    before: fn(&Lists),
    one: fn(&Lists),
    other: fn(&Lists),
    members: u32,
) {
    for layout in LAYOUTS {
        let options = Options { layout, batch, sorted: false };
        let make = move || Lists::new(3, 2, options).expect("the options are in range");
        both_on(make, Lists::validate, before, [one, other], members);
    }
}

/// The same on any lists, which `validate` looks at in the end.
fn both_on<T: PageLists<Machine> + 'static>(
    make: impl Fn() -> T + Send + Sync + 'static,
    validate: fn(&mut T),
    before: fn(&T),
    threads: [fn(&T); 2],
    members: u32,
) {
    let [one, other] = threads;
    model(PREEMPTIONS, move || {
        let lists = Arc::new(make());
        Loom::place(CpuId(0), NodeId(0));
        before(&lists);
        let others = Arc::clone(&lists);
        let thread = Machine::spawn(move || {
            Loom::place(CpuId(1), NodeId(0));
            other(&others);
        });
        one(&lists);
        Machine::join(thread);
        let mut lists = Arc::into_inner(lists).expect("the other thread has ended");
        validate(&mut lists);
        let listed: u32 = List::ALL.into_iter().map(|list| lists.len(list)).sum();
        assert_eq!(listed, members, "no page is lost");
    });
}

fn add(lists: &Lists, frame: u32) {
    lists.add(FrameId(frame), Class::File).expect("it is no member");
}

fn nothing(_: &Lists) {}

fn one_page(lists: &Lists) {
    add(lists, 0);
}

fn two_pages(lists: &Lists) {
    add(lists, 0);
    add(lists, 1);
}

#[test]
fn two_threads_add() {
    both(nothing, |lists| add(lists, 0), |lists| add(lists, 1), 2);
}

#[test]
fn one_adds_what_both_want_to_add() {
    let try_to = |lists: &Lists| {
        let _ = lists.add(FrameId(0), Class::File);
    };
    both(nothing, try_to, try_to, 1);
}

#[test]
fn two_threads_promote_one_page() {
    let touch = |lists: &Lists| lists.touch(FrameId(0));
    both(one_page, touch, touch, 1);
}

#[test]
fn one_promotes_a_page_that_the_other_demotes() {
    let promote = |lists: &Lists| {
        lists.touch(FrameId(0));
        lists.touch(FrameId(0));
    };
    both(one_page, promote, |lists| lists.deactivate(FrameId(0)), 1);
}

#[test]
fn one_isolates_a_page_whose_neighbour_the_other_moves() {
    let isolate = |lists: &Lists| drop(lists.isolate(FrameId(0)));
    both(two_pages, isolate, |lists| lists.rotate(FrameId(1)), 2);
}

#[test]
fn two_threads_isolate_one_page() {
    let isolate = |lists: &Lists| drop(lists.isolate(FrameId(0)));
    both(two_pages, isolate, isolate, 2);
}

#[test]
fn one_reclaims_while_the_other_adds() {
    let reclaim = |lists: &Lists| {
        let reclaimed = lists.reclaim(Class::File, 1, &mut |_| Fate::Reclaim);
        assert_eq!(reclaimed, 1, "there is a page all the time");
    };
    both(one_page, reclaim, |lists| add(lists, 1), 1);
}

#[test]
fn one_keeps_what_the_other_promotes() {
    let look = |lists: &Lists| {
        lists.reclaim(Class::File, 1, &mut |_| Fate::Keep);
    };
    let promote = |lists: &Lists| {
        lists.touch(FrameId(0));
        lists.touch(FrameId(0));
    };
    both(one_page, look, promote, 1);
}

#[test]
fn one_pins_a_page_that_the_other_looks_at() {
    let look = |lists: &Lists| {
        lists.reclaim(Class::File, 2, &mut |_| Fate::Keep);
    };
    both(two_pages, look, |lists| lists.set_evictable(FrameId(0), false), 2);
}

/// The last frame of the first thread's batch needs a lock that comes before the one that is held then.
#[test]
fn two_batches_need_the_same_locks() {
    let pages = |lists: &Lists| {
        (0..3).for_each(|frame| add(lists, frame));
        lists.drain();
    };
    // A second use puts a page into the batch.
    let promote = |lists: &Lists| {
        [0, 0, 0, 0, 1, 1].into_iter().for_each(|frame| lists.touch(FrameId(frame)));
    };
    let promote_another = |lists: &Lists| (0..6).for_each(|_| lists.touch(FrameId(2)));
    both_in_batches(3, pages, promote, promote_another, 3);
}

/// Whoever adds a page again uses the links that the other thread used before. Nothing else orders that.
#[test]
fn one_adds_what_the_other_removes() {
    let remove = |lists: &Lists| {
        if let Some(isolated) = lists.isolate(FrameId(0)) {
            isolated.remove();
        }
    };
    // To another list, under another lock.
    let add_again = |lists: &Lists| {
        let _ = lists.add(FrameId(0), Class::Anonymous);
    };
    for layout in LAYOUTS {
        model(PREEMPTIONS, move || {
            let options = Options { layout, batch: 1, sorted: false };
            let lists = Arc::new(Lists::new(1, 2, options).expect("the options are in range"));
            Loom::place(CpuId(0), NodeId(0));
            one_page(&lists);
            let others = Arc::clone(&lists);
            let thread = Machine::spawn(move || {
                Loom::place(CpuId(1), NodeId(0));
                add_again(&others);
            });
            remove(&lists);
            Machine::join(thread);
            Arc::into_inner(lists).expect("the other thread has ended").validate();
        });
    }
}
