//! Runs that several processes divide among themselves, as those of a sweep do.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use kilocore_emulation::{Asked, EmulateError, Emulator, KeptRuns, Progress, Runs, emulate_runs};
use kilocore_kept_files::KeptFiles;
use kilocore_points::{Assignment, Key, Missing, Report};
use kilocore_process::Output;
use tempfile::TempDir;

use crate::support::{emulator, orders, program, settle};

struct Untold;

impl Progress for Untold {
    fn planned(&self, _: usize) {}
    fn done(&self) {}
}

/// A program on some numbers of cores, and a folder that processes share.
struct Place {
    held: TempDir,
    emulator: Emulator,
    words: Vec<OsString>,
    cores: Vec<u32>,
}

impl Place {
    fn new(name: &str, arguments: &[&str], cores: &[u32]) -> Self {
        let held = tempfile::tempdir().expect("there is room");
        let root = held.path().canonicalize().expect("its path");
        let files = KeptFiles::below(&root, "kept", "runs", u64::MAX).expect("it is ours");
        let emulator = emulator().keeping(KeptRuns::shared_in(files));
        let arguments = arguments.iter().map(OsString::from);
        let words = [program(name, &[]).into()].into_iter().chain(arguments).collect();
        Self { held, emulator, words, cores: cores.to_vec() }
    }

    /// With a file that is the last argument.
    fn with_file(mut self) -> Self {
        self.words.push(self.write("\x01").into());
        self
    }

    fn write(&self, content: &str) -> PathBuf {
        let path = self.held.path().join("input");
        fs::write(&path, content).expect("it is ours");
        settle(&path);
        path
    }

    fn with(
        &self,
        emulator: &Emulator,
        assignment: &Assignment,
    ) -> Result<Vec<Runs>, EmulateError> {
        // Cargo adds the folder that it builds in.
        let libraries = vec![("LD_LIBRARY_PATH".into(), OsString::new())];
        let on = |&cores: &u32| Asked { variables: libraries.clone(), ..orders(cores).into() };
        let asked: Vec<Asked> = self.cores.iter().map(on).collect();
        emulate_runs(&self.words, &asked, 3, emulator, Output::Discarded, assignment, &Untold)
    }

    /// What is missing, or the answer if nothing is.
    fn listed(&self) -> Result<Vec<Runs>, Vec<Missing>> {
        let listing = Assignment::listing();
        let runs = self.with(&self.emulator, &listing);
        let missing = listing.report().missing;
        match runs {
            Err(EmulateError::Elsewhere(_)) => Err(missing),
            runs => {
                assert_eq!(missing, []);
                Ok(runs.expect("it is emulated"))
            }
        }
    }

    #[track_caller]
    fn missing(&self) -> Vec<Missing> {
        match self.listed() {
            Ok(_) => panic!("all is known"),
            Err(missing) => missing,
        }
    }

    /// What is reported of a share.
    fn shared(&self, share: &[Missing]) -> Report {
        let keys: BTreeSet<Key> = share.iter().map(|point| point.key).collect();
        let sharing = Assignment::sharing(keys);
        assert!(matches!(self.with(&self.emulator, &sharing), Err(EmulateError::Elsewhere(_))));
        sharing.report()
    }

    fn alone(&self) -> Vec<Runs> {
        self.with(&emulator(), &Assignment::all()).expect("it is emulated")
    }
}

#[track_caller]
fn are_the_same(ones: &[Runs], others: &[Runs]) {
    assert_eq!(ones.len(), others.len());
    for (one, other) in ones.iter().zip(others) {
        let reports = |runs: &Runs| {
            runs.all().map(|(seed, point)| (seed, point.report.clone())).collect::<Vec<_>>()
        };
        assert!(reports(one) == reports(other));
        assert!(one.shown().causes == other.shown().causes);
    }
}

