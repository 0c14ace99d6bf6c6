//! Who called whom, by where calls store and returns load.

use kilocore_qemu_plugin::frames::Frames;

fn calls(frames: &Frames) -> Vec<u64> {
    frames.calls().collect()
}

#[test]
fn calls_are_there_until_they_return() {
    let mut frames = Frames::default();
    frames.call(1_000, 1);
    frames.call(900, 2);
    assert_eq!(calls(&frames), [2, 1]);
    frames.end(900);
    frames.call(950, 3);
    assert_eq!(calls(&frames), [3, 1]);
    frames.end(950);
    frames.end(1_000);
    assert_eq!(calls(&frames), []);
    // One that came before anybody looked.
    frames.end(1_100);
    assert_eq!(calls(&frames), []);
}

#[test]
fn what_a_jump_or_an_exception_leaves_is_forgotten_at_the_next_call_or_return() {
    let mut frames = Frames::default();
    for (place, code) in [(1_000, 1), (900, 2), (800, 3), (700, 4)] {
        frames.call(place, code);
    }
    // `longjmp` goes back into the function that the first call is of.
    frames.call(900, 5);
    assert_eq!(calls(&frames), [5, 1]);
    frames.call(800, 6);
    frames.call(700, 7);
    frames.end(1_000);
    assert_eq!(calls(&frames), []);
}

#[test]
fn calls_on_another_stack_have_those_of_the_first_behind_them() {
    let (mut frames, far) = (Frames::default(), 1_u64 << 40);
    frames.call(1_000, 1);
    frames.call(far, 2);
    frames.call(far - 100, 3);
    assert_eq!(calls(&frames), [3, 2, 1]);
    // Back on the first stack.
    frames.end(1_000);
    assert_eq!(calls(&frames), []);
}

#[test]
fn the_innermost_of_deep_calls_are_remembered() {
    let mut frames = Frames::default();
    for depth in 0..200 {
        frames.call(100_000 - depth * 16, depth);
    }
    assert!(frames.are_cut());
    let known = calls(&frames);
    assert_eq!((known.first(), known.len()), (Some(&199), 64));
    for depth in (10..200).rev() {
        frames.end(100_000 - depth * 16);
    }
    assert_eq!(calls(&frames), []);
    frames.call(100_000 - 10 * 16, 10);
    assert_eq!(calls(&frames), [10]);
}
