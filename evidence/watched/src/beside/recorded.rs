//! One run of a real program under a recorder.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use kilocore_lock_profile::{Lock, Profile, ProfileError};

use crate::beside::forecast::{Forecast, UnreadableForecast};
use crate::beside::program::RealProgram;

/// The machine, the cores and the locks of the forecasts.
const FORECAST: [&str; 6] =
    ["--machine", "xeon-8375c-2s", "--cores", "1,8,48", "--lock", "futex,mcs"];

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// How locks are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorder {
    /// By a library under the program.
    Preload,
    /// By watching the program from outside: switches of its threads, and watchpoints.
    Watch,
}

/// What a recorder says of a run, and what is forecast from it.
#[derive(Debug)]
pub struct Recorded {
    /// The lock profile that the recorder wrote.
    pub profile: Profile,
    /// What `kilocore forecast` makes of that profile.
    pub forecast: Forecast,
}

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A package is missing.
    #[error("{0} is not installed; type `apt-get install {0}`")]
    Missing(String),
    /// Something that was started failed.
    #[error("{command}: {status}\n{text}")]
    Failed {
        /// The command line that was started.
        command: String,
        /// The status with which it ended.
        status: ExitStatus,
        /// What it wrote to its standard error.
        text: String,
    },
    /// A server does not answer.
    #[error("{0} does not answer at its port")]
    Silent(&'static str),
    /// The profile cannot be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The forecast cannot be read.
    #[error(transparent)]
    Forecast(#[from] UnreadableForecast),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

impl Recorded {
    /// Prepares a folder for a program's runs.
    ///
    /// # Errors
    /// If a package is missing, or the preparation fails.
    pub fn prepare(program: &RealProgram, folder: &Path) -> Result<(), RecordError> {
        let missing = program.missing();
        if !missing.is_empty() {
            return Err(RecordError::Missing(missing.join(" ")));
        }
        if let Some((.., load)) = program.client(folder, 0) {
            std::fs::write(folder.join("load"), load)?;
        }
        match program.preparation(folder).as_slice() {
            [] => Ok(()),
            words => output(&mut command(words)).map(drop),
        }
    }

    /// Runs a program under a recorder of the program at `kilocore`, in a folder that is prepared.
    ///
    /// # Errors
    /// If one of the two fails, or says nothing.
    pub fn run(
        kilocore: &Path,
        program: &RealProgram,
        recorder: Recorder,
        folder: &Path,
    ) -> Result<Self, RecordError> {
        let file = folder.join("profile.json");
        // That of the run before must not be taken for that of this one.
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let how = match recorder {
            Recorder::Preload => "preload",
            Recorder::Watch => "watch",
        };
        let mut measured = Command::new(kilocore);
        measured.args(["record", "locks", "--recorder", how, "--output"]).arg(&file).arg("--");
        measured.args(program.command(folder, port));
        match program.client(folder, port) {
            None => drop(output(&mut measured)?),
            Some((asks, works, _)) => {
                let silenced = measured.stdout(Stdio::null()).stderr(Stdio::null());
                let mut server = Server(silenced.spawn()?);
                server.until_it_answers(program, &asks)?;
                output(&mut command(&works))?;
                server.end()?;
            }
        }
        let profile = Profile::read(&file)?;
        // Of a program that takes no lock, as far as is known, there is nothing to forecast.
        let takes = |lock: &Lock| {
            let precision = lock.precision.as_ref();
            lock.uses() > 0 && precision.is_none_or(|precision| precision.acquisitions.is_some())
        };
        let processes = profile.runs.first().map(|run| run.processes.as_slice());
        let mut locks = processes.unwrap_or_default().iter().flat_map(|process| &process.locks);
        if !locks.any(takes) {
            return Ok(Self { profile, forecast: Forecast::without_locks() });
        }
        let mut predicted = Command::new(kilocore);
        let text = output(predicted.arg("forecast").arg(&file).args(FORECAST).arg("--json"))?;
        Ok(Self { profile, forecast: Forecast::read(&text)? })
    }
}

/// Kilocore with a server under it. It is asked to end when it is dropped.
struct Server(Child);

impl Server {
    fn until_it_answers(
        &mut self,
        program: &RealProgram,
        asks: &[String],
    ) -> Result<(), RecordError> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end && self.0.try_wait()?.is_none() {
            let asked = command(asks).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
            if asked.success() {
                return Ok(());
            }
            sleep(Duration::from_millis(20));
        }
        Err(RecordError::Silent(program.name))
    }

    /// Asks it to end, which Kilocore passes on to the server, and waits for that.
    fn end(&mut self) -> Result<(), RecordError> {
        if self.0.try_wait()?.is_none() {
            let mut asks = Command::new("kill");
            output(asks.args(["-TERM", &self.0.id().to_string()]))?;
            self.0.wait()?;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.end().is_err() {
            drop(self.0.kill());
            drop(self.0.wait());
        }
    }
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(words.iter().skip(1));
    command
}

fn output(command: &mut Command) -> Result<String, RecordError> {
    let output = command.stdin(Stdio::null()).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let name = command.get_program().to_string_lossy().into_owned();
    let status = output.status;
    Err(RecordError::Failed { command: name, status, text: text(&output.stderr) })
}
