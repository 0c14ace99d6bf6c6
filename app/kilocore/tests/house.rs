//! The house stands as `ARCHITECTURE.md` draws it: no crate reaches up, none is missing from the
//! map, and what ships has nothing of the checkers in it.

mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shelves, lowest first. A crate may use those of its own shelf and of lower ones.
const SHELVES: [&str; 8] =
    ["libs", "preload", "simulator", "measure", "system", "forecast", "app", "evidence"];

/// What tests and benchmarks use from a higher shelf, besides `evidence`, which is there for them.
/// Nobody who uses the crate builds it.
const TESTS_REACH_UP: [(&str, &str); 3] = [
    ("simulator/rivals", "measure/host"),
    ("preload/measure", "measure/lock-recorder"),
    ("preload/measure", "measure/lock-profile"),
];

/// A crate of the workspace. Crates are named by shelf and folder, as in `libs/locks`.
#[derive(Debug, Default)]
struct Room {
    /// What it needs to be built.
    uses: BTreeSet<String>,
    /// What its tests need besides.
    tests_use: BTreeSet<String>,
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
    for shelf in SHELVES {
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
        Room { uses, tests_use: named(manifest, "dev-dependencies", &places) }
    };
    manifests.iter().map(|(place, manifest)| (place.clone(), room(manifest))).collect()
}

fn shelf(place: &str) -> &str {
    place.split_once('/').expect("a shelf and a folder").0
}

fn height(place: &str) -> usize {
    SHELVES.iter().position(|&known| known == shelf(place)).expect("a shelf that is known")
}

/// The arrows of `house` that point up, and those of libraries that leave their shelf.
fn wrong_arrows(house: &BTreeMap<String, Room>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (place, room) in house {
        for used in room.uses.iter().filter(|used| height(used) > height(place)) {
            wrong.push(format!("{place} uses {used}, which stands higher"));
        }
        let known =
            |used: &str| shelf(used) == "evidence" || TESTS_REACH_UP.contains(&(place, used));
        for used in room.tests_use.iter().filter(|used| height(used) > height(place)) {
            if !known(used) {
                wrong.push(format!("tests of {place} use {used}, which stands higher"));
            }
        }
    }
    wrong
}

#[test]
fn no_arrow_points_up() {
    assert_eq!(wrong_arrows(&house()), Vec::<String>::new());
}

#[test]
fn an_arrow_that_points_up_is_seen() {
    let mut house = house();
    house.get_mut("libs/locks").expect("it is there").uses.insert("simulator/sim".into());
    house.get_mut("libs/ldu").expect("it is there").tests_use.insert("app/report".into());
    let wrong = wrong_arrows(&house);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
}

#[test]
fn every_exception_is_needed() {
    let house = house();
    for (place, used) in TESTS_REACH_UP {
        assert!(house[place].tests_use.contains(used), "{place} no longer uses {used}");
    }
}

/// The crates that `ARCHITECTURE.md` shows: below a heading ``### `libs/` `` the rows
/// ``| `locks` | its idea | `platform`, `preload/common` |``, whose last column is what it uses. A crate
/// of another shelf is written with its shelf.
fn drawn(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut drawn = BTreeMap::new();
    let mut shelf = None;
    let quoted = |text: &str| -> Vec<String> {
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    for line in page.lines() {
        if line.starts_with('#') {
            let heading = line.strip_prefix("### `").and_then(|line| line.strip_suffix("/`"));
            shelf = heading.filter(|name| SHELVES.contains(name));
        }
        let (Some(shelf), true) = (shelf, line.starts_with("| `")) else { continue };
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [name, _idea, uses] = cells[..] else { panic!("three columns, not {line}") };
        let place =
            |name: String| if name.contains('/') { name } else { format!("{shelf}/{name}") };
        let name = quoted(name).remove(0);
        drawn.insert(place(name), quoted(uses).into_iter().map(place).collect());
    }
    drawn
}

#[test]
fn the_map_shows_every_crate_and_what_it_uses() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let drawn = drawn(&page);
    let built: BTreeMap<_, _> = house().into_iter().map(|(name, room)| (name, room.uses)).collect();
    let names = |of: &BTreeMap<String, _>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&drawn), names(&built), "the crates drawn, and those that there are");
    for (name, uses) in &built {
        assert_eq!(&drawn[name], uses, "what {name} is drawn to use, and what it uses");
    }
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
