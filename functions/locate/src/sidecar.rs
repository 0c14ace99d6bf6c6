//! Facts that a profile does not contain, in a JSON file beside it:
//!
//! ```text
//! { "schema": "kilocore-sidecar-1", "cores": 8, "work": "480000", "unit": "requests" }
//! ```
//!
//! `locate record` writes one for each profile; others may be written by hand. Every field except
//! the schema may be left out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kilocore_figures::Nanoseconds;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Work;

/// The facts about a recorded run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    /// The name of the format with its version: [`Sidecar::SCHEMA`].
    pub schema: String,
    /// How many cores the program had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// How much work it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    /// The unit of the work, such as `requests`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How long it took by the wall clock.
    #[serde(rename = "elapsed_ns", default, skip_serializing_if = "Option::is_none")]
    pub elapsed: Option<Nanoseconds>,
    /// The processor time that it took by the system's account.
    #[serde(rename = "processor_ns", default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<Nanoseconds>,
    /// How many samples were asked for in a second of processor time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_hz: Option<f64>,
    /// The program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What recorded it: `perf`, or `kilocore` for its own sampler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<String>,
    /// The name of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The release of the Linux kernel on which the profile was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

/// What every version has.
#[derive(Debug, Deserialize)]
struct Version {
    schema: String,
}

/// Why a sidecar cannot be used.
#[derive(Debug, Error)]
pub enum SidecarError {
    /// It cannot be read.
    #[error("cannot read {path}: {cause}")]
    Read {
        /// The path of the sidecar.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// It says something else than a sidecar does.
    #[error("{path}: {cause}; correct it, or remove it and say cores and work by options")]
    Content {
        /// The path of the sidecar.
        path: PathBuf,
        /// What is wrong, with line and column.
        cause: serde_json::Error,
    },
    /// It is of another kind or version.
    #[error("{path}: its schema is '{found}'; this version reads '{}'", Sidecar::SCHEMA)]
    Schema {
        /// The path of the sidecar.
        path: PathBuf,
        /// The schema that the file names.
        found: String,
    },
}

impl Sidecar {
    /// What the files are, and their version.
    pub const SCHEMA: &str = "kilocore-sidecar-1";
    /// What their names end in.
    pub const ENDING: &str = ".kilocore.json";
    /// No sidecar is larger, in bytes.
    const LARGEST: u64 = 1 << 20;

    /// One that says nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            cores: None,
            work: None,
            unit: None,
            elapsed: None,
            processor: None,
            frequency_hz: None,
            command: Vec::new(),
            recorder: None,
            host: None,
            kernel: None,
        }
    }

    /// Where a profile's is: beside it, its name with [`Sidecar::ENDING`] behind.
    #[must_use]
    pub fn path_of(profile: &Path) -> PathBuf {
        let mut name = OsString::from(profile.as_os_str());
        name.push(Self::ENDING);
        PathBuf::from(name)
    }

    /// The sidecar of a profile, if it has one.
    ///
    /// # Errors
    /// [`SidecarError`] if there is a file of that name that is no sidecar.
    pub fn of(profile: &Path) -> Result<Option<Self>, SidecarError> {
        use std::io::Read;

        let path = Self::path_of(profile);
        let mut text = String::new();
        let read = std::fs::File::open(&path)
            .and_then(|file| file.take(Self::LARGEST).read_to_string(&mut text));
        match read {
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(SidecarError::Read { path, cause }),
            Ok(_) => {}
        }
        // In another version, everything else may be different.
        if let Ok(Version { schema }) = serde_json::from_str(&text)
            && schema != Self::SCHEMA
        {
            return Err(SidecarError::Schema { path, found: schema });
        }
        let sidecar = serde_json::from_str(&text);
        sidecar.map(Some).map_err(|cause| SidecarError::Content { path, cause })
    }
}

impl Default for Sidecar {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Sidecar>, SidecarError> {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("perf.data");
        std::fs::write(Sidecar::path_of(&profile), text).unwrap();
        Sidecar::of(&profile)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let sidecar = Sidecar {
            cores: Some(8),
            work: "1234.5".parse().ok(),
            elapsed: Some(Nanoseconds(17)),
            ..Sidecar::new()
        };
        assert_eq!(read(&serde_json::to_string(&sidecar).unwrap()).unwrap(), Some(sidecar));
        assert!(Sidecar::of(Path::new("/nowhere/perf.data")).unwrap().is_none());
    }

    #[test]
    fn what_is_no_sidecar_is_refused_by_place() {
        let typo = r#"{"schema": "kilocore-sidecar-1", "core": 8}"#;
        let said = read(typo).unwrap_err().to_string();
        assert!(said.contains("unknown field `core`") && said.contains("line 1"), "{said}");
        let other = read(r#"{"schema": "other", "new": 1}"#).unwrap_err();
        assert!(matches!(other, SidecarError::Schema { .. }), "{other}");
        let number = read(r#"{"schema": "kilocore-sidecar-1", "work": 480000}"#).unwrap().unwrap();
        assert_eq!(number.work, Work::units(480_000).ok());
        let work = read(r#"{"schema": "kilocore-sidecar-1", "work": "0"}"#).unwrap_err();
        assert!(work.to_string().contains("no work at all"), "{work}");
        assert!(matches!(read("\u{0}").unwrap_err(), SidecarError::Content { .. }));
    }
}
