//! What another process asks of this one's points.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Key, Report};

/// The variable that names a file of [`Orders`].
pub const ORDERS: &str = "KILOCORE_POINTS";

/// The bytes that orders may have. Those for a million points have less.
const MOST_BYTES: u64 = 128 << 20;

/// What another process asks of this one's points. A file of them is JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// The folder below which points are kept beside those of the user.
    pub folder: PathBuf,
    /// The file into which a [`Report`] is written in the end, as JSON.
    pub report: PathBuf,
    /// The points to compute. If there are none, nothing is computed, and what is missing is reported.
    pub share: Option<BTreeSet<Key>>,
    /// On how many threads they are computed, at most; on as many as this process has cores if nothing is said.
    #[serde(default)]
    pub threads: Option<NonZero<usize>>,
    /// Whether hosts other than this process's may compute what is missing. A result that depends on this host's files is
    /// then none of it.
    #[serde(default)]
    pub has_other_hosts: bool,
}

/// Why orders cannot be followed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OrdersError {
    /// Their file cannot be read.
    #[error("the variable {ORDERS} names {}, which cannot be read: {source}; unset it", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Their file holds something else.
    #[error("the variable {ORDERS} names {}, which holds no orders: {source}; unset it", file.display())]
    NoOrders {
        /// The file.
        file: PathBuf,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// Points cannot be kept where they say.
    #[error("points cannot be kept in {}: {source}; choose a folder of your own that nobody else can write to", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Orders {
    /// Those that this process's environment names, if it does.
    ///
    /// # Errors
    /// If it names some that cannot be read.
    pub fn of_environment() -> Result<Option<Self>, OrdersError> {
        let named = std::env::var_os(ORDERS).filter(|name| !name.is_empty());
        named.map(|name| Self::read(Path::new(&name))).transpose()
    }

    fn read(file: &Path) -> Result<Self, OrdersError> {
        let mut bytes = Vec::new();
        File::open(file)
            .and_then(|opened| opened.take(MOST_BYTES).read_to_end(&mut bytes))
            .map_err(|source| OrdersError::Unreadable { file: file.to_owned(), source })?;
        serde_json::from_slice(&bytes)
            .map_err(|source| OrdersError::NoOrders { file: file.to_owned(), source })
    }
}

/// Writes a report. Whoever reads it finds it whole, or as it was.
pub(crate) fn write_report(file: &Path, report: &Report) -> io::Result<()> {
    let beside = file.with_extension("new");
    fs::write(&beside, serde_json::to_vec(report)?)?;
    fs::rename(beside, file)
}
