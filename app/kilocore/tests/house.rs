//! The house stands as `ARCHITECTURE.md` draws it: no crate reaches up, none is missing from the
//! map, and what ships has nothing of the checkers in it.

mod circles;
mod libraries;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The base shelves, lowest first. Anyone may use them; a crate of theirs uses its own shelf and lower
/// ones.
const BASE: [&str; 5] = ["libs", "preload", "sim", "results", "host"];

/// The subjects. A crate of theirs uses base shelves and its own subject.
const SUBJECTS: [&str; 7] = ["locks", "functions", "pages", "numa", "sched", "emulate", "sweep"];

/// What stands upon the subjects, lowest first.
const TOP: [&str; 3] = ["app", "papers", "evidence"];

/// Where a subject uses another one. `ARCHITECTURE.md` gives the reasons.
const SUBJECTS_MEET: [(&str, &str); 3] = [
    ("locks/recorder", "numa/recorder"),
    ("locks/recorder", "numa/references"),
    ("sched/daemon", "locks/profile"),
];

/// What tests and benchmarks use from a higher shelf, besides `evidence`, which is there for them.
/// Nobody who uses the crate builds it.
const TESTS_REACH_UP: [(&str, &str); 2] =
    [("preload/measure", "locks/recorder"), ("preload/measure", "locks/profile")];

/// A crate of the workspace. Crates are named by shelf and folder, as in `libs/locks`.
#[derive(Debug, Default)]
struct Room {
    /// What it needs to be built.
    uses: BTreeSet<String>,
    /// What its tests need besides.
    tests_use: BTreeSet<String>,
    /// Whether it is under the GNU General Public License.
    is_gpl: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it is there")
}

fn manifest(path: &Path) -> toml::Table {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The crates of the workspace that a table of dependencies of `manifest` names.
fn named(
    manifest: &toml::Table,
    table: &str,
    places: &BTreeMap<String, String>,
) -> BTreeSet<String> {
    let Some(dependencies) = manifest.get(table) else { return BTreeSet::new() };
    let dependencies = dependencies.as_table().expect("dependencies are a table");
    dependencies.keys().filter_map(|name| places.get(name)).cloned().collect()
}

/// All crates, read from their manifests.
fn house() -> BTreeMap<String, Room> {
    let root = root();
    let mut manifests = BTreeMap::new();
    for shelf in shelves() {
        for folder in fs::read_dir(root.join(shelf)).expect("the shelf is there") {
            let path = folder.expect("it can be read").path().join("Cargo.toml");
            if path.exists() {
                let folder = path.parent().expect("a folder").file_name().expect("a name");
                let place = format!("{shelf}/{}", folder.to_str().expect("plain letters"));
                manifests.insert(place, manifest(&path));
            }
        }
    }
    // These are workspaces of their own, which no crate can depend on.
    for apart in ["evidence/fuzz", "evidence/page-caches"] {
        manifests.remove(apart).expect("it is there");
    }
    let package = |manifest: &toml::Table| {
        manifest["package"]["name"].as_str().expect("a package has a name").to_owned()
    };
    let places: BTreeMap<_, _> =
        manifests.iter().map(|(place, manifest)| (package(manifest), place.clone())).collect();
    let room = |manifest: &toml::Table| {
        let mut uses = named(manifest, "dependencies", &places);
        uses.extend(named(manifest, "build-dependencies", &places));
        assert!(!manifest.contains_key("target"), "read dependencies by target here, too");
        let license = manifest["package"]["license"].as_str();
        Room {
            uses,
            tests_use: named(manifest, "dev-dependencies", &places),
            is_gpl: license.is_some_and(|license| license.starts_with("GPL-")),
        }
    };
    manifests.iter().map(|(place, manifest)| (place.clone(), room(manifest))).collect()
}

fn shelf(place: &str) -> &str {
    place.split_once('/').expect("a shelf and a folder").0
}

fn shelves() -> impl Iterator<Item = &'static str> {
    BASE.into_iter().chain(SUBJECTS).chain(TOP)
}

/// How high the shelf of a crate stands. All subjects stand equally high.
fn height(place: &str) -> usize {
    let on = |shelves: &[&str]| shelves.iter().position(|&known| known == shelf(place));
    on(&BASE)
        .or_else(|| on(&SUBJECTS).map(|_| BASE.len()))
        .or_else(|| on(&TOP).map(|above| BASE.len() + 1 + above))
        .expect("a shelf that is known")
}

/// Whether `place` may not use `used`, whatever the exceptions.
fn is_wrong(place: &str, used: &str) -> bool {
    height(used) > height(place) || height(used) == height(place) && shelf(used) != shelf(place)
}

/// The arrows of `house` that point up or to another subject.
fn wrong_arrows(house: &BTreeMap<String, Room>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (place, room) in house {
        for used in room.uses.iter().filter(|used| is_wrong(place, used)) {
            if !SUBJECTS_MEET.contains(&(place, used)) {
                wrong.push(format!("{place} uses {used}"));
            }
        }
        for used in room.tests_use.iter().filter(|used| is_wrong(place, used)) {
            if shelf(used) != "evidence" && !TESTS_REACH_UP.contains(&(place, used)) {
                wrong.push(format!("tests of {place} use {used}"));
            }
        }
    }
    wrong
}

#[test]
fn no_arrow_points_up_or_to_another_subject() {
    assert_eq!(wrong_arrows(&house()), Vec::<String>::new());
}

