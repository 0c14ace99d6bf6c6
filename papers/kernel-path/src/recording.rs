//! From what was seen of each processor to a path.

use std::collections::HashMap;

use crate::path::{
    Instructions, LineId, Lock, LockId, LockKind, Mode, Path, Place, Processors, Step, Touch,
};

/// A physical address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

impl Address {
    /// The line that it is in, of 64 bytes.
    fn line(self) -> u64 {
        self.0 / 64
    }
}

/// What a processor did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It touched memory.
    Touch(Address, Touch),
    /// It acquired the lock whose word is there.
    Acquire(Address, LockKind, Mode),
    /// It released it.
    Release(Address),
    /// It put a mapping into a file's tree.
    PutIn,
    /// It took one out.
    TakeOut,
}

/// What processors did, one after the other. `N` names functions and variables; what it is used most for
/// gives a line its name.
#[derive(Debug, Default)]
pub struct Recording<N> {
    runs: Vec<Run<N>>,
}

#[derive(Debug)]
struct Run<N> {
    /// After how many instructions what was seen, and what it belongs to.
    seen: Vec<(Instructions, Seen, N)>,
    instructions: Instructions,
}

/// A second touch of a line within so many instructions is left out, as the line can hardly have gone
/// meanwhile.
const NEAR: u32 = 200;

/// What is known of a line or of a lock's word.
#[derive(Debug)]
struct Known<N> {
    touched_by: Processors,
    /// Whether anybody wrote it.
    written: bool,
    /// How often it was touched under which name.
    names: HashMap<N, u32>,
}

impl<N> Default for Known<N> {
    fn default() -> Self {
        Self { touched_by: Processors::default(), written: false, names: HashMap::new() }
    }
}

impl<N: Copy + Ord + std::hash::Hash> Known<N> {
    fn note(&mut self, processor: u32, written: bool, name: N) {
        self.touched_by.add(processor);
        self.written |= written;
        *self.names.entry(name).or_default() += 1;
    }

    fn is_shared(&self) -> bool {
        self.written && self.touched_by.count() > 1
    }

    fn place(&self, in_words: &impl Fn(N) -> String) -> Place {
        // The smallest name of those that were met as often: a recording is written in one way only.
        let most =
            self.names.iter().max_by_key(|(name, count)| (**count, std::cmp::Reverse(**name)));
        Place {
            touched_by: self.touched_by,
            name: most.map_or_else(String::new, |(name, _)| in_words(*name)),
        }
    }
}

