//! How long each thread of a process waited for which of its locks, by what the measuring library recorded
//! and what looks and samples have shown.
//!
//! A recording knows, of each lock, how often it was acquired and how long those waited who got it. It does
//! not know which thread did, nor of waits under way. Looks and samples know these, but only roughly. So the
//! larger of the two counts: what was recorded beyond what was seen is spread over the threads of the
//! process, by how long each could have waited. A mutex or read-write lock is slept for, which takes time
//! when a thread neither ran nor was ready to. A spin lock is spun for, which takes time when it ran; the time
//! that is recorded goes on while the waiter has no core. So where samples show who spins, they say for how
//! long, and the recording for which locks.
//! Acquisitions are spread by how long each thread ran.

use std::collections::BTreeMap;

use kilocore_lock_profile::Family;
use kilocore_sched_policy::Nanos;

use crate::coverage::Times;
use crate::recordings::Recent;
use crate::sums::{OTHERS, Places, Sums, parts};

/// The address that stands for locks on which threads spin and that have no name.
pub(crate) const SPINS: u64 = 0;

/// What a thread did in a window, and what was seen of its waits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiter {
    pub(crate) ran: Nanos,
    pub(crate) ready: Nanos,
    /// How long it ran its own code, if it was sampled.
    pub(crate) user: Option<Nanos>,
    /// How long it was in spin loops.
    pub(crate) spun: Nanos,
    /// For how long it slept in which words, and whether as threads sleep for a mutex.
    pub(crate) slept: BTreeMap<u64, (Nanos, bool)>,
    /// For how long it waited for which of the kernel's own locks, which no recording knows.
    pub(crate) in_kernel: Waits,
}

impl Waiter {
    /// Adds what is known of its waits for the kernel's locks in a window of this length, as far as it had
    /// time for them: it spun while it ran in the kernel, and slept while it neither ran, nor wanted a core and
    /// had none, nor slept in a futex. The kernel's records end only when it has the lock and a core.
    pub(crate) fn wait_in_kernel(&mut self, waits: Waits, length: Nanos) {
        let futexes: u64 = self.slept.values().map(|(slept, _)| slept.0).sum();
        let busy = self.ran.0.saturating_add(self.ready.0).saturating_add(futexes);
        let asleep = length.0.saturating_sub(busy);
        let in_kernel = self.ran.0.saturating_sub(self.user.unwrap_or_default().0);
        let fits = |most: u64, of: fn(&Wait) -> Nanos| {
            let all: u64 = waits.values().map(|wait| of(wait).0).sum();
            move |time: Nanos| {
                let part = u128::from(time.0) * u128::from(most.min(all));
                Nanos(part.checked_div(all.into()).unwrap_or(0) as u64)
            }
        };
        let spun = fits(in_kernel, |wait| wait.spun);
        let slept = fits(asleep, |wait| wait.slept);
        let fit = |wait: Wait| Wait { spun: spun(wait.spun), slept: slept(wait.slept), ..wait };
        self.in_kernel = waits.into_iter().map(|(lock, wait)| (lock, fit(wait))).collect();
    }

    /// How long it ran its own code, if it was sampled, or spun for a lock, also for one of the kernel's.
    pub(crate) fn user_and_spinning(&self) -> Option<Nanos> {
        let spun: u64 = self.in_kernel.values().map(|wait| wait.spun.0).sum();
        self.user.map(|user| Nanos((user.0 + spun).min(self.ran.0)))
    }
}

/// What a thread had to do with a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wait {
    pub(crate) spun: Nanos,
    pub(crate) slept: Nanos,
    pub(crate) acquired: u64,
}

/// The waits of a thread by the addresses of locks.
pub(crate) type Waits = BTreeMap<u64, Wait>;

/// The waits of a process's threads, and how long they are all together.
#[derive(Debug, Default)]
pub(crate) struct Combined {
    pub(crate) of_threads: Vec<Waits>,
    pub(crate) times: Times,
}

/// Of a thread whose process records nothing: what was seen. One that has not run at all is idle, unless it
/// is known to wait for one of the kernel's locks.
pub(crate) fn seen(thread: &Waiter) -> Waits {
    let mut waits = thread.in_kernel.clone();
    if thread.spun.0 > 0 {
        waits.entry(SPINS).or_default().spun = thread.spun;
    }
    let mutexes = thread.slept.iter().filter(|(_, (_, mutex))| *mutex && thread.ran.0 > 0);
    for (word, (slept, _)) in mutexes {
        waits.entry(*word).or_default().slept = *slept;
    }
    waits
}

