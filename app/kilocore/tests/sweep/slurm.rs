//! `kilocore sweep --slurm` on a real Slurm: whatever fails, the answers are those of this host alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::cluster::Cluster;
use super::{PROFILE, Place, document, text};
use crate::measured::{run_while, wait_until};

/// Some five hundred points for each seed.
fn plan(seeds: &str) -> String {
    format!(
        r#"
        [[run]]
        command = "kilocore forecast {PROFILE} --machine {{machine}} --lock {{lock}} --cores 1-{{most}}:{{step}} --seed {{seed}}"
        over.lock = ["mcs", "ticket", "cna"]
        over.seed = [{seeds}]
        each = [
            {{ machine = "opteron-6344-4s", most = 48, step = 6 }},
            {{ machine = "epyc-9554-2s", most = 64, step = 9 }},
        ]
        [[run]]
        command = "kilocore forecast measured.csv --machine core-i7-6700 --lock cna --cores 1,4"
        "#
    )
}

/// All answers, by their names.
fn answers(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the answers");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let files = files.filter(|path| path.is_file());
    let named = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    files.map(|path| (named(&path), fs::read(&path).expect("an answer"))).collect()
}

/// A sweep by Slurm, which tasks of its own compute that nobody else's have.
fn by_slurm(place: &Place, cluster: &Cluster, options: &[&str]) -> Command {
    let words =
        ["sweep", "plan.toml", "--into", "far", "--slurm", "--task-time", "2s", "--jobs", "20"];
    let mut command = place.command(&[&words, options].concat());
    command.env("XDG_CACHE_HOME", place.path().join("far-home"));
    cluster.serve(&mut command);
    command
}

/// The names of arrays whose tasks wait or run.
fn arrays(cluster: &Cluster) -> BTreeSet<String> {
    let printed = cluster.asked(&["squeue", "--noheader", "--format=%j"]);
    printed.lines().map(str::to_owned).collect()
}

fn begun(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("kilocore runs")
}

#[test]
#[ignore = "needs Debian's slurm-wlm and takes minutes: make soak"]
fn a_sweep_outlasts_nodes_tasks_and_the_controller() {
    // Much is left to do when something fails.
    let place = Place::new(&plan("1, 2, 3"));
    let near = document(&place.sweep(&["--into", "near", "--json"]));
    let points = near["computed"].as_u64().expect("a number");
    assert!(points >= 500, "{points}");
    let mut cluster = Cluster::start();

    // It is killed in the middle, and goes on. Meanwhile a node is lost, though what it runs goes on.
    let mut sweep = begun(by_slurm(&place, &cluster, &[]));
    // Tasks are short, so how many run at once is a matter of chance; more wait than can run.
    wait_until("tasks run and wait", || {
        !cluster.tasks("RUNNING").is_empty() && cluster.tasks("PENDING,RUNNING").len() >= 4
    });
    cluster.kill_node(0);
    sweep.kill().expect("it runs");
    sweep.wait().expect("it has ended");
    let before = arrays(&cluster);
    let sweep = begun(by_slurm(&place, &cluster, &["--json", "--tries", "10"]));
    wait_until("it submits more", || !arrays(&cluster).is_subset(&before));

    // A task is cancelled, and then the controller is gone for a while.
    wait_until("a task is cancelled", || match cluster.tasks("RUNNING").first() {
        Some(task) => {
            cluster.asked(&["scancel", task]);
            true
        }
        None => false,
    });
    cluster.kill_controller();
    assert_eq!(cluster.asked(&["squeue", "--noheader"]), "");
    cluster.start_controller();
    cluster.start_node(0);

    let output = sweep.wait_with_output().expect("it ends");
    let far = document(&output);
    assert!(
        far["runs"]
            .as_array()
            .is_some_and(|runs| runs.iter().all(|run| run["state"] == "answered"))
    );
    let expected = answers(&place.path().join("near"));
    let found = answers(&place.path().join("far"));
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, answer) in &expected {
        assert_eq!(text(&found[name]), text(answer), "{name}");
    }
    // All is kept, and nothing is left to do.
    let again = document(&run_while(by_slurm(&place, &cluster, &["--json"]), |_| ()));
    assert_eq!(again["computed"], 0);
    // A task that Slurm has lost sight of when it had ended is started once more, two minutes later, and finds nothing to do.
    wait_until("no task is left", || cluster.tasks("PENDING,RUNNING").is_empty());
}

#[test]
#[ignore = "needs Debian's slurm-wlm and takes minutes: make soak"]
fn a_detached_sweep_is_told_of_and_collected() {
    let place = Place::new(&plan("1"));
    document(&place.sweep(&["--into", "near", "--json"]));
    let cluster = Cluster::start();
    let asked = |words: &[&str]| {
        let mut command = place.command(words);
        command.env("XDG_CACHE_HOME", place.path().join("far-home"));
        cluster.serve(&mut command);
        run_while(command, |_| ())
    };
    let expected = answers(&place.path().join("near"));
    // Some commands ask for points only when they have others, so there are several rounds.
    for round in 0.. {
        assert!(round < 30, "it comes to an end");
        let submitted = run_while(by_slurm(&place, &cluster, &["--detach"]), |_| ());
        assert_eq!(submitted.status.code(), Some(0), "{}", text(&submitted.stderr));
        wait_until("all tasks have ended", || {
            let status =
                document(&asked(&["sweep", "status", "plan.toml", "--into", "far", "--json"]));
            let arrays = status["arrays"].as_array().expect("a list");
            arrays.iter().all(|array| array["waiting"] == 0 && array["running"] == 0)
        });
        let collected = asked(&["sweep", "collect", "plan.toml", "--into", "far", "--json"]);
        if collected.status.success() {
            break;
        }
        assert_eq!(collected.status.code(), Some(1), "{}", text(&collected.stderr));
    }
    assert_eq!(answers(&place.path().join("far")), expected);
}

#[test]
fn without_slurm_it_is_said_what_is_missing() {
    let place = Place::new(&plan("1"));
    let mut command = place.command(&["sweep", "plan.toml", "--slurm"]);
    command.env("PATH", "/nowhere");
    let output = run_while(command, |_| ());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("'scontrol'") && said.contains("install"), "{said}");
}
