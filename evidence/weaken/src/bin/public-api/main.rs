//! Lists what the libraries offer, and says what of it has changed.
//!
//! ```text
//! kilocore-public-api [--accept]
//! ```
//!
//! The list of a library is the file `public-api.txt` beside its manifest. It is made from what `rustdoc`
//! knows, so it has what macros make, which traits a type implements, and whether it is `Send` and `Sync`.
//! Without arguments the lists are compared with the sources: the exit status is 1 if they differ, and 2 if
//! the program cannot tell. `--accept` writes the lists anew.
//!
//! `rustdoc` prints what it knows as JSON if a switch is given that is meant for nightly compilers. The
//! environment variable `RUSTC_BOOTSTRAP` makes the stable one take it. The format may change from one
//! compiler to the next; what cannot be read is an error that names the format.

mod difference;
mod listing;
mod types;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::listing::listing;

/// The libraries, by their folders.
const LIBRARIES: [&str; 7] = ["platform", "locks", "ldu", "lru", "buffer-pool", "pages", "numa"];

/// With which features a library is listed.
#[derive(Debug, Clone, Copy)]
enum Features {
    None,
    All,
}

fn main() -> ExitCode {
    let accepts = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--accept") => true,
        Some(other) => {
            eprintln!(
                "kilocore-public-api: the argument {other} is not known: there is only --accept"
            );
            return ExitCode::from(2);
        }
    };
    let mut changed = false;
    for library in LIBRARIES {
        match list(library).and_then(|list| compare(library, &list, accepts)) {
            Ok(same) => changed |= !same,
            Err(error) => {
                eprintln!("kilocore-public-api: {error}");
                return ExitCode::from(2);
            }
        }
    }
    if changed {
        eprintln!(
            "If the change is meant, say so in the library's CHANGELOG.md, and run: make public-api"
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What `library` offers without any feature, and what its features add.
fn list(library: &str) -> Result<String, String> {
    let least = listing(&described(library, Features::None)?)?;
    let most = listing(&described(library, Features::All)?)?;
    let mut list = format!(
        "# What kilocore-{library} offers, made by `make public-api`. A line that ends with {} needs a feature.\n",
        difference::NEEDS_FEATURE
    );
    list.push_str(&difference::merge(&least, &most));
    Ok(list)
}

/// What `rustdoc` knows of `library`.
fn described(library: &str, features: Features) -> Result<serde_json::Value, String> {
    let root = root();
    let (features, folder) = match features {
        Features::None => ("--no-default-features", "without-features"),
        Features::All => ("--all-features", "with-features"),
    };
    // Folders of their own: else what is built with the variable would be built again without it, and
    // each list anew each time.
    let target = root.join("target/public-api").join(folder);
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "rustdoc",
            "--locked",
            "--lib",
            "--package",
            &format!("kilocore-{library}"),
            features,
        ])
        .args(["--", "-Zunstable-options", "--output-format=json", "--cap-lints=allow"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(&root)
        .output()
        .map_err(|error| format!("cargo rustdoc cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo rustdoc of libs/{library} failed: {said}"));
    }
    let file = target.join(format!("doc/kilocore_{}.json", library.replace('-', "_")));
    let text = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Compares `list` with the file of `library`, and returns whether they are the same. Says where they are
/// not, unless the new list is accepted: then it is written.
fn compare(library: &str, list: &str, accepts: bool) -> Result<bool, String> {
    let file = root().join("libs").join(library).join("public-api.txt");
    if accepts {
        fs::write(&file, list).map_err(|error| format!("{}: {error}", file.display()))?;
        return Ok(true);
    }
    let known = fs::read_to_string(&file)
        .map_err(|error| format!("{}: {error}: make it by `make public-api`", file.display()))?;
    let differences = difference::differences(&known, list);
    if !differences.is_empty() {
        eprintln!(
            "kilocore-{library} offers something else than libs/{library}/public-api.txt says:"
        );
        for line in &differences {
            eprintln!("    {line}");
        }
    }
    Ok(differences.is_empty())
}
