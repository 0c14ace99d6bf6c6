//! What a task is given, and what it reports.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kilocore_points::{Key, Report};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::whole_file;

/// The format of a task's file, and its version.
pub(crate) const SCHEMA: &str = "kilocore-task/1";

/// The bytes that a file of a task may have. Those of a million points have less.
const MOST_BYTES: u64 = 128 << 20;

/// What a task is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskDocument {
    pub(crate) schema: String,
    /// The folder of points.
    pub(crate) points: PathBuf,
    /// After so many seconds it begins no other part.
    pub(crate) seconds: u64,
    pub(crate) parts: Vec<Part>,
}

/// What one process of it computes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) program: PathBuf,
    /// The command's other words.
    pub(crate) words: Vec<String>,
    pub(crate) keys: BTreeSet<Key>,
}

/// What a task reports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskReport {
    /// The parts that have ended, which are the first ones.
    pub(crate) parts: Vec<EndedPart>,
    /// Whether the task has ended. Parts beyond those were not begun then.
    pub(crate) ended: bool,
}

/// How a part ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndedPart {
    /// What its process has reported. None if it was lost.
    pub(crate) report: Option<Report>,
    /// How its process ended.
    pub(crate) how: String,
}

/// Reads a file of JSON that is not longer than any of ours.
pub(crate) fn read<T: DeserializeOwned>(file: &Path) -> io::Result<T> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Writes a file of JSON. Who reads it finds it whole or as it was, also after the machine has failed.
pub(crate) fn write(file: &Path, document: &impl Serialize) -> io::Result<()> {
    whole_file::write(file, &serde_json::to_vec(document)?, None)
}
