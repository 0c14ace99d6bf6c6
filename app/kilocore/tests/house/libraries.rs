//! What others adopt alone says all that they have to know: the libraries that `Makefile` lists.

use std::fs;
use std::path::PathBuf;

use super::{manifest, root};

/// The folders of the line `LIBRARIES := platform locks` of the `Makefile`.
fn libraries() -> Vec<PathBuf> {
    let makefile = read(root().join("Makefile"));
    let line = makefile.lines().find_map(|line| line.strip_prefix("LIBRARIES := "));
    let names = line.expect("it lists the libraries").split(' ');
    names.map(|name| root().join("libs").join(name)).collect()
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The libraries of which `is_right` does not hold, given their folder, manifest and README.
fn wrong(is_right: impl Fn(&PathBuf, &toml::Table, &str) -> bool) -> Vec<PathBuf> {
    let libraries = libraries();
    assert!(libraries.len() >= 7, "{libraries:?}");
    let is_wrong = |folder: &PathBuf| {
        !is_right(folder, &manifest(&folder.join("Cargo.toml")), &read(folder.join("README.md")))
    };
    libraries.into_iter().filter(is_wrong).collect()
}

fn package<'m>(manifest: &'m toml::Table, field: &str) -> &'m toml::Value {
    manifest["package"].get(field).unwrap_or_else(|| panic!("the manifest has no {field}"))
}

#[test]
fn all_state_one_minimum_version_of_rust_in_manifest_readme_and_changelog() {
    let first = manifest(&libraries()[0].join("Cargo.toml"));
    let stated = package(&first, "rust-version").as_str().expect("a version of its own").to_owned();
    let differing = wrong(|folder, manifest, readme| {
        package(manifest, "rust-version").as_str() == Some(&stated)
            && readme.contains(&format!("Minimum Rust version: Rust {stated}."))
            && read(folder.join("CHANGELOG.md")).contains(&format!("Rust {stated}"))
    });
    assert_eq!(differing, Vec::<PathBuf>::new(), "these do not state Rust {stated}");
}

#[test]
fn a_package_has_what_a_registry_asks_for() {
    let incomplete = wrong(|folder, manifest, _| {
        let words = |field| package(manifest, field).as_array().expect("a list").len();
        let licenses = ["LICENSE-MIT", "LICENSE-APACHE"];
        (1..=5).contains(&words("keywords"))
            && (1..=5).contains(&words("categories"))
            && package(manifest, "description").is_str()
            && package(manifest, "readme").as_str() == Some("README.md")
            && licenses.iter().all(|name| read(folder.join(name)) == read(root().join(name)))
    });
    assert_eq!(incomplete, Vec::<PathBuf>::new());
}

#[test]
fn the_readme_and_the_documentation_name_every_feature() {
    let silent = wrong(|folder, manifest, readme| {
        let documentation = read(folder.join("src/lib.rs"));
        let features =
            manifest.get("features").map(|features| features.as_table().expect("a table"));
        let mut names =
            features.into_iter().flat_map(toml::Table::keys).filter(|name| *name != "default");
        names.all(|name| {
            let is_documented =
                |line: &str| line.starts_with("//!") && line.contains(&format!("`{name}`"));
            readme.contains(&format!("| `{name}`")) && documentation.lines().any(is_documented)
        })
    });
    assert_eq!(silent, Vec::<PathBuf>::new());
}

#[test]
fn the_example_of_a_readme_is_compiled() {
    let unread = wrong(|folder, _, readme| {
        let included = read(folder.join("src/lib.rs")).contains("include_str!(\"../README.md\")");
        included && readme.contains("```rust")
    });
    assert_eq!(unread, Vec::<PathBuf>::new());
}

#[test]
fn a_changelog_speaks_of_the_version_that_the_manifest_has() {
    let workspace = manifest(&root().join("Cargo.toml"));
    let version =
        workspace["workspace"]["package"]["version"].as_str().expect("a version").to_owned();
    let behind = wrong(|folder, _, _| {
        read(folder.join("CHANGELOG.md"))
            .lines()
            .any(|line| line.starts_with(&format!("## {version}")))
    });
    assert_eq!(behind, Vec::<PathBuf>::new(), "no heading for {version}");
}
