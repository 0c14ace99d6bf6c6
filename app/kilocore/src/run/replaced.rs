//! What puts other locks under a program.

use std::ffi::OsString;
use std::path::PathBuf;

use kilocore_command_line::Failure;

use crate::launch;

/// The locks in the place of a program's own. Those that are not named stay as they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replaced {
    /// In the place of its mutexes.
    pub(crate) lock: Option<&'static str>,
    /// In the place of its read-write locks.
    pub(crate) rwlock: Option<&'static str>,
}

impl Replaced {
    /// The library that is preloaded under the program. Refuses one whose locks would stay as they are.
    pub(super) fn library(self, command: &[OsString]) -> Result<PathBuf, Failure> {
        let library = launch::library("libkilocore_run.so")?;
        launch::check_locks_are_replaced(command)?;
        Ok(library)
    }

    /// The variables that say which locks. What is not named is not replaced either, whatever the environment
    /// says.
    pub(super) fn variables(self) -> [(OsString, OsString); 2] {
        [("KILOCORE_LOCK", self.lock), ("KILOCORE_RWLOCK", self.rwlock)]
            .map(|(name, lock)| (name.into(), lock.unwrap_or_default().into()))
    }

    /// The whole environment of a program under these locks, beside this process's.
    pub(crate) fn environment(
        self,
        command: &[OsString],
    ) -> Result<Vec<(OsString, OsString)>, Failure> {
        let library = self.library(command)?;
        let preload = kilocore_process::preload_all(&[&library]);
        Ok(self.variables().into_iter().chain(preload).collect())
    }
}
