//! Weakens each memory ordering of the model-checked algorithms, one at a time, and reports which
//! check catches it.
//!
//! The checks are the loom tests of `locks`, `ldu`, `lru`, `buffer-pool`, `pages` and `numa`. They run on a
//! platform that looks into the environment at each call, to see whether the ordering of this call is
//! weakened (`kilocore_checking::weakening`). So one build is enough to try all orderings. The orderings
//! are found by parsing the shipped source. An ordering that could not be weakened is an error.
//!
//! If no check catches a weaker ordering, there are two ways: the source is changed to the weaker
//! ordering, or a comment beside the code argues for the stronger one. Such a comment begins with
//! `Argued:`. The report says which orderings have one (`docs/evidence/orderings`).
//!
//! ```text
//! kilocore-weaken [--only PART-OF-A-FILE'S-NAME] [--longest SECONDS] [--report FILE]
//! ```
//!
//! The exit status is 1 if an ordering is neither caught nor argued for, and 2 if the program
//! cannot tell.

mod checks;
mod failure;
mod report;
mod sites;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::checks::{Check, Subject, Verdict, checks};
use crate::failure::Failure;
use crate::sites::{Order, Site, sites};

/// The sources that are weakened, and the tests that have to notice.
const SUBJECTS: [Subject; 6] = [
    Subject {
        package: "kilocore-locks",
        sources: "libs/locks/src",
        modules: &[
            "loom",
            "read_write",
            "moderated_loom",
            "conditions",
            "free_blocks",
            "side_queues",
        ],
    },
    Subject {
        package: "kilocore-ldu",
        sources: "libs/ldu/src",
        modules: &["loom", "prompt", "prompt_full"],
    },
    Subject { package: "kilocore-lru", sources: "libs/lru/src", modules: &["loom"] },
    Subject {
        package: "kilocore-buffer-pool",
        sources: "libs/buffer-pool/src",
        modules: &["loom", "durable"],
    },
    Subject { package: "kilocore-pages", sources: "libs/pages/src", modules: &["loom", "shared"] },
    Subject { package: "kilocore-numa", sources: "libs/numa/src", modules: &["loom"] },
];

/// By default, a test that takes more than this many seconds on a processor is left out. It would
/// be run for every ordering for which no quicker test fails.
const LONGEST: u64 = 30;

/// The result of weakening an ordering by one step.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) site: Site,
    pub(crate) to: Order,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    /// The check that caught it, and the message of that check.
    Caught(String, String),
    /// No check caught it. `checks` is the number of checks that make the call; `undecided` of them
    /// gave up.
    Missed { checks: usize, undecided: usize },
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("kilocore-weaken: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Failure> {
    let Arguments { only, longest, file } = arguments()?;
    let root = root()?;
    let (mut trials, mut relaxed) = (Vec::new(), 0);
    for subject in &SUBJECTS {
        let mut found = of_subject(&root, subject)?;
        found.retain(|site| only.as_deref().is_none_or(|only| site.file.contains(only)));
        relaxed += found.iter().filter(|site| site.weaker().is_empty()).count();
        if found.iter().all(|site| site.weaker().is_empty()) {
            continue;
        }
        eprintln!("{}: building and trying the checks", subject.package);
        let checks = checks(&root, subject, longest)?;
        eprintln!("{}: {} checks, {} orderings", subject.package, checks.len(), found.len());
        trials.extend(try_all(&found, &checks)?);
    }
    let text = report::report(&trials, relaxed, longest);
    match file {
        Some(file) => fs::write(&file, text)
            .map_err(|error| Failure(format!("{}: {error}", file.display())))?,
        None => print!("{text}"),
    }
    Ok(trials.iter().all(report::is_answered))
}

/// Returns all orderings of the sources of `subject`.
fn of_subject(root: &Path, subject: &Subject) -> Result<Vec<Site>, Failure> {
    let mut found = Vec::new();
    for file in files(root, subject.sources)? {
        found.extend(sites(root, &file)?);
    }
    Ok(found)
}

