//! The file of a path: text, a line for each fact and step.

use std::fmt;
use std::str::FromStr;

use crate::path::{
    Instructions, LineId, Lock, LockId, LockKind, Mode, Path, Place, Processors, Step, Touch,
};

/// The most steps of all runs together, and the most lines and locks, that a file may have.
pub const MOST_STEPS: usize = 1 << 23;

/// The longest name.
const LONGEST: usize = 200;

/// What the first line of a file says.
const FIRST: &str = "kilocore-kernel-path 1";

/// Why a file is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct PathError {
    /// The line of the file, from 1 on.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is another kind of file, or another version.
    #[error("this is no recording of a kernel's path: it does not begin with '{FIRST}'")]
    Kind,
    /// Something has to stand here that does not.
    #[error("here must stand {0}")]
    Expected(&'static str),
    /// There is no such word.
    #[error("'{0}' is no step; there are c, t, a, r, i and d")]
    Unknown(String),
    /// A line or lock of this number is not there.
    #[error("there is no {0} {1}")]
    Missing(&'static str, u32),
    /// A lock is acquired that is held.
    #[error("lock {0} is acquired, and is held already")]
    Held(u32),
    /// A lock is released, or its tree changes, and it is not held.
    #[error("lock {0} is not held")]
    NotHeld(u32),
    /// A run ends with a lock held.
    #[error("the run before this line ends with lock {0} held")]
    StillHeld(u32),
    /// A run does nothing.
    #[error("run {0} has no instructions")]
    Empty(u32),
    /// There are more than any recording has.
    #[error("there are more than {MOST_STEPS} steps")]
    TooMany,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST}\noperation {}\nkernel {}", self.operation, self.kernel)?;
        writeln!(f, "machine {} {}", self.processors, self.nodes)?;
        for Place { touched_by, name } in &self.lines {
            writeln!(f, "line {:x} {name}", touched_by.0)?;
        }
        for Lock { kind, place } in &self.locks {
            writeln!(f, "lock {:x} {} {}", place.touched_by.0, kind_name(*kind), place.name)?;
        }
        for (processor, run) in self.runs.iter().enumerate() {
            writeln!(f, "run {processor}")?;
            for step in run {
                match step {
                    Step::Compute(Instructions(count)) => writeln!(f, "c {count}")?,
                    Step::Touch(LineId(line), touch) => {
                        writeln!(f, "t {line} {}", touch_name(*touch))?;
                    }
                    Step::Acquire(LockId(lock), Mode::Alone) => writeln!(f, "a {lock}")?,
                    Step::Acquire(LockId(lock), Mode::Shared) => writeln!(f, "a {lock} shared")?,
                    Step::Release(LockId(lock)) => writeln!(f, "r {lock}")?,
                    Step::PutIn(LockId(lock)) => writeln!(f, "i {lock}")?,
                    Step::TakeOut(LockId(lock)) => writeln!(f, "d {lock}")?,
                }
            }
        }
        Ok(())
    }
}

const KINDS: [(LockKind, &str); 4] = [
    (LockKind::Spin, "spin"),
    (LockKind::ReadWriteSpin, "read-write-spin"),
    (LockKind::Semaphore, "semaphore"),
    (LockKind::Mutex, "mutex"),
];

fn kind_name(kind: LockKind) -> &'static str {
    KINDS.iter().find(|known| known.0 == kind).map_or("", |known| known.1)
}

const TOUCHES: [(Touch, &str); 3] = [(Touch::Load, "l"), (Touch::Store, "s"), (Touch::Update, "u")];

fn touch_name(touch: Touch) -> &'static str {
    TOUCHES.iter().find(|known| known.0 == touch).map_or("", |known| known.1)
}

impl Path {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`PathError`] with the first line that is wrong.
    pub fn read(text: &str) -> Result<Self, PathError> {
        let mut reader = Reader { lines: text.lines().enumerate(), at: 0 };
        let path = reader.path();
        path.map_err(|problem| PathError { line: reader.at, problem })
    }
}

impl FromStr for Path {
    type Err = PathError;
    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::read(text)
    }
}

