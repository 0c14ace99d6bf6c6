//! Tracks what each process had mapped into its memory, as time goes on.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::place::Index;

/// A stretch of memory; its start is the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) end: u64,
    /// Offset of its start in the object.
    pub(super) offset: u64,
    pub(super) object: Index,
}

type Mappings = BTreeMap<u64, Mapping>;

/// The memory of all processes.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// A child shares its parent's mappings until one of the two maps something.
    memory: HashMap<i32, Rc<Mappings>>,
    /// A number for each process that changes with every change to its memory.
    versions: HashMap<i32, u64>,
    threads: HashMap<i32, HashSet<i32>>,
    /// How many mappings there are room for.
    count: usize,
    /// How many mappings were left out for lack of room.
    left_out: u64,
}

impl Processes {
    /// The most mappings that are kept. A hundred thousand processes at a time, with as many
    /// libraries as a shell has, need fewer. Without this limit, a hostile file could let each of
    /// its processes inherit everything in it.
    const MOST: usize = 4_000_000;

    /// Maps something, and replaces what was mapped there before.
    pub(super) fn map(&mut self, process: i32, start: u64, mapping: Mapping) {
        if start >= mapping.end {
            return;
        }
        let shared = self.memory.entry(process).or_default();
        let copied = if Rc::strong_count(shared) > 1 { shared.len() } else { 0 };
        if self.count + copied + 2 > Self::MOST {
            self.left_out += 1;
            return;
        }
        *self.versions.entry(process).or_default() += 1;
        let before = shared.len();
        let mappings = Rc::make_mut(shared);
        clear(mappings, start, mapping.end);
        mappings.insert(start, mapping);
        self.count = (self.count + copied + mappings.len()).saturating_sub(before);
    }

    /// Notes that a process created a child or a thread.
    pub(super) fn fork(&mut self, process: i32, parent: i32, thread: i32, inherits: bool) {
        self.threads.entry(process).or_default().insert(thread);
        if process == parent {
            return;
        }
        self.forget(process);
        if let Some(memory) = self.memory.get(&parent).filter(|_| inherits) {
            let memory = Rc::clone(memory);
            self.memory.insert(process, memory);
        }
    }

    /// Notes that a process executes another program.
    pub(super) fn exec(&mut self, process: i32) {
        self.forget(process);
    }

    /// Notes that a thread was seen.
    pub(super) fn seen(&mut self, process: i32, thread: i32) {
        self.threads.entry(process).or_default().insert(thread);
    }

    /// Notes that a thread has ended. With its last thread, the process has ended as well.
    pub(super) fn exit(&mut self, process: i32, thread: i32) {
        if let Some(threads) = self.threads.get_mut(&process) {
            threads.remove(&thread);
            if threads.is_empty() {
                self.threads.remove(&process);
                self.forget(process);
            }
        }
    }

    fn forget(&mut self, process: i32) {
        *self.versions.entry(process).or_default() += 1;
        if let Some(memory) = self.memory.remove(&process) {
            let freed = if Rc::strong_count(&memory) == 1 { memory.len() } else { 0 };
            self.count = self.count.saturating_sub(freed);
        }
    }

    /// The object at an address of a process, and the offset in it.
    pub(super) fn at(&self, process: i32, address: u64) -> Option<(Index, u64)> {
        let (start, mapping) = self.memory.get(&process)?.range(..=address).next_back()?;
        let inside = address < mapping.end;
        inside.then(|| (mapping.object, mapping.offset.wrapping_add(address - start)))
    }

    /// A number that changes when a process's memory does.
    pub(super) fn version(&self, process: i32) -> u64 {
        self.versions.get(&process).copied().unwrap_or(0)
    }

    /// The mappings of a process, each with its start.
    pub(super) fn mappings(&self, process: i32) -> impl Iterator<Item = (u64, Mapping)> {
        let memory = self.memory.get(&process);
        memory
            .into_iter()
            .flat_map(|memory| memory.iter().map(|(start, mapping)| (*start, *mapping)))
    }

    /// How many mappings were left out because there were too many.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// Removes the mappings between two addresses.
fn clear(mappings: &mut Mappings, start: u64, end: u64) {
    if let Some((&below, &mapping)) = mappings.range(..start).next_back()
        && mapping.end > start
    {
        mappings.insert(below, Mapping { end: start, ..mapping });
        if mapping.end > end {
            let offset = mapping.offset.wrapping_add(end - below);
            mappings.insert(end, Mapping { offset, ..mapping });
        }
    }
    let inside: Vec<u64> = mappings.range(start..end).map(|(start, _)| *start).collect();
    for at in inside {
        let Some(mapping) = mappings.remove(&at) else { continue };
        if mapping.end > end {
            let offset = mapping.offset.wrapping_add(end - at);
            mappings.insert(end, Mapping { offset, ..mapping });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mapping(end: u64, offset: u64, object: Index) -> Mapping {
        Mapping { end, offset, object }
    }

    #[test]
    fn a_new_mapping_hides_what_was_there() {
        let mut processes = Processes::default();
        processes.map(1, 100, mapping(200, 0, 7));
        processes.map(1, 120, mapping(150, 5, 8));
        assert_eq!(processes.at(1, 119), Some((7, 19)));
        assert_eq!(processes.at(1, 120), Some((8, 5)));
        assert_eq!(processes.at(1, 150), Some((7, 50)));
        assert_eq!(processes.at(1, 200), None);
        assert_eq!(processes.at(2, 150), None);
    }

    #[test]
    fn children_inherit_until_they_run_something_else() {
        let mut processes = Processes::default();
        processes.map(1, 100, mapping(200, 0, 7));
        processes.fork(2, 1, 2, true);
        processes.map(2, 300, mapping(400, 0, 8));
        assert_eq!(processes.at(2, 150), Some((7, 50)));
        assert_eq!(processes.at(1, 350), None);
        processes.exec(2);
        assert_eq!((processes.at(2, 150), processes.at(1, 150)), (None, Some((7, 50))));
        processes.fork(3, 1, 3, false);
        assert_eq!(processes.at(3, 150), None);
    }

    #[test]
    fn a_process_lives_as_long_as_one_of_its_threads() {
        let mut processes = Processes::default();
        processes.map(1, 100, mapping(200, 0, 7));
        processes.seen(1, 1);
        processes.fork(1, 1, 9, true);
        processes.exit(1, 1);
        assert!(processes.at(1, 150).is_some());
        processes.exit(1, 9);
        assert!(processes.at(1, 150).is_none());
    }

    #[test]
    fn inheriting_takes_bounded_memory() {
        let mut processes = Processes::default();
        for at in 0..3000 {
            processes.map(0, at * 10, mapping(at * 10 + 10, 0, 0));
        }
        for child in 1..3000 {
            processes.fork(child, child - 1, child, true);
            processes.map(child, 5, mapping(6, 0, 1));
        }
        assert!(processes.count <= Processes::MOST && processes.left_out() > 0);
    }

    proptest! {
        /// Compares the mappings with an array that has one entry for each address.
        #[test]
        fn they_are_those_of_an_array(
            maps in proptest::collection::vec((0_u64..60, 0_u64..30), 0..30),
        ) {
            let mut processes = Processes::default();
            let mut array = [None; 100];
            for (index, (start, size)) in (0..).zip(maps) {
                processes.map(1, start, mapping(start + size, 1000, index));
                for at in start..start + size {
                    array[at as usize] = Some((index, 1000 + at - start));
                }
            }
            for (at, expected) in (0..).zip(array) {
                prop_assert_eq!(processes.at(1, at), expected);
            }
        }
    }
}