/// Of all threads of a process that records these locks, in a window of this length.
pub(crate) fn combine(locks: &[Recent], threads: &[Waiter], length: Nanos) -> Combined {
    let mut waits = vec![Waits::new(); threads.len()];
    let places = Places::of(locks);
    let mut unrecorded: Vec<Waits> =
        threads.iter().map(|thread| thread.in_kernel.clone()).collect();
    let mut at_locks = vec![BTreeMap::<u64, u64>::new(); threads.len()];
    for (index, thread) in threads.iter().enumerate() {
        for (word, (slept, mutex)) in &thread.slept {
            if let Some(lock) = places.lock_at(*word) {
                // Known to be a lock, so it is waited for even through a whole window.
                *at_locks[index].entry(lock).or_default() += slept.0;
            } else if *mutex && thread.ran.0 > 0 {
                unrecorded[index].entry(*word).or_default().slept = *slept;
            }
        }
    }
    let sums = Sums::of(locks, &at_locks);
    for (waits, slept) in waits.iter_mut().zip(&at_locks) {
        for (lock, slept) in slept {
            waits.entry(sums.key(*lock)).or_default().slept.0 += slept;
        }
    }
    let rooms = rooms(threads, &at_locks, &unrecorded, length);
    spread_sleep(&sums, rooms, &mut waits);
    spread_spins(&sums, threads, &mut waits);
    for (key, sum) in &sums.of {
        let shares = threads.iter().map(|thread| thread.ran.0).collect::<Vec<_>>();
        for (waits, part) in waits.iter_mut().zip(parts(sum.acquired, &shares)) {
            if part > 0 {
                waits.entry(*key).or_default().acquired += part;
            }
        }
    }
    place_rest(locks, &sums, threads, &mut waits, &mut unrecorded);
    let recorded: u64 = waits.iter().map(total).sum();
    let elsewhere: u64 = unrecorded.iter().map(total).sum();
    let ran: u64 = threads.iter().map(|thread| thread.ran.0).sum();
    for (waits, more) in waits.iter_mut().zip(unrecorded) {
        // A word may also be the address of a recorded spin lock, which has no size.
        for (word, more) in more {
            let wait = waits.entry(word).or_default();
            wait.spun.0 += more.spun.0;
            wait.slept.0 += more.slept.0;
            wait.acquired += more.acquired;
        }
    }
    let times = Times { ran: Nanos(ran), recorded: Nanos(recorded), elsewhere: Nanos(elsewhere) };
    Combined { of_threads: waits, times }
}

fn total(waits: &Waits) -> u64 {
    waits.values().map(|wait| wait.spun.0 + wait.slept.0).sum()
}

/// How long each thread may have slept for locks besides what was seen. Those that have not run have waited for
/// nothing that they got.
fn rooms(
    threads: &[Waiter],
    at_locks: &[BTreeMap<u64, u64>],
    elsewhere: &[Waits],
    length: Nanos,
) -> Vec<u64> {
    let room = |((thread, at_locks), elsewhere): ((&Waiter, &BTreeMap<u64, u64>), &Waits)| {
        let elsewhere: u64 = elsewhere.values().map(|wait| wait.slept.0).sum();
        let slept = at_locks.values().sum::<u64>().saturating_add(elsewhere);
        let busy = thread.ran.0.saturating_add(thread.ready.0).saturating_add(slept);
        if thread.ran.0 > 0 { length.0.saturating_sub(busy) } else { 0 }
    };
    threads.iter().zip(at_locks).zip(elsewhere).map(room).collect()
}

/// Spreads what was recorded of sleep beyond what was seen over threads with room for it.
fn spread_sleep(sums: &Sums, mut rooms: Vec<u64>, waits: &mut [Waits]) {
    for (key, sum) in &sums.of {
        let seen: u64 =
            waits.iter().filter_map(|waits| waits.get(key)).map(|wait| wait.slept.0).sum();
        let rest = sum.slept.saturating_sub(seen).min(rooms.iter().sum());
        let parts = parts(rest, &rooms);
        for ((waits, room), part) in waits.iter_mut().zip(&mut rooms).zip(parts) {
            if part > 0 {
                waits.entry(*key).or_default().slept.0 += part;
                *room -= part;
            }
        }
    }
}