struct Arguments {
    /// A part of the names of the files to weaken. `None` means all files.
    only: Option<String>,
    longest: Duration,
    /// The file for the report. If `None`, the report is printed.
    file: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, Failure> {
    let (mut only, mut longest, mut file) = (None, LONGEST, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value =
            arguments.next().ok_or_else(|| Failure(format!("{argument}: needs a value")))?;
        match &*argument {
            "--only" => only = Some(value),
            "--longest" => {
                let wrong = |_| Failure(format!("--longest {value}: a whole number of seconds"));
                longest = value.parse().map_err(wrong)?;
            }
            "--report" => file = Some(PathBuf::from(value)),
            _ => {
                let what = "there is --only, --longest and --report";
                return Err(Failure(format!("{argument}: {what}")));
            }
        }
    }
    Ok(Arguments { only, longest: Duration::from_secs(longest), file })
}

/// Returns the folder of the workspace: the current folder or the nearest one above it that has the
/// sources of the locks.
fn root() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().map_err(|error| Failure(error.to_string()))?;
    let mut folders = here.ancestors();
    let root = folders.find(|folder| folder.join("libs/locks/src").is_dir());
    root.map(Path::to_owned).ok_or_else(|| Failure("run it in the workspace".to_owned()))
}

/// Returns the sources below `folder`, except files named `tests.rs`.
fn files(root: &Path, folder: &str) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    let failed = |error: std::io::Error| Failure(format!("{folder}: {error}"));
    for entry in fs::read_dir(root.join(folder)).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        if root.join(&path).is_dir() {
            found.extend(files(root, &path)?);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Weakens every ordering that can be weakened, two at a time.
fn try_all(sites: &[Site], checks: &[Check]) -> Result<Vec<Trial>, Failure> {
    let all: Vec<(&Site, Order)> =
        sites.iter().flat_map(|site| site.weaker().iter().map(move |&to| (site, to))).collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(site, to)) = all.get(index) else { return Ok(()) };
            let outcome = try_one(site, to, checks)?;
            let short = match &outcome {
                Outcome::Caught(check, _) => format!("caught by {check}"),
                Outcome::Missed { checks, .. } => format!("not caught by {checks} checks"),
            };
            eprintln!("{} {} {} → {to}: {short}", site.place(), site.operation, site.order);
            let trial = Trial { site: site.clone(), to, outcome };
            done.lock().expect("nobody panics with it").push((index, trial));
        }
    };
    std::thread::scope(|scope| -> Result<(), Failure> {
        let other = scope.spawn(work);
        work()?;
        other.join().expect("it does not panic")
    })?;
    let mut done = done.into_inner().expect("nobody panics with it");
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, trial)| trial).collect())
}

fn try_one(site: &Site, to: Order, checks: &[Check]) -> Result<Outcome, Failure> {
    let place = site.place();
    let (mut tried, mut undecided) = (0, 0);
    for check in checks.iter().filter(|check| check.places.contains(&place)) {
        tried += 1;
        match check.with(site, to)? {
            Verdict::Caught(message) => return Ok(Outcome::Caught(check.to_string(), message)),
            Verdict::Passed => {}
            Verdict::Undecided => undecided += 1,
        }
    }
    Ok(Outcome::Missed { checks: tried, undecided })
}

#[cfg(test)]
mod tests {
    use super::{SUBJECTS, of_subject, root};

    /// Weakening takes hours, so it is not seen soon otherwise that it cannot begin.
    #[test]
    fn every_ordering_of_the_shipped_sources_can_be_weakened() {
        let root = root().expect("tests run in the workspace");
        for subject in &SUBJECTS {
            let found = of_subject(&root, subject);
            let found = found.unwrap_or_else(|failure| panic!("{}: {failure}", subject.package));
            assert!(found.iter().any(|site| !site.weaker().is_empty()), "{}", subject.package);
        }
    }
}
