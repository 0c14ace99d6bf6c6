//! Counting which lines of data move with the locks of a program that has been recorded: it is run once
//! more, under QEMU.
//!
//! Whether that is possible is found out before anything is run. What goes wrong later costs the trace
//! only, and never the profile.

use std::ffi::OsString;
use std::path::PathBuf;

use kilocore_command_line::{Failure, say};
use kilocore_lock_profile::Trace;
use kilocore_lock_recorder::{Measured, can_trace, trace};

use crate::launch;

/// A program, and the plugin that traces it.
#[derive(Debug)]
pub(crate) struct LineCounter<'a> {
    command: &'a [OsString],
    plugin: PathBuf,
}

impl<'a> LineCounter<'a> {
    /// Makes sure that the program can be traced.
    pub(crate) fn new(command: &'a [OsString]) -> Result<Self, Failure> {
        let plugin = launch::library("libkilocore_numa_qemu.so")?;
        can_trace(command, plugin.clone())?;
        Ok(Self { command, plugin })
    }

    /// Runs it, if its first run ended well, and says what was not traced.
    pub(crate) fn count(self, measured: &mut Measured) {
        if !measured.status.success() || measured.interrupted || measured.time_was_up {
            say("the program is not run again under QEMU, as it did not end well by itself");
            return;
        }
        say(
            "running the program again under QEMU, without input or output, to count which lines of \
             data move with each lock",
        );
        match trace(self.command, self.plugin, &mut measured.profile) {
            Ok(()) => {
                measured.profile.trace.iter().flat_map(not_traced).for_each(|text| say(&text))
            }
            Err(error) => say(&error.to_string()),
        }
    }
}

/// What a trace leaves out.
fn not_traced(trace: &Trace) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some(path) = &trace.replaced_by {
        let what = if path.is_empty() { "another program" } else { path };
        texts.push(format!("the program executed {what}, which was not traced; trace that itself"));
    }
    if trace.forks > 0 {
        texts.push(format!(
            "processes that the program forked were not traced: there were {}",
            trace.forks
        ));
    }
    if trace.threads_not_traced > 0 {
        texts.push(format!(
            "{} threads were not traced, as too many lived",
            trace.threads_not_traced
        ));
    }
    if trace.exit_status != 0 {
        texts.push(format!("under QEMU the program ended with status {}", trace.exit_status));
    }
    texts
}
