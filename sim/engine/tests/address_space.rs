//! Threads that touch new pages and threads that change mappings, of one program.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use kilocore_machine::Figure;
use kilocore_platform::Cycles;
use kilocore_sim::{Guest, GuestAccess, Guests, Options};

const DATA: u64 = 0x7f00_0000_0000;

/// Threads on cores of their own, each of which does `body` with its number from 1 on. Returns when each has done it. Page
/// faults share the lock of the address space, or one of their mapping only.
fn ends(threads: u32, apart: bool, body: impl Fn(&Guest, u64) + Sync) -> Vec<u64> {
    let mut machine = kilocore_machine::find("opteron-6344-4s").expect("built in");
    let locks = machine.os.mapping_locks.as_mut().expect("it is told");
    *locks = Figure { value: f64::from(u8::from(apart)), ..locks.clone() };
    let options = Options { cores: threads + 1, seed: 1 };
    let guests = Guests::new(&machine, options, Cycles(1_000)).expect("as many cores");
    let body = &body;
    let times = thread::scope(|scope| {
        let guest = guests.begin();
        let start = |index| {
            let newborn = guest.fork();
            scope.spawn(move || {
                let guest = newborn.arrive();
                body(&guest, index);
                guest.catch_up();
                let now = guest.now().0;
                guest.end(None, || {});
                now
            })
        };
        let all: Vec<_> = (1..=u64::from(threads)).map(start).collect();
        guest.end(None, || {});
        all.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    assert!(guests.failure().is_none());
    times
}

fn touch(guest: &Guest, page: u64) {
    guest.refer(DATA + page * Guest::PAGE, GuestAccess::Store);
}

#[test]
fn who_touches_a_page_waits_for_who_changes_mappings_unless_faults_are_apart() {
    let touched = |apart| {
        let body = |guest: &Guest, index| match index {
            1 => guest.change_address_space(Cycles(1_000_000), 0, 0),
            _ => {
                guest.compute(Cycles(200_000));
                touch(guest, index);
            }
        };
        ends(3, apart, body)
    };
    let (together, apart) = (touched(false), touched(true));
    assert!(together.iter().all(|&end| end >= 1_000_000), "{together:?}");
    assert!(apart[0] >= 1_000_000 && apart[1..].iter().all(|&end| end < 300_000), "{apart:?}");
}

#[test]
fn who_changes_mappings_waits_for_faults_and_these_queue_behind_it() {
    // Many fault without end. One that changes mappings gets in between, and not after them all.
    let body = |guest: &Guest, index: u64| {
        if index == 1 {
            guest.compute(Cycles(300_000));
            guest.change_address_space(Cycles(1_000_000), 0, 0);
        } else {
            (0..200).for_each(|page| touch(guest, index * 1_000 + page));
        }
    };
    let together = ends(8, false, body);
    let (changed, touched) = (together[0], &together[1..]);
    assert!((1_300_000..1_400_000).contains(&changed), "{together:?}");
    assert!(touched.iter().all(|&end| end > changed), "{together:?}");
    assert_eq!(ends(8, false, body), together, "the same each time");
}

#[test]
fn threads_with_nothing_in_common_but_their_address_space_disturb_each_other() {
    let last = |threads, apart| {
        let body = |guest: &Guest, index: u64| {
            for _ in 0..50 {
                (0..8).for_each(|page| touch(guest, index * 100_000 + page));
                let start = DATA + index * 100_000 * Guest::PAGE;
                guest.change_address_space(Cycles(1_500), start, 8 * Guest::PAGE);
            }
        };
        ends(threads, apart, body).into_iter().max().expect("there are threads")
    };
    let (alone, together, apart) = (last(1, false), last(12, false), last(12, true));
    assert!(together > 6 * alone, "{alone} {together}");
    assert!(apart * 3 < together, "{apart} {together}");
}

#[test]
fn pages_of_files_are_mapped_together_and_copied_where_they_are_written() {
    let took = |is_file: bool, access| {
        let ends = ends(1, false, |guest, _| {
            if is_file {
                guest.map_file(DATA, 64 * Guest::PAGE);
            }
            for page in 0..64 {
                guest.refer(DATA + page * Guest::PAGE, access);
            }
        });
        ends[0]
    };
    let (read, written) = (took(true, GuestAccess::Load), took(true, GuestAccess::Store));
    let new = took(false, GuestAccess::Store);
    // Four faults, and not 64, and nothing is zeroed.
    assert!(read * 2 < new, "{read} {new}");
    assert!(written.abs_diff(new) * 20 < new, "{written} {new}");
}

#[test]
fn pages_of_files_lie_on_the_first_node_whoever_reads_them_and_others_where_they_are_touched() {
    // One thread of this node reads.
    let took = |is_file: bool, node: u32| {
        let has_read = AtomicBool::new(false);
        let ends = ends(11, false, |guest, _| {
            // Until all have a core.
            guest.compute(Cycles(1_000_000));
            guest.catch_up();
            if guest.node().0 == node && !has_read.swap(true, Ordering::Relaxed) {
                if is_file {
                    guest.map_file(DATA, 64 * Guest::PAGE);
                }
                // Far apart, so that it waits for each.
                let lines = (0..64).flat_map(|page| [0, 2048].map(|at| page * Guest::PAGE + at));
                for at in lines {
                    guest.refer(DATA + at, GuestAccess::Load);
                }
            }
        });
        assert!(has_read.into_inner(), "some thread is there");
        ends.into_iter().max().expect("there are threads")
    };
    let [near, far] = [0, 1].map(|node| took(true, node));
    assert!(far > near + 128 * 40, "{far} {near}");
    let [near, far] = [0, 1].map(|node| took(false, node));
    assert!(far.abs_diff(near) * 20 < near, "{far} {near}");
}

#[test]
fn memory_that_is_given_back_takes_time_by_its_pages() {
    let took = |pages: u64, gives_back: fn(&Guest)| {
        let ends = ends(1, false, |guest, _| {
            (0..pages).for_each(|page| touch(guest, page));
            gives_back(guest);
        });
        ends[0]
    };
    let each = |gives_back: fn(&Guest)| {
        let (few, many) = (took(10, gives_back), took(1_010, gives_back));
        let touched = took(1_010, |_| ()) - took(10, |_| ());
        (many - few - touched) / 1_000
    };
    // 200 ns at 2.6 GHz.
    let unmapped = each(|guest| guest.change_address_space(Cycles(0), DATA, 2_000 * Guest::PAGE));
    assert!((510..530).contains(&unmapped), "{unmapped}");
    assert_eq!(each(Guest::leave_address_space).abs_diff(unmapped), 0);
    // What nobody has touched costs nothing.
    let elsewhere = |guest: &Guest| {
        let start = DATA + 5_000 * Guest::PAGE;
        guest.change_address_space(Cycles(0), start, 2_000 * Guest::PAGE);
    };
    assert_eq!(each(elsewhere), 0);
}

#[test]
fn who_waits_for_the_address_space_goes_on_when_the_simulation_is_stopped() {
    let machine = kilocore_machine::find("opteron-6344-4s").expect("built in");
    let options = Options { cores: 12, seed: 1 };
    let guests = Guests::new(&machine, options, Cycles(1_000)).expect("as many cores");
    thread::scope(|scope| {
        let guest = guests.begin();
        for index in 1..=10 {
            let newborn = guest.fork();
            scope.spawn(move || {
                let guest = newborn.arrive();
                match index % 3 {
                    // It is inside all the time.
                    1 => guest.change_address_space(Cycles(1_000_000_000), 0, 0),
                    2 => guest.change_address_space(Cycles(1_000), 0, 0),
                    _ => touch(&guest, index),
                }
                guest.end(None, || {});
            });
        }
        guest.compute(Cycles(1_000_000));
        guest.catch_up();
        guests.stop();
    });
    assert!(guests.is_over());
}

#[test]
fn nobody_is_inside_of_an_address_space_that_is_copied() {
    // Threads that fault without end, and two of whom each copies the address space for a while.
    for apart in [false, true] {
        let touched = AtomicU64::new(0);
        let copies = AtomicU64::new(0);
        ends(8, apart, |guest, index| {
            if index > 2 {
                for page in 0..400 {
                    touch(guest, index * 1_000 + page);
                    touched.fetch_add(1, Ordering::Relaxed);
                }
                return;
            }
            for _ in 0..5 {
                guest.compute(Cycles(20_000));
                guest.hold_to_copy();
                assert_eq!(copies.fetch_add(1, Ordering::Relaxed), 0, "one copies");
                let before = touched.load(Ordering::Relaxed);
                for _ in 0..10 {
                    guest.in_system(Cycles(10_000));
                    guest.catch_up();
                }
                // Those that have come out may not have counted what they did before.
                let inside = touched.load(Ordering::Relaxed) - before;
                assert!(inside <= 6, "{inside} of {before}");
                copies.fetch_sub(1, Ordering::Relaxed);
                guest.leave_copied();
            }
        });
        assert_eq!(touched.into_inner(), 6 * 400);
    }
}
