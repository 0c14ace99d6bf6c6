//! Tests of the pitfalls of the paper's algorithm. The *twin* is an implementation of that
//! algorithm, into which an error can be put. For each pitfall, a small program catches the twin
//! with the error, for the expected reason. The twin without the error passes the same program, and
//! so does the shipped log. Each test says how the shipped log avoids the pitfall.

use crate::common;

use common::paper::{Pitfall, Sane};
use common::paper_root::Paper;
use common::programs::{self, SetCore, Step};
use common::subject::Cores;
use common::{ABSENT, Census, MISSED, TORN};
use kilocore_checking::{Altered, Sound, Thorough, Threads, explore, model, part_of, verdict};
use kilocore_ldu::{Global, Ldu, PerCore};
use kilocore_locks::{NoSharing, Ttas};
use kilocore_platform::{CpuId, Loom, NodeId, Platform, Shuttle};

use Step::{Insert, Look, Remove};

/// What the quarantine says.
const TOUCHED: &str = "an object is touched after it was given back";
/// What loom says if the memory of a word is freed while another thread loads the word. loom finds
/// this before the quarantine does.
const FREED_BESIDE_A_LOAD: &str = "Causality violation: Concurrent load and mut accesses";
/// What loom and shuttle's cell say about unordered accesses to data.
const RACES: [&str; 2] = ["Causality violation: Concurrent read and write", "race: data is"];

/// The number of schedules of each kind under shuttle, for programs that must pass.
const SCHEDULES: usize = 2_000;
/// The largest number of schedules for programs that must fail. The first failure ends the search.
const SEARCHED: usize = 20_000;
/// The number of preemptions that PCT places.
const DEPTH: usize = 3;

/// The number of preemptions in loom's executions of the shipped logs, which have more steps. See
/// also `loom.rs`.
const SHIPPED: usize = 3;

type Small = Altered<Loom, Thorough>;
type Large = Altered<Shuttle, Sound>;

type AtTheRoot<P> = Ldu<P, Census, Global<P>, NoSharing<P, Ttas<P>>>;
type OnCores<P> = Ldu<P, Census, PerCore<P>, NoSharing<P, Ttas<P>>>;

/// A program that catches a pitfall.
trait Program: Copy + Send + Sync + 'static {
    /// The number of cores with slots, or 0 for the global list.
    const CORES: u32;
    /// The number of preemptions in loom's executions, or `None` if it is not bounded.
    const PREEMPTIONS: Option<usize>;

    fn run<P: Threads, S: Cores<P>>(self);

    fn small<S: Cores<Small>>(self, preemptions: Option<usize>) -> Result<(), String> {
        verdict(|| model(preemptions, move || self.run::<Small, S>()))
    }

    fn large<S: Cores<Large>>(self, schedules: usize) -> Result<(), String> {
        verdict(|| explore(move || self.run::<Large, S>(), schedules, DEPTH))
    }

    /// Checks that the twin without an error passes, and that the shipped log passes.
    fn assert_sound(self) {
        let shipped = Some(SHIPPED.min(Self::PREEMPTIONS.unwrap_or(SHIPPED)));
        assert_eq!(self.small::<Paper<Small, Sane>>(Self::PREEMPTIONS), Ok(()), "loom, the twin");
        assert_eq!(
            self.large::<Paper<Large, Sane>>(part_of(SCHEDULES)),
            Ok(()),
            "shuttle, the twin"
        );
        if Self::CORES == 0 {
            assert_eq!(self.small::<AtTheRoot<Small>>(shipped), Ok(()), "loom, the shipped log");
            assert_eq!(
                self.large::<AtTheRoot<Large>>(part_of(SCHEDULES)),
                Ok(()),
                "shuttle, the shipped log"
            );
        } else {
            assert_eq!(self.small::<OnCores<Small>>(shipped), Ok(()), "loom, the shipped log");
            assert_eq!(
                self.large::<OnCores<Large>>(part_of(SCHEDULES)),
                Ok(()),
                "shuttle, the shipped log"
            );
        }
    }

    /// Checks that both checkers catch the twin with an error.
    fn assert_catches<E: Pitfall>(self, how: &[&str]) {
        assert_caught(self.small::<Paper<Small, E>>(Self::PREEMPTIONS), how);
        assert_caught(self.large::<Paper<Large, E>>(SEARCHED), how);
    }
}

