//! Starting the program and waiting for its end.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use kilocore_linux::die_with_parent;

use crate::certain_end::wait_or_kill;
use crate::gate::{self, BeforeExec, NotStarted};
use crate::observe::{Observer, Outlet, Pumps};
use crate::orphans::Orphans;
use crate::signals::Forwarding;
use crate::{CpuId, Input, confine, inherited, input};

/// Called with the program's process id as soon as it is being executed.
pub type OnStart<'a> = Box<dyn FnOnce(libc::pid_t) + 'a>;

/// Where the program's standard output and standard error go.
#[derive(Debug, Clone, Copy, Default)]
pub enum Output<'a> {
    /// To where this process's own go.
    #[default]
    Inherited,
    /// Both to this process's standard error.
    ToStderr,
    /// To nowhere: what it writes is dropped.
    Discarded,
    /// To these two files, which may be the same.
    To {
        /// The file for standard output.
        stdout: BorrowedFd<'a>,
        /// The file for standard error.
        stderr: BorrowedFd<'a>,
    },
}

/// How to start a program.
#[derive(Default)]
pub struct Start<'a> {
    /// The program and its arguments.
    pub command: &'a [OsString],
    /// Variables of its environment, beside those of this process's.
    pub environment: Vec<(OsString, OsString)>,
    /// Variables of this process's environment that it does not get.
    pub without: &'a [&'a str],
    /// The cores it may run on; all those of this process if none are named.
    pub cores: Option<&'a [CpuId]>,
    /// Where its standard input comes from.
    pub input: Input,
    /// Where its output goes.
    pub output: Output<'a>,
    /// Who sees the output as well. The program then writes to pipes: if it asks, its output is
    /// no terminal, and the C library's buffers it by blocks instead of lines.
    pub observer: Option<&'a dyn Observer>,
    /// What to do while its process waits to execute it.
    pub before_exec: Option<BeforeExec<'a>>,
    /// What to do once it is being executed.
    pub on_start: Option<OnStart<'a>>,
    /// Whether descendants of the program that lose their parents, as daemons do on purpose, become
    /// children of this process instead of the system's first one, so that they stay findable.
    ///
    /// They are waited for while the program runs. For that, *every* child of this process is
    /// waited for: only for processes that start nothing else meanwhile.
    pub adopt_orphans: bool,
    /// Whether other programs may run at the same time that say so, too: at most 64. A signal is passed on to all
    /// of them, and they must not adopt orphans.
    pub beside_others: bool,
    /// Whether the program is ended for certain: it is killed if it has not ended a second after a signal was passed on
    /// to it, and when this process ends before it, in whatever way. That is for programs that do not listen while they
    /// work and have nothing to put right. Others may want to handle signals themselves, and outlast who starts them.
    pub ends_for_certain: bool,
}

impl fmt::Debug for Start<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start")
            .field("command", &self.command)
            .field("environment", &self.environment)
            .field("cores", &self.cores)
            .field("output", &self.output)
            .field("observed", &self.observer.is_some())
            .finish_non_exhaustive()
    }
}

/// How a program ended.
#[derive(Debug)]
pub struct End {
    /// What the system says.
    pub status: ExitStatus,
    /// Whether somebody asked it to end: it may have ended as if all were well all the same.
    pub interrupted: bool,
    /// The first signal by which somebody did. If this process was sent none, that of a terminal's key, `SIGINT` or
    /// `SIGQUIT`, which ended the program.
    pub told_by: Option<libc::c_int>,
    /// From the moment before its execution to its end, by the clock on the wall.
    pub elapsed: Duration,
    /// Processor time in user space, of the program and of all children that were waited for.
    pub user: Duration,
    /// Processor time in the kernel, of the same.
    pub system: Duration,
    /// How often one of these gave up its core by its own will, to wait for something.
    pub voluntary_switches: u64,
    /// The most memory that one of these processes took, in bytes.
    pub most_memory: u64,
    /// Why observed output could not be passed on; the program then saw its pipe break. That the
    /// reader of this process's output went away is no failure and not told.
    pub output_failure: Option<io::Error>,
}