#[test]
fn a_wrong_arrow_is_seen() {
    let mut house = house();
    house.get_mut("libs/locks").expect("it is there").uses.insert("sim/engine".into());
    house.get_mut("libs/ldu").expect("it is there").tests_use.insert("locks/report".into());
    house.get_mut("locks/profile").expect("it is there").uses.insert("sched/policy".into());
    let wrong = wrong_arrows(&house);
    assert_eq!(wrong.len(), 3, "{wrong:?}");
}

#[test]
fn every_exception_is_needed() {
    let house = house();
    for (place, used) in TESTS_REACH_UP {
        assert!(house[place].tests_use.contains(used), "{place} no longer uses {used}");
    }
    for (place, used) in SUBJECTS_MEET {
        assert!(house[place].uses.contains(used), "{place} no longer uses {used}");
    }
}

/// The arrows of `house` from a crate under another licence to one under the GPL, which would then be under
/// the GPL, too.
fn arrows_to_gpl(house: &BTreeMap<String, Room>) -> Vec<String> {
    let others = house.iter().filter(|(_, room)| !room.is_gpl);
    others
        .flat_map(|(place, room)| room.uses.union(&room.tests_use).map(move |used| (place, used)))
        .filter(|(_, used)| house[*used].is_gpl)
        .map(|(place, used)| format!("{place} uses {used}"))
        .collect()
}

#[test]
fn only_crates_under_the_gpl_use_one_under_the_gpl() {
    let mut house = house();
    assert!(house["numa/qemu"].is_gpl && house["host/qemu-plugin"].is_gpl);
    assert_eq!(arrows_to_gpl(&house), Vec::<String>::new());
    let recorder = house.get_mut("numa/recorder").expect("it is there");
    recorder.uses.insert("host/qemu-plugin".into());
    assert_eq!(arrows_to_gpl(&house), ["numa/recorder uses host/qemu-plugin"]);
}

/// The crates that `ARCHITECTURE.md` shows: below a heading ``### `libs/` `` the rows
/// ``| `locks` | its idea |``.
fn drawn(page: &str) -> BTreeSet<String> {
    let mut drawn = BTreeSet::new();
    let mut shelf = None;
    for line in page.lines() {
        if line.starts_with('#') {
            let heading = line.strip_prefix("### `").and_then(|line| line.strip_suffix("/`"));
            shelf = heading.filter(|name| shelves().any(|shelf| shelf == *name));
        }
        let Some(name) = line.strip_prefix("| `").and_then(|line| line.split('`').next()) else {
            continue;
        };
        drawn.extend(shelf.map(|shelf| format!("{shelf}/{name}")));
    }
    drawn
}

#[test]
fn the_map_shows_every_crate() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let built: BTreeSet<_> = house().into_keys().collect();
    assert_eq!(drawn(&page), built, "the crates drawn, and those that there are");
}

/// What `cargo tree` prints of the packages that `selection` names, one package a line.
fn tree(selection: &[String]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--prefix", "none", "--format", "{p} [{f}]"])
        .args(selection)
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it writes UTF-8");
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

/// What `cargo build` compiles into what ships, each package with its features.
fn shipped() -> BTreeSet<String> {
    tree(&["--edges".to_owned(), "no-dev".to_owned()])
}

#[test]
fn what_ships_is_built_without_the_checkers() {
    let tree = shipped();
    assert!(tree.iter().any(|line| line.starts_with("kilocore-preload-run ")), "{tree:?}");
    for checker in ["loom ", "shuttle ", "kilocore-checking "] {
        assert!(!tree.iter().any(|line| line.starts_with(checker)), "{checker}is built in");
    }
}

#[test]
fn the_users_program_contains_no_experiment_of_a_paper() {
    let tree = tree(&["--package=kilocore", "--edges=no-dev"].map(str::to_owned));
    let contains = |package: &str| tree.iter().any(|line| line.starts_with(&format!("{package} ")));
    assert!(contains("kilocore-lock-report"), "{tree:?}");
    for folder in fs::read_dir(root().join("papers")).expect("the shelf is there") {
        let manifest = manifest(&folder.expect("it can be read").path().join("Cargo.toml"));
        let package = manifest["package"]["name"].as_str().expect("a package has a name");
        assert!(!contains(package), "{package} is built in");
    }
}

/// The crates of the line `APART := platform locks` of the `Makefile`.
fn tested_apart() -> Vec<String> {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("it is there");
    let line = makefile.lines().find_map(|line| line.strip_prefix("APART := "));
    line.expect("it says what is tested apart").split(' ').map(str::to_owned).collect()
}

#[test]
fn the_tests_use_the_libraries_of_the_release_build() {
    let apart = tested_apart().into_iter().map(|name| format!("--exclude=kilocore-{name}"));
    let selection: Vec<String> = ["--workspace".to_owned()].into_iter().chain(apart).collect();
    let (shipped, tested) = (shipped(), tree(&selection));
    // A library that nobody else uses yet is built for its own tests only.
    let package = |line: &str| line.split(" [").next().map(str::to_owned);
    let used: BTreeSet<_> = tested.iter().map(|line| package(line)).collect();
    let others = shipped.difference(&tested);
    let built_twice: Vec<&String> = others.filter(|line| used.contains(&package(line))).collect();
    assert!(built_twice.is_empty(), "the tests ask for other features of: {built_twice:#?}");
}
