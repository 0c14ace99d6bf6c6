//! Why a run takes so long: which code, and which lines.

use kilocore_emulation_orders::{Sharing, UseKind};

use crate::support::{on, program};

#[test]
fn planted_false_sharing_is_named_with_its_variable_and_its_function() {
    let (point, _) = on(8, &program("sharing", &[]), &["8", "3000", "8"]);
    let line = point.causes.lines.first().expect("lines moved");
    assert_eq!(line.sharing, Some(Sharing::False), "{line:?}");
    assert!(line.data.starts_with("words in sharing"), "{line:?}");
    let first = line.by.first().expect("somebody needed it");
    assert_eq!((first.function.as_str(), first.access), ("run", UseKind::Store), "{line:?}");
    assert!(first.data.starts_with("words"), "{line:?}");
    let slowest = point.causes.functions.first().expect("code was executed");
    assert!(slowest.function == "run" && slowest.waited_ns > slowest.computed_ns, "{slowest:?}");
    // On lines of their own, they do not move.
    let (apart, _) = on(8, &program("sharing", &[]), &["8", "3000", "64"]);
    let moved = apart.causes.lines.iter().find(|line| line.data.starts_with("words"));
    assert!(moved.is_none_or(|moved| moved.moves < 50), "{moved:?}");
}

/// Each of two threads writes a word that the other one reads. The line comes for a thread's own word, or for the
/// other's, and then has both.
#[test]
fn words_of_a_queue_are_shared_although_each_has_one_writer() {
    let (point, _) = on(2, &program("queue", &[]), &[]);
    let line = &point.causes.lines[0];
    assert!(line.data.starts_with("queue in queue"), "{line:?}");
    assert_eq!(line.sharing, Some(Sharing::True), "{line:?}");
}

#[test]
fn planted_true_sharing_is_named_with_its_variable_and_its_function() {
    for (kind, variable) in [("atomic", "sum"), ("spin", "spin")] {
        let (point, _) = on(8, &program("work", &[]), &["8", "2000", "50", "50", kind]);
        let line = point.causes.lines.first().expect("lines moved");
        assert_eq!(line.sharing, Some(Sharing::True), "{kind}: {line:?}");
        assert_eq!(line.data, format!("{variable} in work"), "{kind}: {line:?}");
        assert!(
            line.by
                .iter()
                .any(|by| by.function.contains("run") || by.function.contains("spin_lock"))
        );
    }
}

#[test]
fn a_line_is_headed_by_the_variable_for_which_it_moves_most() {
    let (point, _) = on(8, &program("heads", &[]), &["8", "4000"]);
    let line = point.causes.lines.first().expect("lines moved");
    assert_eq!(line.data, "busy in heads", "{line:?}");
}