/// Runs the program to its end.
///
/// `SIGINT`, `SIGTERM`, `SIGHUP` and `SIGQUIT` sent to this process meanwhile are passed on to it.
/// Handlers are the process's: of several calls at a time, all but one wait, unless they run
/// [beside others](Start::beside_others).
///
/// # Errors
/// That it could not be started. How it ended is no error.
pub fn run(start: Start<'_>) -> Result<End, NotStarted> {
    let forwarding = Forwarding::begin(start.beside_others);
    let (program, arguments) = start
        .command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no program was named"))?;
    let mut command = Command::new(program);
    for name in start.without {
        command.env_remove(name);
    }
    command.args(arguments).envs(start.environment);
    match start.input {
        Input::Inherited => {}
        Input::Empty => drop(command.stdin(Stdio::null())),
        Input::Repeated => drop(command.stdin(input::repeated())),
    }
    let pumps = match start.observer {
        Some(observer) => {
            let (pumps, stdout, stderr) = Pumps::new(outlets(start.output)?, observer)?;
            command.stdout(stdout).stderr(stderr);
            Some(pumps)
        }
        None => {
            direct(&mut command, start.output)?;
            None
        }
    };
    if let Some(cores) = start.cores {
        let cores = cores.to_vec();
        // SAFETY: between fork and exec, calls only what is async-signal-safe and allocates
        // nothing.
        unsafe { command.pre_exec(move || confine(&cores)) };
    }
    if start.ends_for_certain {
        let starter = std::process::id();
        // SAFETY: between fork and exec, calls only what is async-signal-safe and allocates nothing. This thread, whose
        // end would kill the program, waits for that.
        unsafe { command.pre_exec(move || die_with_parent(starter)) };
    }
    inherited::keep(&mut command, forwarding.children_ignored());
    let orphans = Orphans::adopt(start.adopt_orphans);
    let (child, began) = gate::spawn(&mut command, start.before_exec)?;
    // With the command go this process's ends of the program's pipes.
    drop(command);
    let pid = child.id() as libc::pid_t;
    forwarding.to(pid);
    if let Some(on_start) = start.on_start {
        on_start(pid);
    }
    let wait = || match start.ends_for_certain {
        true => wait_or_kill(pid, || orphans.wait(pid)),
        false => orphans.wait(pid),
    };
    let (mut ended, output_failure) = match pumps {
        None => (wait(), None),
        Some(pumps) => pumps.run(start.cores, wait),
    };
    forwarding.to_nobody();
    let status = orphans.reap(pid, &mut ended)?;
    let told_by = forwarding.end().or_else(|| by_a_key(status));
    Ok(End {
        status,
        interrupted: told_by.is_some(),
        told_by,
        elapsed: Duration::from_nanos(ended.at.saturating_sub(began)),
        user: ended.user,
        system: ended.system,
        voluntary_switches: ended.voluntary_switches,
        most_memory: ended.most_memory,
        output_failure,
    })
}

/// The signal of a terminal's key that ended the program. This process was sent it as well, and another thread may be
/// about to handle it.
fn by_a_key(status: ExitStatus) -> Option<libc::c_int> {
    status.signal().filter(|signal| [libc::SIGINT, libc::SIGQUIT].contains(signal))
}

/// Where pumps pour what they took.
fn outlets(output: Output<'_>) -> io::Result<[Outlet; 2]> {
    Ok(match output {
        Output::Inherited => [own(io::stdout().as_fd())?, own(io::stderr().as_fd())?],
        Output::ToStderr => [own(io::stderr().as_fd())?, own(io::stderr().as_fd())?],
        Output::Discarded => [None, None],
        Output::To { stdout, stderr } => [own(stdout)?, own(stderr)?],
    })
}

fn own(file: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    file.try_clone_to_owned().map(Some)
}

/// Connects output that nobody observes.
fn direct(command: &mut Command, output: Output<'_>) -> io::Result<()> {
    match output {
        Output::Inherited => {}
        Output::ToStderr => {
            command.stdout(io::stderr().as_fd().try_clone_to_owned()?);
        }
        Output::Discarded => {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        Output::To { stdout, stderr } => {
            command.stdout(stdout.try_clone_to_owned()?).stderr(stderr.try_clone_to_owned()?);
        }
    }
    Ok(())
}