/// Spreads what was recorded of spinning over threads that were seen to spin, for as long as they were, or
/// over those that ran if nobody looked. If that is less than was recorded, each lock has its share of it.
fn spread_spins(sums: &Sums, threads: &[Waiter], waits: &mut [Waits]) {
    let rooms = |waits: &[Waits]| -> Vec<u64> {
        let room = |(thread, waits): (&Waiter, &Waits)| {
            let spun: u64 = waits.values().map(|wait| wait.spun.0).sum();
            let in_kernel = || thread.in_kernel.values().map(|wait| wait.spun.0).sum();
            let most = match thread.user {
                Some(_) => thread.spun.0,
                None => thread.ran.0.saturating_sub(in_kernel()),
            };
            most.saturating_sub(spun)
        };
        threads.iter().zip(waits).map(room).collect()
    };
    let recorded: Vec<u64> = sums.of.values().map(|sum| sum.spun).collect();
    let room: u64 = rooms(waits).iter().sum();
    let all: u128 = recorded.iter().map(|spun| u128::from(*spun)).sum();
    let shares = if all > u128::from(room) { parts(room, &recorded) } else { recorded };
    for (key, share) in sums.of.keys().zip(shares).filter(|(_, share)| *share > 0) {
        let parts = parts(share, &rooms(waits));
        for (waits, part) in waits.iter_mut().zip(parts) {
            if part > 0 {
                waits.entry(*key).or_default().spun.0 += part;
            }
        }
    }
}

