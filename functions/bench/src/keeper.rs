//! The keeper: a process that makes, and removes, what would outlive the runner: folders and System
//! V semaphores.
//!
//! It reads requests from a pipe. The runner and all workers hold the other end of the pipe. When
//! the last of them has ended, killed or not, the pipe ends too, and the keeper removes everything
//! that it has made. It notes what it made before it answers a request. It runs in a session of its
//! own, so that no signal to the program's process group reaches it.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::self_execution::{Helpers, KEEPER};
use crate::{Refusal, sys};

/// A request to the keeper, as a line of JSON: `"Hello"`, `{"Folder":"/tmp"}`, `{"Semaphores":2}`.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    /// To say that it is there.
    Hello,
    /// To make a folder in this one.
    Folder(PathBuf),
    /// To make this many sets of one semaphore each.
    Semaphores(u32),
    /// To remove all folders and sets of semaphores that it has made.
    Clear,
}

/// The keeper's answer, as a line of JSON: `"Done"`, `{"Semaphores":[3,4]}`.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Done,
    Folder(PathBuf),
    Semaphores(Vec<i32>),
    Refused(Refusal),
}

/// The runner's handle of a keeper. When it is dropped, everything is removed.
#[derive(Debug)]
pub(crate) struct Keeper {
    child: Child,
    /// It is `None` once the keeper was told to end.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Keeper {
    /// Starts a keeper and waits until signals to this process group no longer reach it.
    pub(crate) fn start(helpers: &Helpers) -> Result<Self, Refusal> {
        let mut command = helpers.command(KEEPER);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: the function runs between fork and exec, and calls only functions that are
        // async-signal-safe.
        unsafe { command.pre_exec(leave_session) };
        let mut child =
            command.spawn().map_err(|error| Refusal::of("starting the keeper", &error))?;
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(answers.expect("it is piped"));
        let mut keeper = Self { child, requests, answers };
        keeper.ask(&Request::Hello)?;
        Ok(keeper)
    }

    /// Returns the end of the pipe that the workers have to hold as well.
    pub(crate) fn lifeline(&self) -> RawFd {
        self.requests.as_ref().expect("open until dropped").as_raw_fd()
    }

    /// Makes a folder in `parent` and returns its path.
    pub(crate) fn folder(&mut self, parent: &Path) -> Result<PathBuf, Refusal> {
        match self.ask(&Request::Folder(parent.to_owned()))? {
            Answer::Folder(path) => Ok(path),
            _ => Err(gone()),
        }
    }

    /// Makes sets of one System V semaphore each and returns their identifiers.
    pub(crate) fn semaphores(&mut self, sets: u32) -> Result<Vec<i32>, Refusal> {
        match self.ask(&Request::Semaphores(sets))? {
            Answer::Semaphores(sets) => Ok(sets),
            _ => Err(gone()),
        }
    }

