//! The commands of README.md and of the guide run as they are printed there, in their order, in one
//! folder. What pages refer to is there ([`links`]). The test is here because both programs are. The
//! commands that only simulate are those of `printed_simulations.rs`, which need not run each time.

#[path = "readme/commands.rs"]
mod commands;
#[path = "readme/links.rs"]
mod links;

use commands::{assert_succeeded, computing_and_others, folder, root, run};

#[test]
fn every_command_of_the_readme_and_the_guide_succeeds() {
    let (computing, commands) = computing_and_others();
    assert!(commands.len() + computing.len() >= 20, "they have commands: {commands:?}");
    let folder = folder();
    for command in commands {
        let mut output = run(&command, &folder);
        // Measuring a host that is too busy to be measured is refused, rightly.
        for _ in 0..4 {
            if output.status.success() || !command.contains("record machine") {
                break;
            }
            output = run(&command, &folder);
        }
        assert_succeeded(&command, &output);
    }
    for report in ["report.html", "kyoto.json", "kyoto.html", "copy.html", "this-host.toml"] {
        assert!(folder.path().join(report).metadata().is_ok_and(|file| file.len() > 1000));
    }
}
