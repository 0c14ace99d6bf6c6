//! Saying which processes were not recorded, and how to mend that.

use kilocore_command_line::say;
use std::fmt::Write;

use kilocore_lock_profile::{Unrecorded, WhyUnrecorded};
use kilocore_lock_recorder::{Measured, Shortage};

/// The most processes that are named; the others are counted.
const MOST: usize = 6;

/// What was lost of a measurement.
#[derive(Debug)]
pub(crate) struct Lost {
    messages: Vec<String>,
    /// Whether nothing was recorded or traced, and that is why: then nobody can say that there were no
    /// locks.
    pub(crate) all: bool,
}

impl Lost {
    /// Of the first run, which is the one that counts.
    pub(crate) fn of(measured: &Measured) -> Self {
        let Some(run) = measured.profile.runs.first() else {
            return Self { messages: Vec::new(), all: false };
        };
        let unrecorded = run.outside.as_ref().map_or(&[][..], |outside| &outside.unrecorded);
        let nothing = run.processes.is_empty();
        let mut messages: Vec<String> = Vec::new();
        // What still runs has been recorded so far: if there is anything, that is no loss.
        let lost =
            unrecorded.iter().filter(|one| nothing || one.why != WhyUnrecorded::StillRunning);
        for one in lost {
            let message = message(one, shortage(measured, one));
            if !messages.contains(&message) {
                messages.push(message);
            }
        }
        if measured.never_began {
            messages.push(
                "the program ended before anything was to be recorded; begin earlier".to_owned(),
            );
        }
        let traced = measured.profile.trace.is_some();
        Self { all: nothing && !traced && !messages.is_empty(), messages }
    }

    /// Tells it on standard error.
    pub(crate) fn tell(&self) {
        for message in self.messages.iter().take(MOST) {
            say(message);
        }
        if self.messages.len() > MOST {
            say(&format!("not recorded, too: {} more programs", self.messages.len() - MOST));
        }
        if self.all {
            say("nothing was recorded, so nothing can be said about the program's locks");
        }
    }
}

fn shortage(measured: &Measured, one: &Unrecorded) -> Option<Shortage> {
    measured.shortages.iter().find(|(pid, _)| *pid == one.pid).map(|(_, shortage)| *shortage)
}

/// Why one has no recording, and what mends it.
fn message(one: &Unrecorded, shortage: Option<Shortage>) -> String {
    let mut text = String::from("not recorded: ");
    match &*one.executable {
        "" => write!(text, "process {}", one.pid),
        path => write!(text, "{path} (process {})", one.pid),
    }
    .expect("writing to a string cannot fail");
    text.push_str(match (one.why, shortage) {
        (WhyUnrecorded::Static, _) => {
            " is linked statically, so that nothing can be put under it; link it dynamically"
        }
        (WhyUnrecorded::OtherRights, _) => {
            " runs with other rights than its starter's (set-user-id or capabilities), so that the \
             system preloads nothing; measure as the user that it runs as, with a copy without \
             that mark, or run kilocore as root"
        }
        (WhyUnrecorded::OtherArchitecture, _) => {
            " is of another architecture than kilocore, such as a 32-bit program; measure a build \
             for this one"
        }
        (WhyUnrecorded::OtherLibrary, _) => {
            " is linked with another C library than glibc, whose dynamic linker does not load the \
             recorder; link it with glibc, or watch it from outside (--recorder watch)"
        }
        (WhyUnrecorded::ThreadSanitizer, _) => {
            " was compiled with ThreadSanitizer, whose warnings the recorder would disturb; compile \
             it without, or watch it from outside (--recorder watch)"
        }
        (WhyUnrecorded::OtherRoot, _) => {
            " sees another root of the file system (chroot, a container), where neither the \
             recorder nor its folder is; run kilocore inside"
        }
        (WhyUnrecorded::NoRoom, Some(Shortage::Memory)) => {
            " may not have the memory that a recording takes (256 MB of addresses, hardly any of it \
             used); raise `ulimit -v`"
        }
        (WhyUnrecorded::NoRoom, Some(Shortage::Permission)) => {
            " may not write to the folder of recordings; set TMPDIR to a folder that it may write to"
        }
        (WhyUnrecorded::NoRoom, _) => {
            " found no room for a recording: its file system is full, or `ulimit -f` is too low; \
             set TMPDIR to a folder with room, or raise the limit"
        }
        (WhyUnrecorded::StillRunning, _) => {
            " went on after the program that was started had ended, as daemons do; keep it in the \
             foreground, for which most have an option"
        }
        (WhyUnrecorded::NotAsked, _) => {
            " was started with an environment that does not ask for a recording; let LD_PRELOAD \
             and KILOCORE_MEASURE_DIR pass (sudo --preserve-env, env without -i)"
        }
        (WhyUnrecorded::Unknown, _) => {
            " does not have the recorder in it, and nobody knows why; see whether LD_PRELOAD works \
             there"
        }
    });
    text
}
