//! The machines that come with Kilocore.
//!
//! # How to add a machine
//! 1. Write its file, as `docs/guide/machines.md` says, and put it into `sim/machine/machines/`. Give
//!    every figure a `source` (a publication or a measurement), or say in `estimated` how you came by
//!    it. `docs/formats/machine-files.md` says what each figure means.
//! 2. Add its name to the table below, its size to the test `sizes_are_those_of_the_machines` in
//!    `tests/builtin.rs`, and a row to `docs/guide/machines.md`.
//! 3. `cargo test -p kilocore-machine` checks it; `kilocore list machines NAME` prints it.
//!
//! A machine that is only yours needs none of this: every command takes the path of a machine file
//! where it takes a name.

use std::path::Path;

use crate::names::UnknownName;

use crate::{Description, MachineError};

/// A machine file that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// The name by which users ask for it.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

impl Builtin {
    /// Parses the file. The tests of this crate parse every one.
    ///
    /// # Errors
    /// As [`Description::parse`]; never for a file that passed the tests.
    pub fn description(&self) -> Result<Description, MachineError> {
        Description::parse(self.text, self.name)
    }
}

macro_rules! machines {
    ($($name:literal),* $(,)?) => {
        &[$(Builtin {
            name: $name,
            text: include_str!(concat!("../machines/", $name, ".toml")),
        }),*]
    };
}

/// Every built-in machine, by name. A new machine is a file in `machines/` and a line here.
static BUILTIN: &[Builtin] = machines![
    "core-i7-6700",
    "epyc-7742-2s",
    "epyc-9554-2s",
    "hypothetical-1024",
    "knl-7210",
    "opteron-6344-4s",
    "opteron-8356-8s",
    "xeon-8375c-2s",
    "xeon-e5345-2s",
    "xeon-e7-4830v3-4s",
    "xeon-e7-4860-4s",
    "xeon-e7-8870v2-8s",
    "xeon-gold-6338-1s",
];

/// Returns the built-in machines, ordered by name.
#[must_use]
pub fn builtin() -> &'static [Builtin] {
    BUILTIN
}

/// Returns the built-in machine with this name, or the machine in the file with this path. A text
/// that ends in `.toml` or contains a `/` is a path.
///
/// # Errors
/// [`MachineError::Unknown`] for an unknown name, [`MachineError::Unreadable`] for a file that
/// cannot be read, and as [`Description::parse`].
pub fn find(name_or_path: &str) -> Result<Description, MachineError> {
    if let Some(known) = BUILTIN.iter().find(|known| known.name == name_or_path) {
        return known.description();
    }
    if name_or_path.ends_with(".toml") || name_or_path.contains('/') {
        return read(Path::new(name_or_path));
    }
    Err(UnknownName::new("machine", name_or_path, BUILTIN.iter().map(|known| known.name)).into())
}

/// Returns whether a text looks like a machine file, be it complete or not: it has some of the fields that
/// each has.
#[must_use]
pub fn is_likely(text: &str) -> bool {
    const SIGNS: [&str; 4] = ["schema", "clock_ghz", "[topology]", "[latency]"];
    let has = |sign: &&&str| text.lines().any(|line| line.trim_start().starts_with(**sign));
    SIGNS.iter().filter(has).count() >= 2
}

/// The largest machine file that is read. Real ones have some ten kilobytes. A larger one is a
/// mistaken path, for example that of an endless device.
const LONGEST_FILE: u64 = 1 << 20;

/// Reads a machine file.
///
/// # Errors
/// If it cannot be read or is no valid machine file.
pub fn read(path: &Path) -> Result<Description, MachineError> {
    use std::io::Read;
    let name = path.display().to_string();
    let unreadable = |reason: String| MachineError::Unreadable { path: name.clone(), reason };
    let file = std::fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(LONGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(unreadable("it is longer than 1 MiB".to_owned()));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| unreadable(format!("it is not UTF-8 text: {error}")))?;
    Description::parse(&text, &name)
}
