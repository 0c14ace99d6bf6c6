use super::*;
use kilocore_platform::Native;

type Own = Seat<Native>;

fn enter(seat: &Own, guess: Side, shown: Sides) -> Presence {
    seat.enter(guess, Side::Even, || shown)
}

#[test]
fn a_seat_is_empty_when_all_have_left() {
    let seat = Own::new();
    let both = Sides::BOTH;
    let [odd, even] = [Side::Odd, Side::Even].map(Sides::only);
    let all = [
        enter(&seat, Side::Even, both),
        enter(&seat, Side::Odd, both),
        enter(&seat, Side::Odd, even),
        enter(&seat, Side::Even, odd),
    ];
    assert_eq!(all.map(|presence| presence.counted), [false, true, true, true]);
    assert_eq!(all.map(|p| p.side.index()), [0, 1, 0, 1]);
    let mut left = 4;
    for presence in all {
        // SAFETY: entered above.
        unsafe { seat.leave(presence) };
        left -= 1;
        assert_eq!(count(seat.crowd.load(Ordering::Relaxed), Side::Odd), [0, 1, 1, 2][left]);
    }
    for side in [Side::Even, Side::Odd] {
        seat.wait_for_readers_of(side);
    }
    // A guess that is wrong, alone.
    let presence = enter(&seat, Side::Odd, even);
    assert!(presence.side == Side::Even && !presence.counted);
    seat.wait_for_readers_of(Side::Odd);
    // SAFETY: entered above.
    unsafe { seat.leave(presence) };
    seat.wait_for_readers_of(Side::Even);
}

/// Counts of both sides are in one word, and must not run over.
#[test]
fn a_seat_has_an_end() {
    for side in [Side::Even, Side::Odd] {
        let full = u64::from(MOST) * one(side);
        let seat = Own { lone: 1.into(), crowd: full.into() };
        let entered = std::panic::AssertUnwindSafe(|| enter(&seat, side, Sides::BOTH));
        std::panic::catch_unwind(entered).expect_err("it is full");
        assert_eq!(seat.crowd.load(Ordering::Relaxed), full);
        let other = enter(&seat, side.other(), Sides::BOTH);
        assert!(other.counted && other.side == side.other());
    }
}