impl<N: Copy + Ord + std::hash::Hash> Recording<N> {
    /// Nothing was seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self { runs: Vec::new() }
    }

    /// The next processor begins.
    ///
    /// # Panics
    /// If 64 processors were recorded.
    pub fn begin(&mut self) {
        assert!(self.runs.len() < 64, "a set of processors has 64");
        self.runs.push(Run { seen: Vec::new(), instructions: Instructions(0) });
    }

    /// How many processors began.
    #[must_use]
    pub fn processors(&self) -> u32 {
        self.runs.len() as u32
    }

    /// The processor executed so many more instructions.
    pub fn execute(&mut self, count: u32) {
        if let Some(run) = self.runs.last_mut() {
            run.instructions.0 += count;
        }
    }

    /// The processor did something that belongs to `name`.
    pub fn see(&mut self, what: Seen, name: N) {
        if let Some(run) = self.runs.last_mut() {
            run.seen.push((run.instructions, what, name));
        }
    }

    /// Makes the path. The processors are on `nodes` memory nodes, which divides their number; `in_words` says
    /// what a name is.
    #[must_use]
    pub fn path(
        &self,
        operation: &str,
        kernel: &str,
        nodes: u32,
        in_words: impl Fn(N) -> String,
    ) -> Path {
        let runs: Vec<Vec<bool>> = self.runs.iter().map(|run| paired(&run.seen)).collect();
        let (mut lines, mut words) = (HashMap::new(), HashMap::new());
        for (processor, (run, paired)) in self.runs.iter().zip(&runs).enumerate() {
            for (&(_, seen, name), &is_paired) in run.seen.iter().zip(paired) {
                let processor = processor as u32;
                match seen {
                    Seen::Touch(at, touch) => {
                        let line: &mut Known<N> = lines.entry(at.line()).or_default();
                        line.note(processor, touch != Touch::Load, name);
                    }
                    Seen::Acquire(word, kind, _) if is_paired => {
                        let known: &mut (LockKind, Known<N>) =
                            words.entry(word).or_insert_with(|| (kind, Known::default()));
                        known.1.note(processor, true, name);
                    }
                    _ => {}
                }
            }
        }
        let mut path = Path {
            operation: operation.to_owned(),
            kernel: kernel.to_owned(),
            processors: self.processors(),
            nodes,
            lines: Vec::new(),
            locks: Vec::new(),
            runs: Vec::new(),
        };
        let (mut line_ids, mut lock_ids) = (HashMap::new(), HashMap::new());
        for (run, paired) in self.runs.iter().zip(&runs) {
            let mut writer = RunWriter::default();
            for (&(at, seen, _), &is_paired) in run.seen.iter().zip(paired) {
                match seen {
                    Seen::Touch(address, touch) => {
                        let known = &lines[&address.line()];
                        if !known.is_shared() || writer.came_with_a_lock(address) {
                            continue;
                        }
                        let id = *line_ids.entry(address.line()).or_insert_with(|| {
                            path.lines.push(known.place(&in_words));
                            LineId(path.lines.len() as u32 - 1)
                        });
                        writer.touch(at, id, touch);
                    }
                    Seen::Acquire(word, _, mode) if is_paired => {
                        let (kind, known) = &words[&word];
                        if !known.is_shared() {
                            continue;
                        }
                        let id = *lock_ids.entry(word).or_insert_with(|| {
                            let place = known.place(&in_words);
                            path.locks.push(Lock { kind: *kind, place });
                            LockId(path.locks.len() as u32 - 1)
                        });
                        writer.acquire(at, word, id, *kind, mode);
                    }
                    Seen::Release(word) if is_paired => writer.release(at, word),
                    Seen::Acquire(..) | Seen::Release(_) => {}
                    Seen::PutIn => writer.change_tree(at, Step::PutIn),
                    Seen::TakeOut => writer.change_tree(at, Step::TakeOut),
                }
            }
            path.runs.push(writer.end(run.instructions));
        }
        path
    }
}

/// Whether each acquisition has its release in the run, and each release its acquisition.
fn paired<N>(seen: &[(Instructions, Seen, N)]) -> Vec<bool> {
    let mut paired = vec![false; seen.len()];
    let mut held: HashMap<Address, usize> = HashMap::new();
    for (index, (_, seen, _)) in seen.iter().enumerate() {
        match seen {
            Seen::Acquire(word, ..) => {
                // The word of a lock that is held changes when somebody begins to wait, or looks again.
                held.entry(*word).or_insert(index);
            }
            Seen::Release(word) => {
                if let Some(acquired) = held.remove(word) {
                    paired[acquired] = true;
                    paired[index] = true;
                }
            }
            _ => {}
        }
    }
    paired
}

/// A lock that is held at this place of a run.
#[derive(Debug)]
struct Held {
    word: Address,
    id: LockId,
    /// Whether it can be that of a file's tree.
    may_be_a_tree: bool,
}

/// Writes the steps of a run.
#[derive(Debug, Default)]
struct RunWriter {
    steps: Vec<Step>,
    /// Up to here instructions are in `steps`.
    written: u32,
    /// The locks that are held, in the order in which they were acquired.
    held: Vec<Held>,
    /// When lines were last touched since the last lock, and how.
    near: HashMap<LineId, (u32, Touch)>,
}

impl RunWriter {
    fn push(&mut self, at: Instructions, step: Step) {
        if at.0 > self.written {
            self.steps.push(Step::Compute(Instructions(at.0 - self.written)));
            self.written = at.0;
        }
        self.steps.push(step);
    }

    /// Whether the line of this address is that of the word of a lock which is held. Then it is here already.
    fn came_with_a_lock(&self, address: Address) -> bool {
        self.held.iter().any(|held| held.word.line() == address.line())
    }