struct Reader<'a, T: Iterator<Item = (usize, &'a str)>> {
    lines: T,
    /// The line that is being read, from 1 on; 0 before the first.
    at: usize,
}

impl<'a, T: Iterator<Item = (usize, &'a str)>> Reader<'a, T> {
    fn next(&mut self) -> Option<&'a str> {
        let next = self.lines.next();
        self.at = next.map_or(self.at + 1, |(index, _)| index + 1);
        next.map(|(_, line)| line)
    }

    /// What follows a word in the next line.
    fn after(&mut self, word: &str, what: &'static str) -> Result<&'a str, Problem> {
        let line = self.next().unwrap_or_default();
        let rest = line.strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
        rest.filter(|rest| !rest.is_empty()).ok_or(Problem::Expected(what))
    }

    fn path(&mut self) -> Result<Path, Problem> {
        if self.next() != Some(FIRST) {
            return Err(Problem::Kind);
        }
        let operation = name(self.after("operation", "'operation' and what it is")?)?;
        let kernel = name(self.after("kernel", "'kernel' and its version")?)?;
        let machine =
            "'machine', the number of processors, up to 64, and of nodes, which divides it";
        let numbers = self.after("machine", machine)?.split_once(' ');
        let (processors, nodes) = numbers
            .and_then(|(processors, nodes)| Some((number(processors)?, number(nodes)?)))
            .filter(|&(processors, nodes)| {
                (1..=64).contains(&processors) && nodes > 0 && processors % nodes == 0
            })
            .ok_or(Problem::Expected(machine))?;
        let mut path = Path {
            operation,
            kernel,
            processors,
            nodes,
            lines: Vec::new(),
            locks: Vec::new(),
            runs: Vec::new(),
        };
        let mut held = Vec::new();
        let mut steps = 0;
        while let Some(line) = self.next() {
            steps += 1;
            if steps > MOST_STEPS {
                return Err(Problem::TooMany);
            }
            match line.split_once(' ') {
                Some(("line", rest)) if path.runs.is_empty() => {
                    let (set, rest) = rest.split_once(' ').ok_or(LINE)?;
                    path.lines.push(place(set, rest, processors).ok_or(LINE)?);
                }
                Some(("lock", rest)) if path.runs.is_empty() => {
                    let (set, rest) = rest.split_once(' ').ok_or(LOCK)?;
                    let (kind, rest) = rest.split_once(' ').ok_or(LOCK)?;
                    let kind = KINDS.iter().find(|known| known.1 == kind).ok_or(LOCK)?.0;
                    let place = place(set, rest, processors).ok_or(LOCK)?;
                    path.locks.push(Lock { kind, place });
                }
                Some(("run", which)) => {
                    if let Some(LockId(lock)) = held.pop() {
                        return Err(Problem::StillHeld(lock));
                    }
                    let expected = number(which) == u32::try_from(path.runs.len()).ok();
                    if !expected || path.runs.len() == processors as usize {
                        return Err(Problem::Expected("'run' and the next processor's number"));
                    }
                    path.runs.push(Vec::new());
                }
                _ => {
                    let step = step(line, &path, &mut held)?;
                    let run = path.runs.last_mut();
                    run.ok_or(Problem::Expected("a line, a lock or 'run 0'"))?.push(step);
                }
            }
        }
        if let Some(LockId(lock)) = held.pop() {
            return Err(Problem::StillHeld(lock));
        }
        if path.runs.len() != processors as usize {
            return Err(Problem::Expected("a run of each processor"));
        }
        match (0..processors).find(|&processor| path.instructions(processor) == 0) {
            Some(processor) => Err(Problem::Empty(processor)),
            None => Ok(path),
        }
    }
}

const LINE: Problem =
    Problem::Expected("'line', the processors that touched it, two at least, and a name");
const LOCK: Problem = Problem::Expected(
    "'lock', the processors, two at least, 'spin', 'read-write-spin', 'semaphore' or 'mutex', and a name",
);

fn number(text: &str) -> Option<u32> {
    // `u32::from_str` takes a plus sign, too, which no file has.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn name(text: &str) -> Result<String, Problem> {
    let fits = text.len() <= LONGEST && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned()).ok_or(Problem::Expected("a name of at most 200 bytes"))
}

