//! `kilocore sweep`: the answers are those of its commands, whatever happens on the way.

mod cluster;
mod emulated;
mod figures;
mod slurm;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::file;
use crate::measured::{kilocore, run_while, wait_until};

/// A profile of a real program, as `kilocore record locks` wrote it.
const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/profiles/sqlite.json");
/// A fit takes its points in several rounds.
const MEASURED: &[u8] =
    b"lock,cores,throughput\npthread,1,2.9\npthread,4,2.1\nmcs,4,3.1\nticket,4,2.8\n";

/// A folder with a plan, a table of what was measured, and what is kept of all users' points.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(plan: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("plan.toml"), plan).expect("it can be written");
        fs::write(folder.path().join("measured.csv"), MEASURED).expect("it can be written");
        Self { folder }
    }

    /// Its path without links, as nothing is kept below a link.
    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("its path")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = kilocore();
        command.args(words).current_dir(self.path());
        command.env("XDG_CACHE_HOME", self.path().join("home")).env_remove("KILOCORE_NO_CACHE");
        command
    }

    fn sweep(&self, options: &[&str]) -> Output {
        run_while(self.command(&[&["sweep", "plan.toml"], options].concat()), |_| ())
    }

    /// What a command prints when it is run alone, with nothing kept.
    fn printed(&self, words: &[&str]) -> Vec<u8> {
        let mut command = self.command(words);
        command.env("KILOCORE_NO_CACHE", "1");
        let output = run_while(command, |_| ());
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    fn answer(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join("plan").join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// A sweep that goes well, and the document that it prints.
#[track_caller]
fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?} {said}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Two forecasts, and a fit.
fn plan() -> String {
    format!(
        r#"
        [[run]]
        command = "kilocore forecast {PROFILE} --machine {{machine}} --lock {{lock}} --cores 1,4"
        over.machine = ["core-i7-6700", "opteron-6344-4s"]
        over.lock = ["mcs"]
        [[run]]
        command = "kilocore forecast measured.csv --machine core-i7-6700 --lock cna --cores 1,4"
        "#
    )
}

const FORECAST: [&str; 8] =
    ["forecast", PROFILE, "--machine", "core-i7-6700", "--lock", "mcs", "--cores", "1,4"];
const FIT: [&str; 8] =
    ["forecast", "measured.csv", "--machine", "core-i7-6700", "--lock", "cna", "--cores", "1,4"];

#[test]
fn answers_are_those_of_the_commands_and_nothing_is_computed_twice() {
    let place = Place::new(&plan());
    let first = document(&place.sweep(&["--json"]));
    assert_eq!(text(&place.answer("core-i7-6700-mcs.txt")), text(&place.printed(&FORECAST)));
    assert_eq!(text(&place.answer("run-3.txt")), text(&place.printed(&FIT)));
    assert!(first["computed"].as_u64().is_some_and(|computed| computed > 20), "{first}");
    assert_eq!(first["runs"][1]["values"][0][1], "opteron-6344-4s");
    assert!(
        first["runs"]
            .as_array()
            .is_some_and(|runs| runs.iter().all(|run| run["state"] == "answered"))
    );
    fs::remove_file(place.path().join("plan/run-3.txt")).expect("it is there");
    let again = document(&place.sweep(&["--json", "--jobs", "1"]));
    assert_eq!(again["computed"], 0);
    assert_eq!(text(&place.answer("run-3.txt")), text(&place.printed(&FIT)));
    // Other commands and other sweeps of this user know the points as well.
    let elsewhere = document(&place.sweep(&["--json", "--into", "elsewhere"]));
    assert_eq!(elsewhere["computed"], 0);
}

#[test]
fn reports_are_written_where_the_plan_says() {
    let place = Place::new(&format!(
        "folder = 'reports'\n[[run]]\ncommand = \"kilocore forecast {PROFILE} --machine {{machine}} --cores 1,4 \
         --lock mcs\"\noutput = ['{{machine}}/curve.csv', '{{machine}}/curve.svg']\nover.machine = ['core-i7-6700']\n"
    ));
    let planned = text(&place.sweep(&["--list"]).stdout);
    assert_eq!(
        planned,
        format!(
            "kilocore forecast {PROFILE} --output reports/core-i7-6700/curve.csv --output \
             reports/core-i7-6700/curve.svg --machine core-i7-6700 --cores 1,4 --lock mcs\n"
        )
    );
    assert!(!place.path().join("reports").exists());
    let output = place.sweep(&[]);
    assert!(
        text(&output.stdout).starts_with("1 of 1 runs are answered, in reports; "),
        "{output:?}"
    );
    for file in ["curve.csv", "curve.svg"] {
        assert!(place.path().join("reports/core-i7-6700").join(file).is_file(), "{file}");
    }
}

#[test]
fn what_fails_is_named_with_what_it_said_and_the_others_go_on() {
    let place = Place::new(&format!(
        "[[run]]\ncommand = \"kilocore forecast {PROFILE} --machine core-i7-6700 --cores 1 --lock {{lock}}\"\n\
         over.lock = ['mcs', 'mcz']\n[[run]]\ncommand = \"kilocore show none.json\"\n"
    ));
    let output = place.sweep(&[]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let parts = [
        "1 of 3 runs",
        "failed: line 2, lock=mcz: ",
        "mcz",
        "failed: line 5",
        "none.json",
        "status 2",
    ];
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    assert!(!place.path().join("plan/mcz.txt").exists());
    assert!(place.answer("mcs.txt").len() > 100);
}

/// A sweep whose last two commands show an answer, and one that is not there.
fn shows_after(lock: &str) -> Place {
    Place::new(&format!(
        "[[run]]\ncommand = \"kilocore forecast {PROFILE} --machine core-i7-6700 --cores 1 --lock {lock}\"\n\
         output = \"a.json\"\n[[after]]\ncommand = \"kilocore show {PROFILE}\"\n\
         [[after]]\ncommand = \"kilocore show plan/b.json\"\n[[after]]\ncommand = \"kilocore list locks\"\n"
    ))
}

#[test]
fn commands_after_all_runs_are_run_once_these_are_answered() {
    let place = shows_after("mcs");
    let listed = text(&place.sweep(&["--list"]).stdout);
    assert!(listed.ends_with("kilocore show plan/b.json\nkilocore list locks\n"), "{listed}");
    let output = place.sweep(&["--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let states: Vec<&Value> =
        document["after"].as_array().expect("a list").iter().map(|it| &it["state"]).collect();
    assert_eq!(states, ["done", "failed", "left"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("sqlite") && said.contains("b.json"), "{said}");
    let printed = text(&place.sweep(&[]).stdout);
    assert!(printed.contains("1 of 1 runs") && printed.contains("failed: line 7, "), "{printed}");
}

#[test]
fn commands_after_all_runs_are_not_run_if_one_fails() {
    let output = shows_after("mcz").sweep(&["--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["after"][0]["state"], "left");
    assert!(!text(&output.stderr).contains("b.json"), "{output:?}");
}

/// Kills a sweep so long after its processes have begun.
fn killed(place: &Place, signal: i32, after: Duration) -> Output {
    run_while(place.command(&["sweep", "plan.toml"]), |pid| {
        wait_until("it works", || place.path().join("plan/.sweep/kilocore").exists());
        std::thread::sleep(after);
        // SAFETY: integers only; the process is a child that nobody has waited for.
        unsafe { libc::kill(pid, signal) };
    })
}

/// So many kills, at moments that are spread over what the sweep takes.
fn goes_on_after_kills(kills: u32) {
    let place = Place::new(&plan());
    for kill in 0..kills {
        killed(&place, libc::SIGKILL, Duration::from_millis(u64::from(kill * 7919 % 2000)));
    }
    document(&place.sweep(&["--json"]));
    assert_eq!(text(&place.answer("core-i7-6700-mcs.txt")), text(&place.printed(&FORECAST)));
    assert_eq!(text(&place.answer("run-3.txt")), text(&place.printed(&FIT)));
    assert_eq!(document(&place.sweep(&["--json"]))["computed"], 0);
    let left = fs::read_dir(place.path().join("plan")).expect("it is there").count();
    assert_eq!(left, 4, "three answers, and what is the sweep's own");
}

#[test]
fn a_sweep_that_was_killed_goes_on() {
    goes_on_after_kills(4);
}

#[test]
#[ignore = "takes minutes"]
fn a_sweep_that_was_killed_twenty_times_goes_on() {
    goes_on_after_kills(20);
}

#[test]
fn ctrl_c_ends_it_and_says_how_to_go_on() {
    let place = Place::new(&plan());
    let output = killed(&place, libc::SIGINT, Duration::ZERO);
    // On a fast host it may be done by then.
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(128 + libc::SIGINT), "{output:?}");
        assert!(text(&output.stdout).contains("Run it again to go on"), "{output:?}");
    }
    document(&place.sweep(&["--json"]));
    assert_eq!(text(&place.answer("run-3.txt")), text(&place.printed(&FIT)));
}

#[test]
fn parts_compute_all_together_whatever_the_order() {
    let place = Place::new(&plan());
    let part = |number: u32| {
        place.command(&["sweep", "plan.toml", "--bundle", &format!("{number}/3"), "--json"])
    };
    // Two at a time, and one that is run again.
    let first = part(3).stdout(Stdio::piped()).spawn().expect("kilocore runs");
    let second = document(&run_while(part(1), |_| ()));
    let first = document(&first.wait_with_output().expect("it ends"));
    let computed = |document: &Value| document["computed"].as_u64().expect("a number");
    assert!(computed(&first) > 0 && computed(&second) > 0, "{first} {second}");
    assert_eq!(second["runs"][0]["state"], "left");
    assert_eq!(computed(&document(&run_while(part(3), |_| ()))), 0);
    assert!(computed(&document(&run_while(part(2), |_| ()))) > 0);
    // A fit needs points that come of others, so some may be left for who writes the answers.
    document(&place.sweep(&["--json"]));
    assert_eq!(text(&place.answer("core-i7-6700-mcs.txt")), text(&place.printed(&FORECAST)));
    assert_eq!(text(&place.answer("run-3.txt")), text(&place.printed(&FIT)));
    for (words, said) in [
        (["--bundle", "4/3"], "as in 3/40"),
        (["--bundle", "0/3"], "as in 3/40"),
        (["--bundle", "3"], "as in 3/40"),
    ] {
        let output = place.sweep(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(text(&output.stderr).contains(said), "{output:?}");
    }
}

#[test]
fn two_sweeps_do_not_write_into_one_folder() {
    let place = Place::new(&plan());
    let own = place.path().join("plan/.sweep");
    fs::create_dir_all(&own).expect("it can be made");
    let lock = File::create(own.join("lock")).expect("it can be made");
    lock.lock().expect("nobody has it");
    let output = place.sweep(&[]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("another sweep") && said.contains("--into"), "{said}");
}

#[test]
fn what_is_no_plan_is_refused_before_anything_is_run() {
    let place = Place::new(
        "[[run]]\ncommand = \"kilocore forecast {file} --lock {lok}\"\nover.file = [1]\n",
    );
    for (words, parts) in [
        (["sweep", "plan.toml"], ["plan.toml, line 2", "'{lok}'", "over.lok"]),
        (["sweep", "none.toml"], ["none.toml", "cannot read the plan", "name a file"]),
        (["sweep", "measured.csv"], ["measured.csv, line 1", "plans.md", ""]),
    ] {
        let output = run_while(place.command(&words), |_| ());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
    assert!(!place.path().join("plan").exists());
    let place = Place::new("[[run]]\ncommand = \"kilocore-nothing x\"\n");
    let said = text(&place.sweep(&[]).stderr);
    assert!(said.contains("line 2") && said.contains("'kilocore-nothing'"), "{said}");
}

#[test]
fn orders_that_cannot_be_followed_are_refused() {
    let place = Place::new("");
    let orders = file("orders.json", b"{}");
    for name in [orders.as_path(), Path::new("/nothing")] {
        let mut command = place.command(&FORECAST);
        command.env("KILOCORE_POINTS", name);
        let output = run_while(command, |_| ());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("KILOCORE_POINTS") && said.contains("unset it"), "{said}");
    }
}
