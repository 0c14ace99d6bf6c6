//! The checks: tests of the model-checked crates, run with one subject at a time.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::failure::Failure;
use crate::sites::{Order, Site};

/// The variables that `kilocore_checking::weakening` reads.
const WEAKEN: &str = "KILOCORE_WEAKEN";
const SEEN: &str = "KILOCORE_ORDERINGS_SEEN";
const SUBJECT: &str = "KILOCORE_CHECK_ONLY";

/// A check is given up if it takes this many times as long as with the shipped orderings,
const PATIENCE: u32 = 20;
/// and also longer than this. Both are times on a processor, so that a busy host changes nothing.
const LEAST_PATIENCE: Duration = Duration::from_secs(30);

/// A crate whose sources are weakened, and the modules of its test program that check it. Tests of
/// those modules that do not run under loom have `shuttle` or `native` in their names.
pub(crate) struct Subject {
    pub(crate) package: &'static str,
    pub(crate) sources: &'static str,
    pub(crate) modules: &'static [&'static str],
}

/// A test, with one of its subjects.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    program: PathBuf,
    /// The name of the crate and the name of the test.
    pub(crate) name: String,
    test: String,
    /// The algorithm that is checked. Empty if the test has only one.
    pub(crate) subject: String,
    /// The places of the calls that it makes.
    pub(crate) places: BTreeSet<String>,
    /// How long it takes with the shipped orderings: an equal part of the time of its test.
    pub(crate) takes: Duration,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.subject.is_empty() { Ok(()) } else { write!(f, " ({})", self.subject) }
    }
}

/// How a check of weakened source ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The checker found the error. This is its first message.
    Caught(String),
    Passed,
    /// The checker gave up, which says nothing about the ordering.
    Undecided,
}

/// Returns all checks of a crate that pass with the shipped orderings, the quickest first. A test
/// that takes longer than `longest` with all its subjects is left out.
///
/// # Errors
/// If the checks cannot be built, or if one of them fails with the shipped orderings.
pub(crate) fn checks(
    root: &Path,
    subject: &Subject,
    longest: Duration,
) -> Result<Vec<Check>, Failure> {
    let mut checks = Vec::new();
    let program = build(root, subject)?;
    for test in tests(&program, subject)? {
        for found in explore(&program, &test, longest)? {
            let name = format!("{}: {test}", subject.package);
            checks.push(Check { name, ..found });
        }
    }
    checks.sort_by_key(|check| check.takes);
    Ok(checks)
}

/// The name of the test program that has a crate's model checks.
const PROGRAM: &str = "main";

/// Builds the test program of a crate and returns its path. Cargo prints a line of JSON for each
/// thing that it builds:
///
/// ```text
/// {"reason":"compiler-artifact","target":{"name":"main"},"executable":"/a/target/main-1f"}
/// ```
fn build(root: &Path, subject: &Subject) -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["test", "--no-run", "--message-format=json"]);
    command.args(["-p", subject.package, "--test", PROGRAM]).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| Failure(format!("cargo: {error}")))?;
    let failure = || Failure(format!("the checks of {} do not build", subject.package));
    if !output.status.success() {
        return Err(failure());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let program = |message: serde_json::Value| {
        let named = message["target"]["name"] == PROGRAM;
        named.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
    };
    messages.filter_map(program).next_back().ok_or_else(failure)
}

/// Returns the tests of the subject's modules that run by default. The program lists them like
/// this:
///
/// ```text
/// loom::three_exclude_each_other: test
/// ```
fn tests(program: &Path, subject: &Subject) -> Result<Vec<String>, Failure> {
    let output =
        Command::new(program).arg("--list").output().map_err(|error| failed(program, &error))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    let module = |name: &str| name.split("::").next().expect("one part at least").to_owned();
    // Shuttle treats every ordering as sequentially consistent, and a native run proves nothing.
    let looks_at_orderings = |name: &&str| {
        subject.modules.contains(&&*module(name))
            && !name.contains("shuttle")
            && !name.contains("native")
    };
    Ok(names.filter(looks_at_orderings).map(str::to_owned).collect())
}

