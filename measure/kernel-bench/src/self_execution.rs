//! How a program that measures makes processes of itself.
//!
//! It executes itself anew, with words that its command line hands to [`helper`](crate::helper())
//! before anything else is done.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The word that makes a keeper.
pub(crate) const KEEPER: &str = "keeper";
/// The word that makes a worker; its assignment follows.
pub(crate) const WORKER: &str = "worker";

/// How this program is executed anew so that it calls [`helper`](crate::helper()).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helpers {
    /// The program.
    pub program: PathBuf,
    /// The words in front of those for [`helper`](crate::helper()).
    pub words: Vec<OsString>,
}

impl Helpers {
    pub(crate) fn command(&self, word: &str) -> Command {
        let mut command = Command::new(&self.program);
        if self.program.ends_with("self/exe") {
            // Lists of processes would show that.
            command.arg0("kilocore");
        }
        command.args(&self.words).arg(word);
        command
    }
}
