//! Which profiles there are, and which published programs each stands for.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::Error;

/// How a profile's read-write locks are forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadWrite {
    /// As what they are, whatever the mutexes are.
    #[default]
    Kept,
    /// As mutexes: readers exclude one another, too.
    Mutex,
}

/// A profile and how it is compared.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The profile's file without `.json`.
    pub name: String,
    /// The programs of the published measurements that it stands for.
    pub programs: Vec<String>,
    /// How read-write locks are forecast.
    #[serde(default)]
    pub read_write: ReadWrite,
    /// Whether threads are taken never to wait for work.
    #[serde(default)]
    pub saturated: bool,
    /// What was measured here.
    pub load: String,
    /// What was different when the published measurement was made.
    pub differs: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    profile: Vec<Entry>,
}

/// Reads `index.toml` of a folder of profiles.
///
/// # Errors
/// [`struct@Error`] if it is missing or malformed.
pub fn read_index(folder: &Path) -> Result<Vec<Entry>, Error> {
    let path = folder.join("index.toml");
    let text = fs::read_to_string(&path).map_err(|e| Error::new(&path, e))?;
    let index: Index = toml::from_str(&text).map_err(|e| Error::new(&path, e))?;
    Ok(index.profile)
}