#[test]
fn what_is_missing_is_listed_emulated_in_shares_and_answered_as_alone() {
    // Chance decides, so there is a second round of seeds.
    let place = Place::new("draws", &["{cores}", "8"], &[1, 2, 4]);
    let mut rounds = Vec::new();
    let runs = loop {
        let missing = match place.listed() {
            Ok(runs) => break runs,
            Err(missing) => missing,
        };
        rounds.push(missing.len());
        assert!(rounds.len() <= 2, "{rounds:?}");
        assert_eq!(place.missing(), missing);
        for share in missing.chunks(2) {
            let report = place.shared(share);
            assert_eq!((&report.missing[..], &report.failed[..]), (&[][..], &[][..]));
            let kept: BTreeSet<Key> = report.kept.iter().map(|point| point.key).collect();
            assert_eq!(kept, share.iter().map(|point| point.key).collect());
            assert!(report.kept.iter().all(|point| point.seconds > 0.0), "{report:?}");
            // Another process that is given the same finds it.
            assert!(place.shared(share).kept.iter().all(|point| point.seconds == 0.0));
        }
    };
    // On one core it makes no thread; on two and four there are two seeds, and then a third.
    assert_eq!(rounds, [5, 2]);
    assert!(runs.iter().flat_map(Runs::all).all(|(_, point)| point.known_since.is_some()));
    are_the_same(&runs, &place.alone());
}

#[test]
fn a_missing_run_is_named_and_the_one_on_the_most_cores_comes_first() {
    let place = Place::new("draws", &["{cores}", "8"], &[1, 4]);
    let missing = place.missing();
    assert!(missing.iter().all(|point| point.computation == "emulate"));
    assert_eq!(missing.iter().map(|point| point.cost).collect::<Vec<_>>(), [2.0, 2.0, 1.0]);
    let words: BTreeSet<&str> = missing
        .iter()
        .filter_map(|point| point.words.split_once("draws "))
        .map(|it| it.1)
        .collect();
    let on = "8 on opteron-6344-4s";
    assert_eq!(
        words,
        BTreeSet::from([
            &*format!("1 {on}: 1 core, seed 1"),
            &format!("4 {on}: 4 cores, seed 1"),
            &format!("4 {on}: 4 cores, seed 2")
        ])
    );
}

#[test]
fn a_program_of_which_a_run_cannot_be_used_again_is_emulated_by_its_command() {
    let place = Place::new("reads", &["busy"], &[2, 3]).with_file();
    let missing = place.missing();
    let [first, rest @ ..] = &missing[..] else { panic!("there are runs") };
    let report = place.shared(std::slice::from_ref(first));
    assert_eq!((report.kept[0].key, report.kept[0].seconds), (first.key, 0.0));
    // Nothing more is emulated for nobody.
    let report = place.shared(rest);
    assert_eq!(report.kept.len(), rest.len());
    for _ in 0..2 {
        let runs = place.listed().expect("it emulates all itself");
        let said: Vec<_> =
            runs.iter().flat_map(Runs::all).map(|(_, point)| point.for_once.clone()).collect();
        assert!(
            said.iter().all(|why| why.as_ref().is_some_and(|why| why.contains("/proc/uptime"))),
            "{said:?}"
        );
    }
}

#[test]
fn a_program_that_fails_is_emulated_by_its_command_which_says_so() {
    let place = Place::new("reads", &["fails"], &[2]).with_file();
    let missing = place.missing();
    let report = place.shared(&missing);
    assert!(report.failed.is_empty() && report.kept.iter().all(|point| point.seconds == 0.0));
    let listing = Assignment::listing();
    let told = place.with(&place.emulator, &listing).expect_err("it fails").to_string();
    let alone = place.with(&emulator(), &Assignment::all()).expect_err("it fails").to_string();
    assert_eq!(told, alone);
    assert!(listing.report().missing.is_empty() && told.contains("status 3"), "{told}");
    // With another file, it may end well.
    place.write("\x02");
    assert_eq!(place.listed().map_err(|missing| missing.len()).err(), Some(missing.len()));
}

#[test]
fn where_nothing_is_kept_no_run_is_a_point() {
    let place = Place::new("draws", &["{cores}", "8"], &[1, 2]);
    let listing = Assignment::listing();
    let runs = place.with(&emulator(), &listing).expect("it emulates all itself");
    assert_eq!(listing.report().missing, []);
    are_the_same(&runs, &place.alone());
    let sharing = Assignment::sharing([Key::of("any")].into());
    assert!(matches!(place.with(&emulator(), &sharing), Err(EmulateError::Elsewhere(_))));
    assert_eq!(sharing.report(), Report::default());
}
