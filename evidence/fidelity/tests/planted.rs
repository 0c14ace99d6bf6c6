//! C programs whose parameters their arguments say: built, and measured where others disturb least.

use std::path::{Path, PathBuf};
use std::process::Command;

use kilocore_lock_profile::Profile;
use kilocore_machine::Description;

/// How many times each program is measured. Disturbances only ever lengthen it, so that the
/// shortest is taken.
const TRIES: usize = 3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it is built here")
}

/// Runs a command and gives its standard output.
#[track_caller]
pub(crate) fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {message}");
    String::from_utf8(output.stdout).expect("it prints text")
}

/// A command that runs before all others on this machine, if that is allowed.
pub(crate) fn first(program: &Path) -> Command {
    before_others("-f", program)
}

/// The same, with a policy of `chrt`.
pub(crate) fn before_others(policy: &str, program: &Path) -> Command {
    let urgent = |program: &Path| {
        let mut command = Command::new("chrt");
        command.args([policy, "10"]).arg(program);
        command
    };
    let allowed = urgent(Path::new("true")).output().is_ok_and(|output| output.status.success());
    if allowed { urgent(program) } else { Command::new(program) }
}

/// The program that ships.
fn kilocore() -> PathBuf {
    let kilocore = root().join("target/release/kilocore");
    assert!(kilocore.exists(), "{} is missing: run `make` first", kilocore.display());
    kilocore
}

/// This host as a machine, measured anew, in a file in this folder.
pub(crate) fn this_host(folder: &Path) -> Description {
    let file = folder.join("host.toml");
    output(first(&kilocore()).args(["record", "machine", "--output"]).arg(&file));
    kilocore_machine::read(&file).expect("kilocore wrote it")
}

/// Where a program is built and measured.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    turns: String,
}

impl Bench {
    /// Builds the program of this source, a path from the folder of the tests.
    pub(crate) fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
        let program = folder.path().join("program");
        output(
            Command::new("gcc")
                .args(["-O2", "-pthread", "-o"])
                .arg(&program)
                .arg(source)
                .arg("-lm"),
        );
        let turns = output(first(&program).arg("calibrate")).trim().to_owned();
        Self { folder, turns }
    }

    /// Where the program is.
    pub(crate) fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// All of the program's arguments: before those that say what it is to do, the one that says how fast
    /// this host computes.
    pub(crate) fn arguments(&self, of: &[String]) -> Vec<String> {
        [std::slice::from_ref(&self.turns), of].concat()
    }

    /// The profile of the least disturbed of some runs, each begun as `how` says.
    pub(crate) fn measure(&self, how: fn(&Path) -> Command, arguments: &[String]) -> Profile {
        let file = self.folder.path().join("profile.json");
        let profiles = (0..TRIES).map(|_| {
            let mut command = how(&kilocore());
            command.args(["record", "locks", "--twice", "--output"]).arg(&file).arg("--");
            output(command.arg(self.program()).args(self.arguments(arguments)));
            Profile::read(&file).expect("kilocore wrote it")
        });
        let wall = |profile: &Profile| profile.runs.iter().map(|run| run.wall_time.0).sum::<f64>();
        profiles.min_by(|a, b| wall(a).total_cmp(&wall(b))).expect("there was a try")
    }
}
