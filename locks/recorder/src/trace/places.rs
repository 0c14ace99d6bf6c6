//! Which lock of a profile a traced word is.
//!
//! Addresses differ between two runs, and places in the code do not. The C library took the word of a
//! pthread lock for a caller, which is where the profile says that the lock is acquired. A few such places
//! are known of each word. The more callers agree, from the innermost outwards, the better; what agrees best counts. Locks that were made at one
//! place cannot be told apart, so they share a sum. So do those of several places if a word agrees with
//! them equally well, as it does if all locks are acquired in the same function.

use std::collections::BTreeMap;

use kilocore_lock_profile::{Family, Frame, Lock, Profile, Symbols, Traced, TracedWord};
use kilocore_reference_recorder::Traced as TracedProgram;
use kilocore_references::TracedLock;

use super::figures::Figures;

/// A word of a trace.
#[derive(Debug)]
pub(super) struct Found {
    /// The instruction that first took it, and the callers of that, innermost first.
    pub(super) site: Vec<Frame>,
    /// The callers at each place where the C library took the word, without its own functions, innermost
    /// first; empty if another code took it.
    pub(super) callers: Vec<Vec<Frame>>,
    pub(super) figures: Figures,
}

/// The words of a program, with names for their places.
pub(super) fn found(traced: &TracedProgram, symbols: &mut Symbols) -> Vec<Found> {
    let mut frames = |instruction: u64| match traced.modules.find(instruction) {
        Some((file, behind)) => symbols.frames_behind(file, behind),
        None => vec![Frame {
            function: String::new(),
            module: String::new(),
            offset: instruction,
            line: None,
        }],
    };
    let mut word = |lock: &TracedLock| {
        let taken = frames(lock.code);
        let mut stack = |callers: &[u64]| -> Vec<Frame> {
            let calls = callers.iter().take_while(|returns_to| **returns_to != 0);
            // The call is before the address that it returns to.
            calls.flat_map(|returns_to| frames(returns_to - 1)).collect()
        };
        let first = stack(&lock.callers);
        let further = lock.further_callers.iter().map(|callers| stack(callers));
        let stacks: Vec<Vec<Frame>> = [first.clone()].into_iter().chain(further).collect();
        let library = taken.first().filter(|frame| is_c_library(&frame.module));
        let callers = library.map_or_else(Vec::new, |library| {
            stacks.iter().map(|stack| outside(stack, &library.module)).collect()
        });
        Found { callers, site: [taken, first].concat(), figures: Figures::of(lock) }
    };
    traced.locks.iter().map(&mut word).collect()
}

/// What is left of a stack without its innermost functions that are in this file.
fn outside(stack: &[Frame], module: &str) -> Vec<Frame> {
    let inside = stack.iter().take_while(|frame| frame.module == module).count();
    stack[inside..].to_vec()
}

/// Whether this is the file that has the functions of pthread locks.
fn is_c_library(module: &str) -> bool {
    let file = module.rsplit('/').next().unwrap_or_default();
    ["libc.so", "libc-2.", "libpthread"].iter().any(|name| file.starts_with(name))
}

/// Where a call is, once for each call even if functions were inlined there.
fn calls(frames: &[Frame]) -> Vec<(&str, u64)> {
    let mut calls: Vec<(&str, u64)> =
        frames.iter().map(|frame| (&*frame.module, frame.offset)).collect();
    calls.dedup();
    calls
}

/// In how many calls two stacks agree, from the innermost outwards.
fn agreement(one: &[Frame], other: &[Frame]) -> usize {
    calls(one).iter().zip(calls(other)).take_while(|(one, other)| **one == *other).count()
}

/// Locks of a profile that were made at the same place.
type LockSite = (String, Family, Vec<(String, u64)>);

fn place(executable: &str, lock: &Lock) -> LockSite {
    let site = calls(&lock.site).into_iter().map(|(module, at)| (module.to_owned(), at)).collect();
    (executable.to_owned(), lock.family, site)
}

/// Gives the locks of a profile the figures of the words that they are, and returns the other words, those
/// first that were taken most often.
pub(super) fn match_words(found: Vec<Found>, profile: &mut Profile) -> Vec<TracedWord> {
    let mut sums = Sums::default();
    let mut others = Vec::new();
    for word in found {
        let best = best_places(&word, profile);
        if best.is_empty() {
            others.push(TracedWord { site: word.site, traced: word.figures.told(0) });
        } else {
            sums.add(&best, &word.figures);
        }
    }
    let told = sums.told();
    for process in profile.runs.first_mut().into_iter().flat_map(|run| &mut run.processes) {
        for lock in &mut process.locks {
            lock.traced = told.get(&place(&process.executable, lock)).copied();
        }
    }
    others.sort_by(|one, other| {
        let key = |word: &TracedWord| (std::cmp::Reverse(word.traced.acquisitions), calls_of(word));
        key(one).cmp(&key(other))
    });
    others
}

fn calls_of(word: &TracedWord) -> Vec<(String, u64)> {
    calls(&word.site).into_iter().map(|(module, at)| (module.to_owned(), at)).collect()
}

/// The places with whose locks a word agrees best, if it does with any.
fn best_places(word: &Found, profile: &Profile) -> Vec<LockSite> {
    let mut best = (1, Vec::new());
    for process in profile.runs.first().into_iter().flat_map(|run| &run.processes) {
        for lock in &process.locks {
            let known = lock.callers.iter().map(|caller| &caller.site).chain([&lock.site]);
            let agreed = known.map(|site| {
                word.callers.iter().map(|stack| agreement(stack, site)).max().unwrap_or(0)
            });
            let agreed = agreed.max().unwrap_or(0);
            if agreed > best.0 {
                best = (agreed, Vec::new());
            }
            if agreed == best.0 {
                best.1.push(place(&process.executable, lock));
            }
        }
    }
    best.1.sort();
    best.1.dedup();
    best.1
}

/// Sums of words, each for one or several places.
#[derive(Debug, Default)]
struct Sums {
    sums: Vec<(Vec<LockSite>, Figures)>,
}

impl Sums {
    /// Adds a word that may belong to any of these places. What shares a place with it becomes one sum.
    fn add(&mut self, places: &[LockSite], figures: &Figures) {
        let mut merged = (places.to_vec(), *figures);
        self.sums.retain(|(others, sum)| {
            let apart = !others.iter().any(|place| places.contains(place));
            if !apart {
                merged.0.extend(others.iter().cloned());
                merged.1.add(sum);
            }
            apart
        });
        merged.0.sort();
        merged.0.dedup();
        self.sums.push(merged);
    }

    fn told(self) -> BTreeMap<LockSite, Traced> {
        let each = self.sums.into_iter().flat_map(|(places, figures)| {
            let traced = figures.told(places.len() as u64);
            places.into_iter().map(move |place| (place, traced))
        });
        each.collect()
    }
}

#[cfg(test)]
mod tests;