fn assert_caught(verdict: Result<(), String>, how: &[&str]) {
    let message = verdict.expect_err("nothing is found wrong with the twin");
    assert!(how.iter().any(|how| message.contains(how)), "caught for another reason: {message}");
}

/// Makes a test with its pitfall and its program.
macro_rules! pitfall {
    (
        $(#[doc = $doc:literal])*
        $test:ident: $flag:ident, $how:expr;
        $cores:literal, $preemptions:expr, |$domain:ident| $run:expr
    ) => {
        $(#[doc = $doc])*
        #[test]
        fn $test() {
            struct Error;
            impl Pitfall for Error {
                const $flag: bool = true;
            }

            #[derive(Clone, Copy)]
            struct Caught;
            impl Program for Caught {
                const CORES: u32 = $cores;
                const PREEMPTIONS: Option<usize> = $preemptions;
                fn run<P: Threads, S: Cores<P>>(self) {
                    let $domain = S::domain($cores);
                    $run
                }
            }

            Caught.assert_catches::<Error>(&$how);
            Caught.assert_sound();
        }
    };
}

fn anywhere(_: u32) {}

pitfall! {
    /// Pitfall 1: the look at the mark is not repeated after `used` is cleared.
    ///
    /// Shipped: one word contains what is pending and whether the node is queued. The
    /// compare-and-swap that takes the node out fails if an update has become pending.
    no_second_look: NO_SECOND_LOOK, [MISSED];
    0, Some(4), |domain| programs::kept::<P, S>(domain, &[Insert, Remove, Insert, Look])
}

pitfall! {
    /// Pitfall 2: the link to the next node is read after `used` is cleared.
    ///
    /// Shipped: only the order of two lines avoids this. The programs here and in `loom.rs` check
    /// it.
    next_read_late: NEXT_READ_LATE, [MISSED];
    0, Some(4), |domain| programs::behind_a_garbage_log::<P, S>(domain)
}

pitfall! {
    /// Pitfall 3: an object is freed when `used` is clear, and the thread that has cleared `used`
    /// looks at the object again.
    ///
    /// Shipped: the compare-and-swap that clears the word is the last access. If the owner gives
    /// the object up before that, the thread that applies the node frees the object.
    freed_when_unused: FREES_UNUSED, [TOUCHED];
    0, None, |domain| {
        programs::updates_and_reads::<P, S>(domain, &[&[Insert, Remove]], 1, anywhere, false);
    }
}

pitfall! {
    /// Pitfall 4: a mark is claimed without the lock, and its update is made later. The opposite
    /// update is then made first.
    ///
    /// Shipped: there is nothing to claim. An update is pending while the word says so. Only the
    /// lock's holder clears that, after it has made the update.
    claimed_outside: CLAIMS_OUTSIDE, [ABSENT];
    0, Some(4), |domain| programs::kept::<P, S>(domain, &[Insert, Remove, Look])
}

pitfall! {
    /// Pitfall 5: a slot's nodes are taken out for another root before their own root's lock is
    /// held.
    ///
    /// Shipped: they are moved to their root's own list under the slot's lock. Every reader visits
    /// that list after the slots. So it finds the nodes in one or the other.
    detached_outside: DETACHES_OUTSIDE, [MISSED];
    1, Some(2), |domain| {
        programs::kept_in_two::<P, S>(domain, [&[Insert, Look], &[Insert]], anywhere);
    }
}

pitfall! {
    /// Pitfall 6: the root is read from the first node of a slot, which is freed meanwhile.
    ///
    /// Shipped: the slot itself names the root, and is only read under the slot's lock.
    peeked: PEEKS, [TOUCHED, FREED_BESIDE_A_LOAD];
    1, Some(2), |domain| programs::two_roots::<P, S>(domain, anywhere, false)
}

pitfall! {
    /// Pitfall 8: an object changes its root while its nodes are queued for the old one.
    ///
    /// Shipped: `insert` refuses an object that is not settled.
    moved_undrained: MOVES_UNDRAINED, [MISSED];
    0, None, |domain| programs::moved::<P, S>(domain)
}

pitfall! {
    /// Pitfall 8: arguments are written after the mark, as in figure 2.3. A thread that looks at
    /// the mark for the second time then claims an update without its arguments.
    ///
    /// Shipped: the arguments are part of the object. Nobody changes them while the object is
    /// attached or not settled, because `get_mut` then returns `None`.
    arguments_late: ARGUMENTS_LATE, RACES;
    0, Some(4), |domain| programs::kept::<P, S>(domain, &[Insert, Remove, Insert, Look])
}

pitfall! {
    /// Pitfall 9: a root ends while a slot contains its nodes, and the thread that takes the slot
    /// over needs the root's lock.
    ///
    /// Shipped: a root that is dropped applies its log, and so visits its slots under their locks.
    /// A thread that moves nodes out of a slot holds the slot's lock.
    ended_undrained: ENDS_UNDRAINED, [TOUCHED];
    1, Some(1), |domain| programs::outlived::<P, S>(domain)
}

/// A slot without a lock, and a thread that changes its core between choosing a slot and using it.
struct MigratesUnlocked;
impl Pitfall for MigratesUnlocked {
    const NO_SLOT_LOCK: bool = true;
    fn migrate() {
        to_the_other_core();
    }
}

/// The same without the slot's lock, as in the kernel, where no thread migrates there.
struct StaysUnlocked;
impl Pitfall for StaysUnlocked {
    const NO_SLOT_LOCK: bool = true;
}

/// The same with the lock.
struct MigratesLocked;
impl Pitfall for MigratesLocked {
    fn migrate() {
        to_the_other_core();
    }
}

fn to_the_other_core() {
    Shuttle::place(CpuId(1 - Shuttle::cpu().0), NodeId(0));
}

/// Pitfall 7: a thread migrates between choosing a slot and using it, so that two threads use one
/// slot. With the slot's lock, this is correct. Without the lock, it is only correct if each thread
/// stays on its core.
///
/// Shipped: a thread that uses a slot holds its lock.
#[test]
fn migrated_between_choosing_a_slot_and_using_it() {
    fn run<S: Cores<Large>>(place: SetCore) {
        const STEPS: &[Step] = &[Insert, Look, Remove, Look, Insert, Look];
        programs::kept_in_two::<Large, S>(S::domain(2), [STEPS; 2], place);
    }
    fn check<S: Cores<Large>>() -> Result<(), String> {
        verdict(|| explore(|| run::<S>(apart), SCHEDULES, DEPTH))
    }
    fn apart(thread: u32) {
        Shuttle::place(CpuId(thread), NodeId(0));
    }

    assert_caught(check::<Paper<Large, MigratesUnlocked>>(), &[MISSED]);
    assert_eq!(check::<Paper<Large, StaysUnlocked>>(), Ok(()));
    assert_eq!(check::<Paper<Large, MigratesLocked>>(), Ok(()));
    assert_eq!(check::<OnCores<Large>>(), Ok(()));
    explore(|| run::<OnCores<Large>>(anywhere), SCHEDULES, DEPTH);
}

/// The paper's reads have another problem. A reader applies one node after the other while updates
/// go on. It may miss an update of a node that it has passed, and see a later update of another
/// node.
///
/// Shipped: a synchronization leaves out updates that were made after it began.
#[test]
fn a_paper_read_can_miss_an_update_and_see_a_later_one() {
    fn run<P: Threads, S: Cores<P>>() {
        programs::one_within_the_other::<P, S>(S::domain(0), anywhere);
    }
    let small = |program: fn()| verdict(|| model(Some(3), program));
    let large = |program: fn()| verdict(|| explore(program, SCHEDULES, DEPTH));

    assert_caught(small(run::<Small, Paper<Small, Sane>>), &[TORN]);
    assert_caught(large(run::<Large, Paper<Large, Sane>>), &[TORN]);
    assert_eq!(small(run::<Small, AtTheRoot<Small>>), Ok(()));
    assert_eq!(large(run::<Large, AtTheRoot<Large>>), Ok(()));
}
