//! A twin of the algorithm in which one step can be left out. The programs must find out, or they prove nothing.
//! What can be planted into the shipped source is in `planted.rs`.

use std::marker::PhantomData;

use kilocore_checking::{Altered, Sound, Threads, explore, verdict};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell, Shuttle, Wait};

use crate::common::{Deed, Go, Pair, Read, ReadTwice, Subject, Update, program};

/// A step that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// No step goes wrong.
    Nothing,
    /// A reader does not say which side it reads.
    NoAnnouncement,
    /// A reader does not verify its guess.
    NoSecondLook,
    /// A writer does not wait for the readers of one core.
    SkipsASeat,
    /// A writer does not wait for readers that share a seat.
    ForgetsTheCrowd,
    /// A writer does not hide the first side.
    DoesNotHide,
    /// A writer does not wait for readers of the second side.
    WaitsOnce,
    /// A writer shows both sides as soon as one of them is changed.
    ShowsBothTooSoon,
    /// A writer leaves out a copy.
    SkipsACopy,
    /// Writers do not take turns.
    NoTurns,
}

/// What a twin's mistake is. A type, so that subjects can be made without being told.
trait Mistaken: Send + Sync + 'static {
    const MISTAKE: Mistake;
}

struct Seat<P: Platform> {
    lone: P::U32,
    crowd: [P::U32; 2],
    home: usize,
}

/// Copies for two nodes. Sides are numbered 0 and 1.
struct Twin<P: Platform, M> {
    shown: P::U32,
    turn: P::U32,
    seats: Vec<Seat<P>>,
    copies: [P::Cell<Pair<P>>; 2],
    mistake: PhantomData<M>,
}

impl<P: Platform, M: Mistaken> Twin<P, M> {
    fn enter(&self, seat: &Seat<P>) -> (usize, bool) {
        let has = |shown: u32, side: usize| shown & (1 << side) != 0;
        let nearest = |shown: u32| if has(shown, seat.home) { seat.home } else { 1 - seat.home };
        let look = || self.shown.load(Ordering::SeqCst);
        let guess = nearest(look());
        if M::MISTAKE == Mistake::NoAnnouncement {
            return (guess, true);
        }
        let mask = 1 << guess;
        let alone = seat.lone.compare_exchange(0, mask, Ordering::SeqCst, Ordering::SeqCst);
        let counted = alone.is_err();
        if counted {
            seat.crowd[guess].fetch_add(1, Ordering::SeqCst);
        }
        if M::MISTAKE == Mistake::NoSecondLook || has(look(), guess) {
            return (guess, counted);
        }
        if counted {
            seat.crowd[1 - guess].fetch_add(1, Ordering::SeqCst);
            let side = nearest(look());
            seat.crowd[1 - side].fetch_sub(1, Ordering::SeqCst);
            return (side, counted);
        }
        seat.lone.swap(3, Ordering::SeqCst);
        let side = nearest(look());
        seat.lone.store(1 << side, Ordering::SeqCst);
        (side, counted)
    }

    fn leave(seat: &Seat<P>, side: usize, counted: bool) {
        match counted {
            _ if M::MISTAKE == Mistake::NoAnnouncement => {}
            true => _ = seat.crowd[side].fetch_sub(1, Ordering::SeqCst),
            false => seat.lone.store(0, Ordering::SeqCst),
        }
    }

    fn wait_for_readers_of(&self, side: usize) {
        let skipped = usize::from(M::MISTAKE == Mistake::SkipsASeat);
        for seat in &self.seats[skipped..] {
            P::wait_until(&seat.lone, Wait::Spin, |lone| lone & (1 << side) == 0);
            if M::MISTAKE != Mistake::ForgetsTheCrowd {
                P::wait_until(&seat.crowd[side], Wait::Spin, |crowd| crowd == 0);
            }
        }
    }

    fn change(&self, side: usize, change: &impl Fn(&mut Pair<P>) -> u32) -> u32 {
        if M::MISTAKE == Mistake::SkipsACopy && side == 0 {
            return 0;
        }
        // SAFETY: the checker reports if somebody has it.
        self.copies[side].with_mut(|pair| change(unsafe { &mut *pair }))
    }

