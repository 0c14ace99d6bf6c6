//! What is measured: a program to be started, or one that runs; and by which recorder.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use kilocore_command_line::{Destination, Failure, say};
use kilocore_lock_recorder::{ProcessScope, WhyUnseen, can_watch, unseen_by_preload};

use crate::launch;

/// A recorder of locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Recorder {
    /// A library under the program records every use of every pthread lock
    Preload,
    /// From outside, in short windows: the locks of any language that threads wait for
    Watch,
    /// Both at the same time: the library for pthread locks, watching for all else
    Both,
}

/// The program that is recorded: one to start, or one that runs.
#[derive(Debug, Args)]
pub(crate) struct Subject {
    /// What records the locks. Without this, both; only watch where a library under the program would
    /// not see them (Go, Java, static programs, those of musl or with ThreadSanitizer); and only
    /// preload where nothing may be watched
    #[arg(long, value_name = "RECORDER")]
    recorder: Option<Recorder>,
    /// Take a process that runs already, in the place of a command. It is watched until it ends,
    /// --duration is over or Ctrl-C
    #[arg(long, value_name = "PID", conflicts_with = "command")]
    pid: Option<u32>,
    /// With --pid: its descendants, too, and all processes of its service
    #[arg(long)]
    tree: bool,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options.
    /// {cores} or {threads} in them becomes the number of cores. Where standard output is no terminal,
    /// it is the program's alone, and the answer goes to standard error
    #[arg(trailing_var_arg = true, required_unless_present = "pid", value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl<'a> Choice<'a> {
    /// The command that is to be started, if one is.
    pub(crate) fn command(self) -> Option<&'a [OsString]> {
        match self {
            Choice::Preload(command) | Choice::Both(command) | Choice::Watch(command) => {
                Some(command)
            }
            Choice::Attach(..) => None,
        }
    }

    /// The same with another command.
    pub(crate) fn with_command(self, command: &[OsString]) -> Choice<'_> {
        match self {
            Choice::Preload(_) => Choice::Preload(command),
            Choice::Both(_) => Choice::Both(command),
            Choice::Watch(_) => Choice::Watch(command),
            Choice::Attach(pid, scope) => Choice::Attach(pid, scope),
        }
    }
}

/// What is to be measured, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Choice<'a> {
    /// Start this, with the library under it.
    Preload(&'a [OsString]),
    /// Start this, with the library under it, and watch it.
    Both(&'a [OsString]),
    /// Start this, and watch it.
    Watch(&'a [OsString]),
    /// Watch a process that runs, by its id.
    Attach(u32, ProcessScope),
}

impl Subject {
    /// Where the answer is printed: a program that is started prints as well.
    pub(crate) fn answer(&self) -> Destination {
        match self.pid {
            Some(_) => Destination::Stdout,
            None => Destination::beside_a_program(),
        }
    }

    /// What the options say.
    pub(crate) fn choice(&self) -> Result<Choice<'_>, Failure> {
        if let Some(pid) = self.pid {
            if matches!(self.recorder, Some(Recorder::Preload | Recorder::Both)) {
                return Err(Failure::new(
                    "nothing can be put under a process that runs already; leave out --recorder, or say \
                     --recorder watch",
                ));
            }
            return Ok(Choice::Attach(
                pid,
                if self.tree { ProcessScope::Tree } else { ProcessScope::Alone },
            ));
        }
        if self.tree {
            return Err(Failure::new(
                "--tree is about a process that runs already, which --pid names; of a program that \
                 is started, all processes are measured anyway",
            ));
        }
        let command = &self.command;
        Ok(match self.recorder {
            Some(Recorder::Preload) => Choice::Preload(command),
            Some(Recorder::Watch) => Choice::Watch(command),
            Some(Recorder::Both) => Choice::Both(command),
            None if self.instead().is_some() => Choice::Watch(command),
            None if can_watch() => Choice::Both(command),
            // Who may not watch is told by the other recorder what it does not see.
            None => Choice::Preload(command),
        })
    }

    /// Why the program is watched from outside although nobody has asked for that.
    fn instead(&self) -> Option<WhyUnseen> {
        let asked = self.recorder.is_some() || self.pid.is_some();
        let unseen = (!asked).then(|| unseen_by_preload(&self.command)).flatten()?;
        can_watch().then_some(unseen)
    }

    /// Says that the program is watched from outside because nothing can be put under it. Of
    /// languages with locks of their own nothing is said, as theirs are what is to be seen.
    pub(crate) fn tell_what_is_done_instead(&self) {
        if let Some(WhyUnseen::Obstacle(obstacle)) = self.instead() {
            let program = self.command[0].display().to_string();
            say(&format!(
                "'{program}' {}; it is watched from outside instead",
                launch::obstacle(obstacle)
            ));
        }
    }
}