/// Where spinning belongs that was seen and of which no recording knows: to waits under way for a recorded lock,
/// of as many threads as wait for one, or to locks that are not recorded.
fn place_rest(
    locks: &[Recent],
    sums: &Sums,
    threads: &[Waiter],
    waits: &mut [Waits],
    unrecorded: &mut [Waits],
) {
    let rest = |(index, (thread, waits)): (usize, (&Waiter, &Waits))| {
        let known: u64 = waits.values().map(|wait| wait.spun.0).sum();
        (thread.spun.0.saturating_sub(known), index)
    };
    let mut rests: Vec<(u64, usize)> =
        threads.iter().zip(waits.iter()).enumerate().map(rest).filter(|rest| rest.0 > 0).collect();
    rests.sort_unstable_by_key(|(rest, index)| (std::cmp::Reverse(*rest), *index));
    let spins = || locks.iter().filter(|lock| lock.family == Family::Spin);
    let waiters: usize = spins().map(|lock| lock.waiters as usize).sum();
    let most = spins().max_by_key(|lock| lock.waiters);
    let key = most.and_then(|lock| lock.address).map_or(OTHERS, |address| sums.key(address));
    for (place, (rest, index)) in rests.into_iter().enumerate() {
        let wait = if place < waiters {
            waits[index].entry(key).or_default()
        } else {
            unrecorded[index].entry(SPINS).or_default()
        };
        wait.spun.0 += rest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sums::NAMED;

    const LENGTH: Nanos = Nanos(1_000);

    fn recent(address: u64, family: Family, acquired: u64, waited: u64) -> Recent {
        Recent { address: Some(address), family, acquired, waited: Nanos(waited), waiters: 0 }
    }

    fn waiter(ran: u64, spun: u64, slept: &[(u64, u64, bool)]) -> Waiter {
        let slept = slept.iter().map(|(word, time, mutex)| (*word, (Nanos(*time), *mutex)));
        let user = Some(Nanos(ran));
        let slept = slept.collect();
        let (ran, ready, spun) = (Nanos(ran), Nanos(0), Nanos(spun));
        Waiter { ran, ready, user, spun, slept, in_kernel: Waits::new() }
    }

    fn wait(spun: u64, slept: u64, acquired: u64) -> Wait {
        Wait { spun: Nanos(spun), slept: Nanos(slept), acquired }
    }

    #[test]
    fn sleep_on_a_word_at_a_spin_locks_address_leaves_its_acquisitions() {
        let threads = [waiter(1, 0, &[(0x40, 5, true)])];
        let locks = [recent(0x40, Family::Spin, 1, 1)];
        let waits = combine(&locks, &threads, LENGTH).of_threads;
        assert_eq!((waits[0][&0x40].acquired, waits[0][&0x40].slept), (1, Nanos(5)));
    }

    #[test]
    fn what_was_recorded_beyond_what_was_seen_goes_to_those_with_time_for_it() {
        let threads =
            [waiter(400, 0, &[(0x40, 100, true)]), waiter(600, 0, &[]), waiter(0, 0, &[])];
        let locks = [recent(0x40, Family::Mutex, 10, 280)];
        let waits = combine(&locks, &threads, LENGTH).of_threads;
        // Of 180 more, 500 and 400 parts; who has not run has got nothing.
        assert_eq!(waits[0][&0x40], wait(0, 200, 4));
        assert_eq!(waits[1][&0x40], wait(0, 80, 6));
        assert!(waits[2].is_empty());
    }

    #[test]
    fn a_wait_under_way_counts_through_a_whole_window_if_its_word_is_a_recorded_lock() {
        let sleeps = [(0x48, 1_000, false), (0x200, 1_000, true)];
        let threads = [waiter(0, 0, &sleeps[..1]), waiter(0, 0, &sleeps[1..]), waiter(900, 0, &[])];
        let locks = [recent(0x40, Family::ReadWrite, 0, 0)];
        let waits = combine(&locks, &threads, LENGTH).of_threads;
        assert_eq!(waits[0], Waits::from([(0x40, wait(0, 1_000, 0))]));
        assert!(waits[1].is_empty() && waits[2].is_empty(), "it is idle, as ever");
    }

    #[test]
    fn a_thread_waits_in_the_kernel_for_no_longer_than_it_has_time() {
        let mut thread = waiter(400, 0, &[(0x40, 200, true)]);
        thread.user = Some(Nanos(300));
        let waits = [(1 << 63, wait(150, 300, 0)), (3 << 62, wait(0, 0, 0))];
        thread.wait_in_kernel(Waits::from(waits), LENGTH);
        assert_eq!(thread.in_kernel[&(1 << 63)], wait(100, 300, 0), "100 of it ran in the kernel");
        assert_eq!(thread.user_and_spinning(), Some(Nanos(400)));
        thread.wait_in_kernel(Waits::from([(1 << 63, wait(20, 900, 0))]), LENGTH);
        assert_eq!(thread.in_kernel[&(1 << 63)], wait(20, 400, 0), "200 it slept in the futex");
        assert_eq!(thread.user_and_spinning(), Some(Nanos(320)));
        thread.ready = Nanos(150);
        thread.wait_in_kernel(Waits::from([(1 << 63, wait(20, 900, 0))]), LENGTH);
        assert_eq!(thread.in_kernel[&(1 << 63)].slept, Nanos(250), "150 it had no core");
    }

    #[test]
    fn waits_in_the_kernel_count_beside_those_that_are_recorded_and_leave_these_less_time() {
        const KERNELS: u64 = u64::MAX << 40;
        let mut thread = waiter(400, 0, &[]);
        thread.in_kernel = Waits::from([(KERNELS, wait(50, 500, 0))]);
        assert_eq!(seen(&thread), thread.in_kernel);
        let locks = [recent(0x40, Family::Mutex, 3, 300)];
        let combined = combine(&locks, &[thread], LENGTH);
        let expected = [(0x40, wait(0, 100, 3)), (KERNELS, wait(50, 500, 0))];
        assert_eq!(combined.of_threads[0], Waits::from(expected), "of 1000, 400 on a core");
        assert_eq!((combined.times.recorded, combined.times.elsewhere), (Nanos(100), Nanos(550)));
    }

    #[test]
    fn samples_of_spinning_for_a_recorded_lock_are_not_counted_twice() {
        let threads = [waiter(800, 300, &[]), waiter(800, 0, &[])];
        let locks = [recent(0x40, Family::Spin, 8, 200)];
        let combined = combine(&locks, &threads, LENGTH);
        let expected = [(SPINS, wait(100, 0, 0)), (0x40, wait(200, 0, 4))];
        assert_eq!(combined.of_threads[0], Waits::from(expected));
        assert_eq!(combined.of_threads[1], Waits::from([(0x40, wait(0, 0, 4))]));
        let times = Times { ran: Nanos(1_600), recorded: Nanos(200), elsewhere: Nanos(100) };
        assert_eq!(combined.times, times);
    }

    #[test]
    fn spinning_under_way_is_for_the_recorded_lock_that_somebody_waits_for() {
        let threads = [waiter(800, 300, &[]), waiter(800, 500, &[]), waiter(800, 100, &[])];
        let two = Recent { waiters: 2, ..recent(0x40, Family::Spin, 8, 0) };
        let waits = combine(&[two], &threads, LENGTH).of_threads;
        let spun = |lock: u64| -> Vec<u64> {
            waits.iter().map(|waits| waits.get(&lock).map_or(0, |wait| wait.spun.0)).collect()
        };
        assert_eq!((spun(0x40), spun(SPINS)), (vec![300, 500, 0], vec![0, 0, 100]));
    }

    #[test]
    fn who_waits_for_a_core_as_well_does_not_spin_meanwhile() {
        let threads = [waiter(800, 300, &[]), waiter(800, 100, &[]), waiter(200, 0, &[])];
        // For as long as they waited for the lock, of which they ran a part only.
        let locks = [recent(0x40, Family::Spin, 8, 2_700), recent(0x80, Family::Spin, 8, 300)];
        let waits = |sampled| {
            let user = |thread: &Waiter| thread.user.filter(|_| sampled);
            let threads = threads.clone().map(|thread| Waiter { user: user(&thread), ..thread });
            combine(&locks, &threads, LENGTH).of_threads
        };
        let of_threads = |waits: &[Waits]| -> Vec<u64> {
            waits.iter().map(|waits| waits.values().map(|wait| wait.spun.0).sum()).collect()
        };
        let of_lock = |waits: &[Waits], lock| -> u64 {
            waits.iter().filter_map(|waits| waits.get(&lock)).map(|wait| wait.spun.0).sum()
        };
        for (sampled, expected) in [(true, [300, 100, 0]), (false, [800, 800, 200])] {
            let waits = waits(sampled);
            assert_eq!(of_threads(&waits), expected);
            assert_eq!(of_lock(&waits, 0x40), 9 * of_lock(&waits, 0x80));
        }
    }

    #[test]
    fn locks_without_an_entry_of_their_own_are_counted_together() {
        let lock = |number| recent(0x100 * number, Family::Mutex, number, number);
        let locks: Vec<Recent> = (1..=20).map(lock).collect();
        let waits = combine(&locks, &[waiter(100, 0, &[])], LENGTH).of_threads;
        assert_eq!(waits[0].len(), NAMED + 1);
        assert_eq!(waits[0][&OTHERS], wait(0, 78, 78));
        assert_eq!(waits[0][&0x1400], wait(0, 20, 20));
    }

    fn any_lock() -> impl Strategy<Value = Recent> {
        let family = prop_oneof![Just(Family::Mutex), Just(Family::ReadWrite), Just(Family::Spin)];
        let address = prop::option::of(2_u64..5_000);
        (address, family, 0..u64::MAX / 64, 0..u64::MAX / 64, 0_u32..5).prop_map(
            |(address, family, acquired, waited, waiters)| Recent {
                address,
                family,
                acquired,
                waited: Nanos(waited),
                waiters,
            },
        )
    }

    fn any_thread() -> impl Strategy<Value = Waiter> {
        let slept = prop::collection::btree_map(2_u64..5_000, (0_u64..=1_000, any::<bool>()), 0..2);
        let in_kernel = prop::option::of((0_u64..=1_000, 0_u64..=1_000));
        (0_u64..=1_000, 0_u64..=1_000, any::<bool>(), 0_u64..=1_000, slept, in_kernel).prop_map(
            |(ran, ready, sampled, spun, slept, in_kernel)| {
                let asleep = |(word, (time, mutex)): (u64, (u64, bool))| {
                    (word, (Nanos(time.min(1_000 - ran)), mutex))
                };
                let mut waiter = Waiter {
                    ran: Nanos(ran),
                    ready: Nanos(ready),
                    user: sampled.then_some(Nanos(ran)),
                    spun: Nanos(if in_kernel.is_none() { spun } else { 0 }),
                    slept: slept.into_iter().map(asleep).collect(),
                    in_kernel: Waits::new(),
                };
                let waits = in_kernel.map(|(spun, slept)| (1 << 63, wait(spun, slept, 0)));
                waiter.wait_in_kernel(waits.into_iter().collect(), LENGTH);
                waiter
            },
        )
    }

    proptest! {
        /// Whatever a recording says, since it may be damaged or have missed windows.
        #[test]
        fn nobody_waits_longer_than_the_window_and_no_acquisition_is_lost(
            locks in prop::collection::vec(any_lock(), 0..20),
            threads in prop::collection::vec(any_thread(), 1..6),
        ) {
            let waits = combine(&locks, &threads, LENGTH).of_threads;
            for (waits, thread) in waits.iter().zip(&threads) {
                let slept: u64 = waits.values().map(|wait| wait.slept.0).sum();
                let spun: u64 = waits.values().map(|wait| wait.spun.0).sum();
                prop_assert!(slept <= 1_000 - thread.ran.0);
                prop_assert!(spun <= thread.ran.0.max(thread.spun.0));
            }
            let all: u64 = waits.iter().flat_map(Waits::values).map(|wait| wait.acquired).sum();
            prop_assert_eq!(all, locks.iter().map(|lock| lock.acquired).sum::<u64>());
        }
    }
}
