//! What `kilocore-forecast` is built with: the files of its folder `data`.

use std::path::Path;

use super::{Comparison, section};
use crate::data::DataSet;
use crate::published::PublishedGains;

/// The texts of the files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// How far forecast gains were from measured ones, by lock.
    gain_errors: String,
    /// How locks did for the programs that were measured.
    published_gains: String,
}

impl Kept {
    /// What comparisons and measurements say; `None` without a comparison.
    #[must_use]
    pub fn of(comparisons: &[Comparison], sets: &[DataSet]) -> Option<Self> {
        let gain_errors = section::gain_errors_file(comparisons)?;
        Some(Self { gain_errors, published_gains: PublishedGains::of(sets).file() })
    }

    /// Writes the files into the folder, each whole or not at all.
    ///
    /// # Errors
    /// Which file could not be written, and why.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        let files = [
            ("gain-errors.csv", &self.gain_errors),
            ("published-gains.csv", &self.published_gains),
        ];
        for (name, text) in files {
            let path = folder.join(name);
            kilocore_show::write_whole(&path, text).map_err(|e| {
                let path = path.display();
                format!("cannot write {path}: {e}; choose a folder that may be written to")
            })?;
        }
        Ok(())
    }
}