    fn touch(&mut self, at: Instructions, line: LineId, touch: Touch) {
        let is_near = self
            .near
            .get(&line)
            .is_some_and(|&(last, how)| at.0 - last < NEAR && (how >= touch || how != Touch::Load));
        if !is_near {
            self.near.insert(line, (at.0, touch));
            self.push(at, Step::Touch(line, touch));
        }
    }

    fn acquire(&mut self, at: Instructions, word: Address, id: LockId, kind: LockKind, mode: Mode) {
        let may_be_a_tree = kind == LockKind::Semaphore && mode == Mode::Alone;
        self.held.push(Held { word, id, may_be_a_tree });
        self.near.clear();
        self.push(at, Step::Acquire(id, mode));
    }

    fn release(&mut self, at: Instructions, word: Address) {
        if let Some(index) = self.held.iter().position(|held| held.word == word) {
            let held = self.held.remove(index);
            self.near.clear();
            self.push(at, Step::Release(held.id));
        }
    }

    /// A mapping comes into a tree or leaves it. Its lock is the first semaphore that the processor holds alone:
    /// Linux takes that of anonymous memory after it, and those of address spaces, which it takes before, are
    /// used by one processor only.
    fn change_tree(&mut self, at: Instructions, step: impl Fn(LockId) -> Step) {
        if let Some(tree) = self.held.iter().find(|held| held.may_be_a_tree) {
            let id = tree.id;
            self.push(at, step(id));
        }
    }

    fn end(mut self, all: Instructions) -> Vec<Step> {
        if all.0 > self.written {
            self.steps.push(Step::Compute(Instructions(all.0 - self.written)));
        }
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: Address = Address(0x1000);
    const DATA: Address = Address(0x2000);

    /// Two processors that each acquire a lock, touch a line, and put a mapping into a tree.
    fn recording() -> Recording<&'static str> {
        let mut recording = Recording::new();
        for processor in 0..2_u64 {
            recording.begin();
            recording.execute(10);
            recording.see(Seen::Touch(Address(0x9000 + processor * 64), Touch::Store), "own");
            recording.see(Seen::Acquire(LOCK, LockKind::Semaphore, Mode::Alone), "link");
            recording.see(Seen::Touch(Address(0x1008), Touch::Store), "link");
            recording.see(Seen::Touch(DATA, Touch::Load), "read");
            recording.execute(5);
            recording.see(Seen::Touch(DATA, Touch::Update), "count");
            recording.see(Seen::Touch(DATA, Touch::Update), "count");
            recording.see(Seen::PutIn, "link");
            recording.see(Seen::Release(LOCK), "link");
            recording.execute(3);
        }
        recording
    }

    #[test]
    fn what_one_processor_alone_touches_is_instructions() {
        let path = recording().path("it", "6.12", 1, str::to_owned);
        let (line, lock) = (LineId(0), LockId(0));
        let run = vec![
            Step::Compute(Instructions(10)),
            Step::Acquire(lock, Mode::Alone),
            Step::Touch(line, Touch::Load),
            Step::Compute(Instructions(5)),
            Step::Touch(line, Touch::Update),
            Step::PutIn(lock),
            Step::Release(lock),
            Step::Compute(Instructions(3)),
        ];
        assert_eq!(path.runs, [run.clone(), run]);
        assert_eq!(path.lines.len(), 1, "the line of the lock's word comes with the lock");
        assert_eq!(path.lines[0].name, "count");
        assert_eq!(
            path.locks[0].place,
            Place { touched_by: Processors(3), name: "link".to_owned() }
        );
        assert_eq!(path.instructions(1), 18);
    }

    #[test]
    fn a_lock_that_is_not_released_is_left_out() {
        let mut recording = recording();
        recording.see(Seen::Acquire(DATA, LockKind::Spin, Mode::Alone), "end");
        recording.begin();
        recording.see(Seen::Release(DATA), "begin");
        recording.see(Seen::Release(LOCK), "begin");
        let path = recording.path("it", "6.12", 1, str::to_owned);
        assert_eq!(path.locks.len(), 1);
        assert_eq!(path.runs[2], []);
    }

    #[test]
    fn what_is_written_can_be_read() {
        let path = recording().path("fork and exit", "6.12 log", 2, str::to_owned);
        assert_eq!(Path::read(&path.to_string()), Ok(path));
    }
}
