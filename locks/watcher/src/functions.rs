//! What threads of one name do, if each does something else: the function that each is in all the time.
//!
//! Many programs do not name their threads. The stages of a pipeline then have the name of the program,
//! and only their stacks tell them apart. The stacks are read from the outermost function inwards. The
//! first depth counts at which threads are in different functions. If a thread itself is now in one
//! function there and now in another, these are things that it does in turn, and tell nothing of what
//! it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::word_names::{Names, own_frame};
use kilocore_lock_profile::Frame;

use crate::document::frames;
use crate::family::Family;
use crate::ids::{Pid, Tid};
use crate::ledger::Scene;

/// So many stacks must show a function, and in so many windows, before threads are named after it. A
/// thread that is in one function in a single window may be so by chance.
const STACKS: usize = 6;
const WINDOWS: usize = 2;
/// What is looked at of the outer end of a stack.
const DEPTH: usize = 16;

/// The functions of a stack, the outermost first, and the window in which it was copied.
struct Stack {
    window: u64,
    functions: Vec<String>,
    /// So many of them are the program's own, and not of a library that makes threads wait.
    own: usize,
}

/// The function of each thread that differs by it from others of its name.
pub(crate) fn functions(
    scenes: &BTreeMap<Tid, Vec<(u64, Scene)>>,
    family: &Family,
    names: &mut BTreeMap<Pid, Names>,
) -> BTreeMap<Tid, String> {
    let mut alike: BTreeMap<(Pid, &str), BTreeMap<Tid, Vec<Stack>>> = BTreeMap::new();
    for (tid, scenes) in scenes {
        let Some((pid, name)) = family.names.get(tid).filter(|(pid, _)| pid.0 != tid.0) else {
            continue;
        };
        let Some(names) = names.get_mut(pid) else { continue };
        let stacks = scenes.iter().map(|(window, scene)| stack(*window, &frames(names, scene)));
        alike.entry((*pid, name)).or_default().insert(*tid, stacks.collect());
    }
    alike.values().flat_map(told_apart).collect()
}

fn stack(window: u64, frames: &[Frame]) -> Stack {
    let own = frames.len() - own_frame(frames);
    let functions = frames.iter().rev().take(DEPTH).map(|frame| frame.function.clone());
    Stack { window, functions: functions.collect(), own }
}

/// The function of each thread, by the first depth at which they differ.
fn told_apart(threads: &BTreeMap<Tid, Vec<Stack>>) -> BTreeMap<Tid, String> {
    for depth in 0..DEPTH {
        let mut of_thread: BTreeMap<Tid, &str> = BTreeMap::new();
        let mut shown: BTreeMap<&str, (usize, BTreeSet<u64>)> = BTreeMap::new();
        for (tid, stacks) in threads {
            for stack in stacks {
                let here = stack.functions.get(depth).filter(|_| depth < stack.own);
                let Some(here) = here.map(String::as_str) else { return BTreeMap::new() };
                if *of_thread.entry(*tid).or_insert(here) != here {
                    return BTreeMap::new();
                }
                let (stacks, windows) = shown.entry(here).or_default();
                *stacks += 1;
                windows.insert(stack.window);
            }
        }
        if shown.len() > 1 {
            let enough = |(stacks, windows): &(usize, BTreeSet<u64>)| {
                *stacks >= STACKS && windows.len() >= WINDOWS
            };
            let clear = shown.iter().all(|(function, of)| !function.is_empty() && enough(of));
            let of_thread = of_thread.into_iter().filter(|_| clear);
            return of_thread.map(|(tid, function)| (tid, function.to_owned())).collect();
        }
    }
    BTreeMap::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads with their stacks, outermost first, each seen in two windows, three times.
    fn threads(stacks: &[(u32, &[&str])]) -> BTreeMap<Tid, Vec<Stack>> {
        let mut threads: BTreeMap<Tid, Vec<Stack>> = BTreeMap::new();
        for (tid, names) in stacks {
            let functions: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let own = functions.iter().position(|name| name == "wait").unwrap_or(functions.len());
            let stacks =
                (0..6).map(|at| Stack { window: at / 3, functions: functions.clone(), own });
            threads.entry(Tid(*tid)).or_default().extend(stacks);
        }
        threads
    }

    fn told(stacks: &[(u32, &[&str])]) -> Vec<(u32, String)> {
        let told = told_apart(&threads(stacks));
        told.into_iter().map(|(tid, function)| (tid.0, function)).collect()
    }

    #[test]
    fn stages_are_told_apart_by_the_function_they_stay_in() {
        let of = |tid: u32, name: &str| (tid, name.to_owned());
        let stages: [(u32, &[&str]); 4] = [
            (1, &["start", "body", "make", "put", "wait"]),
            (2, &["start", "body", "finish", "take", "wait"]),
            (2, &["start", "body", "finish", "think"]),
            (3, &["start", "body", "make", "think"]),
        ];
        assert_eq!(told(&stages), [of(1, "make"), of(2, "finish"), of(3, "make")]);
    }

    #[test]
    fn what_a_thread_does_in_turn_tells_nothing() {
        let workers: [(u32, &[&str]); 3] =
            [(1, &["start", "get"]), (1, &["start", "put"]), (2, &["start", "put"])];
        assert_eq!(told(&workers), []);
        let same: [(u32, &[&str]); 2] = [(1, &["start", "work"]), (2, &["start", "work"])];
        assert_eq!(told(&same), []);
        // One waits and the other computes at the same place in the program.
        let waiting: [(u32, &[&str]); 2] = [(1, &["start", "wait"]), (2, &["start", "compute"])];
        assert_eq!(told(&waiting), []);
    }

    #[test]
    fn few_stacks_tell_nothing() {
        let apart: [(u32, &[&str]); 2] = [(1, &["start", "make"]), (2, &["start", "finish"])];
        let mut few = threads(&apart);
        assert_eq!(told_apart(&few).len(), 2);
        for stack in few.get_mut(&Tid(2)).unwrap() {
            stack.window = 0;
        }
        assert_eq!(told_apart(&few), BTreeMap::new());
    }
}