/// Runs a test. Returns a check for each of its subjects, with the calls that it makes. The test
/// writes a line for each subject and call, with a tab between the two:
///
/// ```text
/// mcs<TAB>libs/locks/src/mcs.rs:65:14
/// ```
fn explore(program: &Path, test: &str, longest: Duration) -> Result<Vec<Check>, Failure> {
    let folder = tempfile::tempdir().map_err(|error| failed(program, &error))?;
    let seen = folder.path().join("seen");
    let mut command = command(program, test, "");
    command.env(SEEN, &seen).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(program, &error))?;
    let (passed, took) = wait(&mut child, longest).map_err(|error| failed(program, &error))?;
    match passed {
        Some(true) => {}
        Some(false) => {
            return Err(Failure(format!("{test} fails with the orderings as they are")));
        }
        None => {
            eprintln!("{test} takes too long and is left out");
            return Ok(Vec::new());
        }
    }
    let text = fs::read_to_string(&seen).unwrap_or_default();
    let mut checks: Vec<Check> = Vec::new();
    for (subject, place) in text.lines().filter_map(|line| line.split_once('\t')) {
        let at = checks.iter().position(|check| check.subject == subject).unwrap_or_else(|| {
            checks.push(Check {
                program: program.to_owned(),
                name: String::new(),
                test: test.to_owned(),
                subject: subject.to_owned(),
                places: BTreeSet::new(),
                takes: Duration::ZERO,
            });
            checks.len() - 1
        });
        checks[at].places.insert(place.to_owned());
    }
    let takes = took / checks.len().max(1) as u32;
    checks.iter_mut().for_each(|check| check.takes = takes);
    Ok(checks)
}

fn command(program: &Path, test: &str, subject: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    if !subject.is_empty() {
        command.env(SUBJECT, subject);
    }
    command
}

fn failed(program: &Path, error: &dyn fmt::Display) -> Failure {
    Failure(format!("{}: {error}", program.display()))
}

impl Check {
    /// Runs the check with one ordering weakened.
    ///
    /// # Errors
    /// If it cannot be run.
    pub(crate) fn with(&self, site: &Site, order: Order) -> Result<Verdict, Failure> {
        let weakening = format!("{}:{}={order}", site.place(), site.operand);
        let mut command = command(&self.program, &self.test, &self.subject);
        command.env(WEAKEN, weakening).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(&self.program, &error))?;
        let mut stderr = child.stderr.take().expect("it is piped");
        // The message is read while the check runs: otherwise a check with much output would wait
        // for a reader.
        let reader = std::thread::spawn(move || {
            let mut said = Vec::new();
            let _ = stderr.read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        });
        let patience = LEAST_PATIENCE.max(self.takes * PATIENCE);
        let (passed, _) =
            wait(&mut child, patience).map_err(|error| failed(&self.program, &error))?;
        let said = reader.join().unwrap_or_default();
        Ok(match passed {
            None => Verdict::Undecided,
            Some(true) => Verdict::Passed,
            Some(false) => verdict(&said),
        })
    }
}

/// Waits for a check. Returns whether it passed, and how long it took on a processor. A check that
/// takes longer than `most` is killed; it has neither passed nor failed.
fn wait(child: &mut Child, most: Duration) -> std::io::Result<(Option<bool>, Duration)> {
    let mut took = Duration::ZERO;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status.success()), took));
        }
        took = on_processor(child.id()).unwrap_or(took);
        if took > most {
            child.kill()?;
            child.wait()?;
            return Ok((None, took));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns how long a process has been on a processor so far. User and system time are the fields
/// 14 and 15 of `/proc/PID/stat`:
///
/// ```text
/// 4242 (main) R 1 4242 4242 0 -1 4194304 900 0 0 0 312 7 0 0 20 0 2 0 ...
/// ```
fn on_processor(process: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in parentheses, may contain spaces.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let user: u64 = fields.nth(11)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    // Linux gives programs these times in hundredths of a second.
    Some(Duration::from_millis(10 * (user + system)))
}

/// Returns the verdict by the first panic in a checker's output:
///
/// ```text
/// thread 'loom::two' panicked at src/rt/object.rs:1:2:
/// Causality violation: Concurrent read and write accesses.
/// ```
fn verdict(said: &str) -> Verdict {
    let mut lines = said.lines().skip_while(|line| !line.contains("panicked at"));
    let message = lines.nth(1).unwrap_or("the check died").trim().to_owned();
    // loom explores stale reads without end if only time ends a wait.
    if message.contains("maximum number of branches") {
        return Verdict::Undecided;
    }
    Verdict::Caught(message)
}

#[cfg(test)]
mod tests {
    use super::{Verdict, verdict};

    #[test]
    fn the_first_panic_counts() {
        let said = "x\nthread 't' panicked at a.rs:1:2:\nCausality violation: a\nthread 't' \
                    panicked at b.rs:1:2:\nanother\n";
        assert_eq!(verdict(said), Verdict::Caught("Causality violation: a".to_owned()));
    }

    #[test]
    fn a_checker_that_gives_up_has_caught_nothing() {
        let said = "thread 't' panicked at a.rs:1:2:\nModel exceeded maximum number of branches. x";
        assert_eq!(verdict(said), Verdict::Undecided);
    }
}