    /// Removes everything that was made so far.
    pub(crate) fn clear(&mut self) -> Result<(), Refusal> {
        self.ask(&Request::Clear).map(drop)
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, Refusal> {
        let pipe = self.requests.as_mut().ok_or_else(gone)?;
        let text = serde_json::to_string(request).map_err(|_| gone())?;
        writeln!(pipe, "{text}").and_then(|()| pipe.flush()).map_err(|_| gone())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|_| gone())?;
        match serde_json::from_str(&line).map_err(|_| gone())? {
            Answer::Refused(refusal) => Err(refusal),
            answer => Ok(answer),
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // The end of the pipe is the order to clean up. The keeper ends when it has done that.
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}

fn gone() -> Refusal {
    Refusal::Died { how: "the process that cleans up no longer answering".to_owned() }
}

/// Leaves the session and the process group, and ignores the signals of a terminal.
fn leave_session() -> io::Result<()> {
    // SAFETY: the call is async-signal-safe and touches no memory of this process.
    if unsafe { libc::setsid() } < 0 {
        return Err(io::Error::last_os_error());
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
        // SAFETY: to ignore a signal installs no handler. It stays ignored after exec.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    Ok(())
}

/// What the keeper's process does: it answers requests until the pipe ends, and then cleans up.
pub(crate) fn serve() -> ExitCode {
    let mut kept = HeldResources::default();
    // Its current folder would keep a file system busy.
    let _ = std::env::set_current_dir("/");
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Ok(request) =
            line.map_err(|_| ()).and_then(|l| serde_json::from_str(&l).map_err(|_| ()))
        else {
            break;
        };
        let answer = kept.carry_out(&request).unwrap_or_else(Answer::Refused);
        let Ok(text) = serde_json::to_string(&answer) else { break };
        // If nobody is left to read the answer, the pipe of requests ends, too.
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
    kept.clear();
    ExitCode::SUCCESS
}

/// What a keeper has made and not removed yet.
#[derive(Debug, Default)]
struct HeldResources {
    folders: Vec<PathBuf>,
    semaphores: Vec<i32>,
}

impl HeldResources {
    fn carry_out(&mut self, request: &Request) -> Result<Answer, Refusal> {
        match request {
            Request::Hello => Ok(Answer::Done),
            Request::Folder(parent) => self.folder(parent).map(Answer::Folder),
            Request::Semaphores(sets) => self.sets(*sets).map(Answer::Semaphores),
            Request::Clear => {
                self.clear();
                Ok(Answer::Done)
            }
        }
    }

    fn folder(&mut self, parent: &Path) -> Result<PathBuf, Refusal> {
        let made = tempfile::Builder::new().prefix("kilocore-bench-").tempdir_in(parent);
        let folder = made
            .map_err(|error| Refusal::Scratch {
                folder: parent.to_owned(),
                error: error.to_string(),
            })?
            .keep();
        self.folders.push(folder.clone());
        Ok(folder)
    }

    fn sets(&mut self, sets: u32) -> Result<Vec<i32>, Refusal> {
        let before = self.semaphores.len();
        for _ in 0..sets {
            // SAFETY: the call touches no memory of this process.
            let set = unsafe { libc::semget(libc::IPC_PRIVATE, 1, 0o600) };
            self.semaphores.push(sys::check("semget", set)?);
        }
        Ok(self.semaphores[before..].to_vec())
    }

    /// Removes everything. It tries several times, because children of a killed worker may make
    /// files for a moment longer.
    fn clear(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(10);
        for set in self.semaphores.drain(..) {
            // SAFETY: the call touches no memory of this process, and the set is the keeper's own.
            unsafe { libc::semctl(set, 0, libc::IPC_RMID) };
        }
        let begin = Instant::now();
        for folder in self.folders.drain(..) {
            while std::fs::remove_dir_all(&folder).is_err()
                && folder.exists()
                && begin.elapsed() < PATIENCE
            {
                std::thread::yield_now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_exists(set: i32) -> bool {
        // SAFETY: touches no memory of ours.
        unsafe { libc::semctl(set, 0, libc::GETVAL) >= 0 }
    }

    #[test]
    fn what_was_made_is_there_until_cleared() {
        let parent = tempfile::tempdir().unwrap();
        let mut kept = HeldResources::default();
        let folder = kept.folder(parent.path()).unwrap();
        std::fs::create_dir(folder.join("a")).unwrap();
        std::fs::write(folder.join("a/b"), "c").unwrap();
        let sets = kept.sets(2).unwrap();
        assert!(sets.iter().all(|&set| set_exists(set)));
        kept.clear();
        assert!(!folder.exists() && sets.iter().all(|&set| !set_exists(set)));
    }

    #[test]
    fn a_folder_where_none_can_be_made_is_refused() {
        let refused = HeldResources::default().folder(Path::new("/nonexistent")).unwrap_err();
        assert!(matches!(refused, Refusal::Scratch { .. }), "{refused}");
    }
}
