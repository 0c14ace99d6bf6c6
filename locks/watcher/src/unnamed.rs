//! What would name the functions without names that a profile shows.

use std::collections::{BTreeMap, BTreeSet};

use crate::word_names::Names;
use kilocore_lock_profile::{Frame, Process};

use crate::ids::Pid;

/// The hints for what the profile of these processes shows without a name, a sentence each.
pub(crate) fn hints(processes: &[Process], names: &BTreeMap<Pid, Names>) -> Vec<String> {
    let of = |process: &Process| {
        let files: BTreeSet<String> = sites(process).flat_map(nameless).cloned().collect();
        names.get(&Pid(process.pid)).map_or_else(Vec::new, |names| names.hints(&files))
    };
    let hints: BTreeSet<_> = processes.iter().flat_map(of).collect();
    hints.iter().map(ToString::to_string).collect()
}

/// All the places that a process is shown with.
fn sites(process: &Process) -> impl Iterator<Item = &[Frame]> {
    let of_locks = process.locks.iter().flat_map(|lock| {
        let callers = lock.callers.iter().chain(&lock.releases).map(|caller| &*caller.site);
        std::iter::once(&*lock.site).chain(callers)
    });
    let conditions = process.conditions.iter().map(|condition| &*condition.site);
    let barriers = process.barriers.iter().map(|barrier| &*barrier.site);
    of_locks.chain(conditions).chain(barriers)
}

/// What starts programs and threads.
const STARTS: [&str; 5] = ["start_thread", "clone", "__clone", "__libc_start", "_start"];

/// The files whose functions nobody can name, of a place. What is outside of all that has a name is
/// the code that starts threads, and nobody misses its name. But the place itself needs one.
fn nameless(site: &[Frame]) -> impl Iterator<Item = &String> {
    let starts = |frame: &Frame| STARTS.iter().any(|begins| frame.function.starts_with(begins));
    let is_named = |frame: &Frame| !frame.function.is_empty() && !starts(frame);
    let shown = site.iter().rposition(is_named).unwrap_or(0);
    let shown = site.iter().take(shown + 1);
    shown.filter(|frame| frame.function.is_empty()).map(|frame| &frame.module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_inside_of_names_counts() {
        let site = |names: &[(&str, &str)]| -> Vec<Frame> {
            let of = |(function, module): &(&str, &str)| Frame {
                function: (*function).to_owned(),
                module: (*module).to_owned(),
                offset: 0,
                line: None,
            };
            names.iter().map(of).collect()
        };
        let files = |names| nameless(&site(names)).cloned().collect::<Vec<_>>();
        assert_eq!(files(&[("work", "/a"), ("", "/libc")]), [""; 0]);
        assert_eq!(files(&[("", "/b"), ("main", "/a"), ("", "/libc")]), ["/b"]);
        assert_eq!(files(&[("", "/b"), ("", "/libc")]), ["/b"]);
        let started = [("work", "/a"), ("", "/libstdc++"), ("start_thread", "/libc")];
        assert_eq!(files(&started), [""; 0]);
        assert_eq!(files(&[]), [""; 0]);
    }
}
