//! How a program that measures makes its helper processes.
//!
//! The program executes itself anew, with additional words on the command line. The new process
//! hands these words to [`helper`](crate::helper()) before it does anything else.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The word that makes the process a keeper.
pub(crate) const KEEPER: &str = "keeper";
/// The word that makes the process a worker. The worker's assignment follows it.
pub(crate) const WORKER: &str = "worker";

/// The command by which this program is executed anew so that it calls [`helper`](crate::helper()).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helpers {
    /// The path of the program.
    pub program: PathBuf,
    /// The words that stand before those for [`helper`](crate::helper()).
    pub words: Vec<OsString>,
}

impl Helpers {
    pub(crate) fn command(&self, word: &str) -> Command {
        let mut command = Command::new(&self.program);
        if self.program.ends_with("self/exe") {
            // Otherwise, lists of processes would show `/proc/self/exe` as the name.
            command.arg0("kilocore");
        }
        command.args(&self.words).arg(word);
        command
    }
}
