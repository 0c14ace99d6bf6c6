//! The commands of README.md and of the guide that only simulate, run as they are printed there. The
//! others are run by `readme.rs`.

use crate::commands::{assert_succeeded, computing_and_others, folder, run};

#[test]
fn every_command_of_the_guide_that_only_simulates_succeeds() {
    let (commands, _) = computing_and_others();
    assert!(commands.len() >= 6, "the guide simulates: {commands:?}");
    let folder = folder();
    for command in commands {
        assert_succeeded(&command, &run(&command, &folder));
    }
}
