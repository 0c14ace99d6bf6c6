//! Profiles of gperftools and of servers that follow it, from the files to the sentences.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GOLDEN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../functions/sampled-profile/tests/golden");

/// A copy of a profile that says that its program lies with the tests.
fn at_home(folder: &Path, profile: &str, [was, is]: [&str; 2]) -> PathBuf {
    let is = format!("{GOLDEN}/{is}");
    let bytes = fs::read(Path::new(GOLDEN).join(profile)).expect("it is a part of the source");
    let mut rest = &bytes[..];
    let mut whole = Vec::new();
    while let Some(at) = rest.windows(was.len()).position(|part| part == was.as_bytes()) {
        whole.extend_from_slice(&rest[..at]);
        whole.extend_from_slice(is.as_bytes());
        rest = &rest[at + was.len()..];
    }
    whole.extend_from_slice(rest);
    let path = folder.join(profile);
    fs::write(&path, whole).expect("room");
    path
}

/// The real CPU profiles of a program with one thread and with two.
fn growing(folder: &Path) -> [PathBuf; 2] {
    let of = ["/tmp/kilocore-recordings/growing", "growing"];
    ["growing-1.prof", "growing-2.prof"].map(|profile| at_home(folder, profile, of))
}

/// A contention profile, and another with five times as many waits of eight times their length each.
fn contention(folder: &Path) -> [PathBuf; 2] {
    let few = at_home(folder, "server.contention", ["/srv/server", "worker"]);
    let text = fs::read_to_string(&few).expect("it is text");
    let longer = |line: &str| {
        let Some((figures, stack)) = line.split_once('@') else { return line.to_owned() };
        let mut figures = figures.split_whitespace().map(|word| word.parse().expect("a number"));
        let (cycles, waits): (u64, u64) =
            (figures.next().expect("cycles"), figures.next().expect("waits"));
        format!("{} {} @{stack}", cycles * 40, waits * 5)
    };
    let many = folder.join("many.contention");
    let lines: Vec<String> = text.lines().map(longer).collect();
    fs::write(&many, lines.join("\n") + "\n").expect("room");
    [few, many]
}

fn locate(profiles: &[PathBuf; 2], more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    command.arg("compare").args(profiles).args(more).output().expect("it runs")
}

fn said(profiles: &[PathBuf; 2], more: &[&str]) -> String {
    let output = locate(profiles, more);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const WORK: [&str; 6] = [
    "--base-cores=1",
    "--scaled-cores=2",
    "--base-work=200000",
    "--scaled-work=200000",
    "--top=3",
    "--run-noise=5",
];

#[test]
fn cpu_profiles_say_which_function_takes_longer() {
    let folder = tempfile::tempdir().expect("a folder");
    let profiles = growing(folder.path());
    let text = said(&profiles, &WORK);
    assert!(text.starts_with("A unit of work takes 890 ns more on processors."), "{text}");
    let culprit = "Of the time on processors, most is lost in copy_message, with what libraries and the \
                   kernel do for it: +880 ns ±";
    assert!(
        text.contains(culprit) && text.contains("● copy_message growing 315 ns 1.20 µs"),
        "{text}"
    );
    assert!(text.contains("growing-1.prof has 170 samples: only large losses stand out"), "{text}");
    // How long the runs took is not in the files. Who says it learns of the rest.
    assert!(!text.contains("linear speedup"), "{text}");
    let times = ["--base-seconds=0.2", "--scaled-seconds=0.3"];
    let text = said(&profiles, &[&WORK[..], &times].concat());
    assert!(text.starts_with("On 2 cores the program does 0.667 times the work"), "{text}");
    assert!(
        text.contains("on processors and +1.11 µs in which its cores did not run it"),
        "{text}"
    );
}

#[test]
fn contention_profiles_say_where_threads_wait_longer_and_nothing_of_processors() {
    let folder = tempfile::tempdir().expect("a folder");
    let profiles = contention(folder.path());
    let work = ["--base-work=1000", "--scaled-work=4000"];
    let text = said(&profiles, &work);
    assert!(text.starts_with("A unit of work takes 8.77 ms more waiting."), "{text}");
    assert!(text.contains("Of the time waiting, most is lost in hash"), "{text}");
    assert!(text.contains("only time that threads waited is compared"), "{text}");
    for other in ["on processors, most", "it scales", "did not run it", "kernel.kptr"] {
        assert!(!text.contains(other), "{other}: {text}");
    }
    // The other way round there is nothing lost, and that is no praise.
    let [few, many] = profiles;
    let text = said(&[many, few], &["--base-work=4000", "--scaled-work=1000"]);
    assert!(
        text.starts_with("A unit of work takes no more waiting than before (-8.77 ms)."),
        "{text}"
    );
    assert!(!text.contains("it scales"), "{text}");
}

#[test]
fn waits_are_not_compared_with_time_on_processors_and_reports_are_no_profiles() {
    let folder = tempfile::tempdir().expect("a folder");
    let [cpu, _] = growing(folder.path());
    let [waits, _] = contention(folder.path());
    let report = folder.path().join("report.txt");
    fs::write(&report, "Total: 203 samples\n     139  68.5%  68.5%      139  68.5% copy_all\n")
        .expect("room");
    for (other, parts) in [
        (waits, ["counts ns and", "counts ns of waiting"]),
        (report, ["report.txt: this is a report that pprof prints", "give the profile itself"]),
    ] {
        let output = locate(&[cpu.clone(), other], &[]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}