fn place(set: &str, rest: &str, processors: u32) -> Option<Place> {
    let is_plain = set.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let touched_by = Processors(u64::from_str_radix(set, 16).ok().filter(|_| is_plain)?);
    let all = u64::MAX >> (64 - processors);
    let fits = touched_by.count() >= 2 && touched_by.0 & !all == 0 && !rest.is_empty();
    fits.then_some(Place { touched_by, name: name(rest).ok()? })
}

/// A step, in a run after the steps that left `held` held.
fn step(line: &str, path: &Path, held: &mut Vec<LockId>) -> Result<Step, Problem> {
    let unknown = || Problem::Unknown(line.chars().take(20).collect());
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let lock = |text| {
        let lock = number(text).ok_or(Problem::Expected("the number of a lock"))?;
        let is_there = (lock as usize) < path.locks.len();
        is_there.then_some(LockId(lock)).ok_or(Problem::Missing("lock", lock))
    };
    match word {
        "c" => number(rest)
            .map(|count| Step::Compute(Instructions(count)))
            .ok_or(Problem::Expected("a number of instructions")),
        "t" => {
            let what = Problem::Expected("the number of a line, and l, s or u");
            let parts = rest.split_once(' ').and_then(|(line, touch)| {
                Some((number(line)?, TOUCHES.iter().find(|known| known.1 == touch)?.0))
            });
            let (line, touch) = parts.ok_or(what)?;
            let is_there = (line as usize) < path.lines.len();
            is_there
                .then_some(Step::Touch(LineId(line), touch))
                .ok_or(Problem::Missing("line", line))
        }
        "a" => {
            let (text, mode) = match rest.split_once(' ') {
                None => (rest, Mode::Alone),
                Some((text, "shared")) => (text, Mode::Shared),
                Some(_) => {
                    return Err(Problem::Expected("the number of a lock, or it and 'shared'"));
                }
            };
            let lock = lock(text)?;
            if held.contains(&lock) {
                return Err(Problem::Held(lock.0));
            }
            held.push(lock);
            Ok(Step::Acquire(lock, mode))
        }
        "r" | "i" | "d" => {
            let lock = lock(rest)?;
            let at = held.iter().rposition(|&held| held == lock);
            let at = at.ok_or(Problem::NotHeld(lock.0))?;
            Ok(match word {
                "i" => Step::PutIn(lock),
                "d" => Step::TakeOut(lock),
                _ => Step::Release(held.remove(at)),
            })
        }
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "kilocore-kernel-path 1\noperation it\nkernel k\nmachine 2 1\n";

    #[track_caller]
    fn refused(rest: &str, line: usize, part: &str) {
        let error = Path::read(&format!("{HEAD}{rest}")).expect_err("it is wrong");
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(part), "no '{part}' in: {error}");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_eq!(Path::read("").map_err(|error| error.problem), Err(Problem::Kind));
        refused("line 1 x\n", 5, "two at least");
        refused("line 5 x\n", 5, "two at least");
        refused("lock 3 mutant x\n", 5, "'semaphore' or 'mutex'");
        refused("run 0\nc 1\nt 0 l\n", 7, "there is no line 0");
        refused("lock 3 spin x\nrun 0\na 0\na 0\n", 8, "held already");
        refused("lock 3 spin x\nrun 0\nr 0\n", 7, "lock 0 is not held");
        refused("lock 3 spin x\nrun 0\nc 1\na 0\nrun 1\n", 9, "with lock 0 held");
        refused("lock 3 spin x\nrun 0\ni 0\n", 7, "lock 0 is not held");
        refused("run 0\nc 1\nq\n", 7, "'q' is no step");
        refused("run 0\nc 1\nrun 2\n", 7, "the next processor's number");
        refused("run 0\nc 1\n", 7, "a run of each processor");
        refused("run 0\nc 1\nrun 1\n", 8, "run 1 has no instructions");
        refused("run 0\nc -1\n", 6, "a number of instructions");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            let _ = Path::read(&text);
            let _ = Path::read(&format!("{HEAD}{text}"));
        }
    }
}