    fn write(&self, change: impl Fn(&mut Pair<P>) -> u32) -> u32 {
        let take = || self.turn.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        while M::MISTAKE != Mistake::NoTurns && !take() {
            P::wait_until(&self.turn, Wait::Spin, |turn| turn == 0);
        }
        if M::MISTAKE != Mistake::DoesNotHide {
            self.shown.store(1, Ordering::SeqCst);
        }
        self.wait_for_readers_of(1);
        let made = self.change(1, &change);
        let shown = if M::MISTAKE == Mistake::ShowsBothTooSoon { 3 } else { 2 };
        self.shown.store(shown, Ordering::SeqCst);
        if M::MISTAKE != Mistake::WaitsOnce {
            self.wait_for_readers_of(0);
        }
        self.change(0, &change);
        self.shown.store(3, Ordering::SeqCst);
        self.turn.store(0, Ordering::SeqCst);
        made
    }
}

impl<P: Platform, M: Mistaken> Subject<P> for Twin<P, M> {
    fn new(nodes: &[u32]) -> Self {
        let seat = |node: &u32| Seat {
            lone: P::U32::new(0),
            crowd: [P::U32::new(0), P::U32::new(0)],
            home: *node as usize,
        };
        Self {
            shown: P::U32::new(3),
            turn: P::U32::new(0),
            seats: nodes.iter().map(seat).collect(),
            copies: [P::Cell::new(Pair::new(0)), P::Cell::new(Pair::new(0))],
            mistake: PhantomData,
        }
    }
    fn read<R>(&self, look: impl FnOnce(&Pair<P>) -> R) -> R {
        let seat = &self.seats[P::cpu().0 as usize];
        let (side, counted) = self.enter(seat);
        // SAFETY: the checker reports if somebody changes it.
        let seen = self.copies[side].with(|pair| look(unsafe { &*pair }));
        Self::leave(seat, side, counted);
        seen
    }
    fn update(&self) -> u32 {
        self.write(Pair::add)
    }
    fn store(&self, number: u32) {
        self.write(|pair| {
            *pair = Pair::new(number);
            number
        });
    }
}

type Machine = Altered<Shuttle, Sound>;

const NODES: &[u32] = &[0, 1];
const THREADS: &[&[Deed]] = &[
    &[Update, Update, Read],
    &[Read, ReadTwice, Read],
    &[Read, Go(0), Read, Go(1), Read],
    &[Go(0), Update, ReadTwice],
];

fn found<M: Mistaken>() -> Result<(), String> {
    verdict(|| {
        explore(|| program::<Machine, Twin<Machine, M>>(NODES, Shuttle::place, THREADS), 2_000, 3);
    })
}

macro_rules! mistakes {
    ($($name:ident: $mistake:ident => $how:expr;)*) => { $(
        #[test]
        fn $name() {
            struct Made;
            impl Mistaken for Made {
                const MISTAKE: Mistake = Mistake::$mistake;
            }
            let how: &[&str] = &$how;
            match found::<Made>() {
                Ok(()) => assert!(how.is_empty(), "nothing wrong is found"),
                Err(message) => {
                    assert!(how.iter().any(|how| message.contains(how)), "found by: {message}");
                }
            }
        }
    )* };
}

const RACE: &str = "race: data";
const OLD: &str = "saw an old value";
const LOST: &str = "a change is lost";

mistakes! {
    the_twin_itself_is_right: Nothing => [];
    readers_announce_themselves: NoAnnouncement => [RACE];
    readers_verify_their_guess: NoSecondLook => [RACE, OLD];
    writers_look_at_all_seats: SkipsASeat => [RACE];
    writers_wait_for_readers_that_share_a_seat: ForgetsTheCrowd => [RACE];
    writers_hide_what_they_change: DoesNotHide => [RACE];
    writers_wait_on_both_sides: WaitsOnce => [RACE];
    all_nodes_change_at_once: ShowsBothTooSoon => [RACE, OLD];
    writers_change_all_copies: SkipsACopy => [OLD, LOST];
    writers_take_turns: NoTurns => [RACE, OLD, LOST];
}

/// Threads are what makes it fail: the same mistakes are harmless without.
#[test]
fn alone_a_mistake_does_no_harm() {
    struct Made;
    impl Mistaken for Made {
        const MISTAKE: Mistake = Mistake::NoAnnouncement;
    }
    fn alone<P: Threads>(place: fn(kilocore_platform::CpuId, kilocore_platform::NodeId)) {
        program::<P, Twin<P, Made>>(NODES, place, &[&[Update, ReadTwice, Go(1), Read]]);
    }
    explore(|| alone::<Machine>(Shuttle::place), 1, 1);
}
