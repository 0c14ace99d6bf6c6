//! A program that runs: it is started, says that it is ready, and tells the truth when it ends.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::planted::building::Built;
use crate::planted::truth::{Ready, Truth, UnreadableTruth};

/// Why a run has no truth.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program does not start, or cannot be talked to.
    #[error("{program}: {error}")]
    System { program: &'static str, error: io::Error },
    /// The program ended with another status than success.
    #[error("{program} ended with {status}")]
    Failed { program: &'static str, status: ExitStatus },
    /// What the program printed is not what it should be.
    #[error("{program}: {error}")]
    Unreadable { program: &'static str, error: UnreadableTruth },
}

/// A program that runs. It is killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    program: &'static str,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    ready: Ready,
}

impl Built {
    /// Starts the program as [`Built::command`] says, and waits until it is ready.
    ///
    /// # Errors
    /// If it does not start, or does not say that it is ready.
    pub fn start(
        &self,
        threads: usize,
        hold: Duration,
        think: Duration,
        seconds: Duration,
    ) -> Result<Running, RunError> {
        Running::start(self.program().name(), &self.command(threads, hold, think, seconds))
    }

    /// Starts the program like [`Built::start`]; but its threads do nothing before
    /// [`Running::begin`] is called.
    ///
    /// # Errors
    /// If it does not start, or does not say that it is ready.
    pub fn start_idle(
        &self,
        threads: usize,
        hold: Duration,
        think: Duration,
        seconds: Duration,
    ) -> Result<Running, RunError> {
        let mut command = self.command(threads, hold, think, seconds);
        command.push("--idle-start".into());
        Running::start(self.program().name(), &command)
    }
}

impl Running {
    fn start(program: &'static str, words: &[OsString]) -> Result<Running, RunError> {
        let system = |error| RunError::System { program, error };
        let [executable, arguments @ ..] = words else {
            return Err(system(io::ErrorKind::InvalidInput.into()));
        };
        let mut child = Command::new(executable)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(system)?;
        let input = child.stdin.take();
        let Some(output) = child.stdout.take() else {
            return Err(system(io::ErrorKind::BrokenPipe.into()));
        };
        let ready = Ready { pid: child.id(), lock: None, second: None };
        let mut running = Running { program, child, input, output: BufReader::new(output), ready };
        let line = running.line()?;
        running.ready =
            Ready::read(&line).map_err(|error| RunError::Unreadable { program, error })?;
        Ok(running)
    }

    fn system(&self, error: io::Error) -> RunError {
        RunError::System { program: self.program, error }
    }

    fn line(&mut self) -> Result<String, RunError> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|error| self.system(error))?;
        Ok(line)
    }

    /// Returns what the program said when it was ready.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Lets the threads of a program begin that was started idle, and waits until they have.
    ///
    /// # Errors
    /// If the program is not there any more.
    pub fn begin(&mut self) -> Result<(), RunError> {
        if let Some(mut input) = self.input.take() {
            input.write_all(b"\n").map_err(|error| self.system(error))?;
            self.line()?;
        }
        Ok(())
    }

    /// Asks the program to end before its time. It then tells the truth about the time until then.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn terminate(&self) -> Result<(), RunError> {
        let pid = i32::try_from(self.child.id())
            .map_err(|_| self.system(io::ErrorKind::InvalidData.into()))?;
        // SAFETY: the call touches no memory. The number is that of our child, which has not been
        // waited for, so that no other process can have it.
        match unsafe { libc::kill(pid, libc::SIGTERM) } {
            0 => Ok(()),
            _ => Err(self.system(io::Error::last_os_error())),
        }
    }

    /// Waits for the end of the program and returns the truth.
    ///
    /// # Errors
    /// If the program fails, or does not tell the truth.
    pub fn finish(mut self) -> Result<Truth, RunError> {
        let mut output = String::new();
        self.output.read_to_string(&mut output).map_err(|error| self.system(error))?;
        let status = self.child.wait().map_err(|error| self.system(error))?;
        // Java ends with this status after SIGTERM, whatever the program does.
        if !status.success() && status.code() != Some(128 + libc::SIGTERM) {
            return Err(RunError::Failed { program: self.program, status });
        }
        Truth::read(&output).map_err(|error| RunError::Unreadable { program: self.program, error })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
