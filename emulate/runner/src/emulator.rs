//! What emulates.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kilocore_qemu::find;

use crate::{EmulateError, KeptRuns};

/// What emulates: QEMU with the plugin.
#[derive(Debug, Clone)]
pub struct Emulator {
    pub(crate) library: PathBuf,
    pub(crate) qemu: PathBuf,
    pub(crate) cpu: String,
    /// What was emulated before, and the folder in which this QEMU looks for files first, if it is there.
    kept: Option<(KeptRuns, PathBuf)>,
}

impl Emulator {
    /// That with the plugin `libkilocore_emulate_qemu.so` from here, with this QEMU or the one that is installed. The
    /// program finds a processor that has all that QEMU can do.
    ///
    /// # Errors
    /// If the plugin or QEMU is missing, or QEMU takes no plugins.
    pub fn new(library: &Path, qemu: Option<&Path>) -> Result<Self, EmulateError> {
        let library = kilocore_qemu::library(library)?;
        Ok(Self { library, qemu: find(qemu)?, cpu: "max".to_owned(), kept: None })
    }

    /// With another processor, as QEMU names it.
    #[must_use]
    pub fn with_processor(self, cpu: String) -> Self {
        Self { cpu, ..self }
    }

    /// With what was emulated before. Runs that ended well are kept there, and found again.
    #[must_use]
    pub fn keeping(self, runs: KeptRuns) -> Self {
        // Where that is not known, nobody can tell which files a program has found.
        let kept = kilocore_qemu::looks_first_in(&self.qemu).map(|elsewhere| (runs, elsewhere));
        Self { kept, ..self }
    }

    /// What was emulated before, unless this QEMU would look for the program's files elsewhere.
    pub(crate) fn runs(&self) -> Option<&KeptRuns> {
        let (runs, elsewhere) = self.kept.as_ref()?;
        let is_there = elsewhere
            .symlink_metadata()
            .map_or_else(|why| why.kind() != ErrorKind::NotFound, |_| true);
        (!is_there).then_some(runs)
    }
}
