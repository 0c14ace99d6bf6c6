//! Reads the profiles of gperftools' CPU profiler.
//!
//! They are words of the width and the byte order of the machine: a header (0, 3, 0, the period in
//! microseconds, 0), then for each stack how often it was seen, how many addresses it has, and
//! these, the innermost first. A stack seen 0 times at the one address 0 ends them. The memory map
//! follows as text.

use std::io::{self, BufRead};

use super::super::error::ReadError;
use super::super::lines::Lines;
use super::super::skipped::Skipped;
use super::super::source::BrokenOff;
use super::super::task::Task;
use super::mappings::Mappings;
use super::naming::{Named, name};
use super::stacks::{Count, Stacks, call};
use crate::{Format, Rate, SampledProfile, Tally, Unit};

const MEND: &str = "let the profiler end, by the program's own end or ProfilerStop, before you copy \
                    the file";

/// How a file's numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    bytes: usize,
    big_endian: bool,
}

/// How many words the header has.
const HEADER: usize = 5;

impl Words {
    /// Those of a profile that begins so, if it is one.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        let kinds = [(4, false), (4, true), (8, false), (8, true)];
        let mut kinds = kinds.into_iter().map(|(bytes, big_endian)| Self { bytes, big_endian });
        kinds.find(|words| {
            let header: Vec<u64> = head
                .chunks_exact(words.bytes)
                .take(HEADER)
                .map(|word| words.number(word))
                .collect();
            matches!(header[..], [0, 3, 0, period, 0] if period > 0)
        })
    }

    fn number(self, word: &[u8]) -> u64 {
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        if self.big_endian { word.iter().fold(0, add) } else { word.iter().rev().fold(0, add) }
    }
}

/// A file that is read word by word.
struct Reader<R> {
    from: R,
    words: Words,
    /// How many bytes were read.
    at: u64,
}

impl<R: BufRead> Reader<R> {
    /// The next word; none if the file ends before or in it.
    fn next(&mut self) -> io::Result<Option<u64>> {
        let mut word = [0; 8];
        let word = &mut word[..self.words.bytes];
        match self.from.read_exact(word) {
            Ok(()) => {
                self.at += word.len() as u64;
                Ok(Some(self.words.number(word)))
            }
            Err(error)
                if BrokenOff::of(&error).is_some()
                    || error.kind() == io::ErrorKind::UnexpectedEof =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a stack of `depth` addresses into `stack`. Of one deeper than `most`, only the number of
    /// its addresses is certain. Returns false if the file ends in it.
    fn stack(&mut self, stack: &mut Vec<u64>, depth: u64, most: usize) -> io::Result<bool> {
        stack.clear();
        for _ in 0..depth {
            let Some(address) = self.next()? else { return Ok(false) };
            if stack.len() <= most {
                stack.push(address);
            }
        }
        Ok(true)
    }
}

/// Reads a profile with such words.
pub(crate) fn read(
    from: impl BufRead,
    words: Words,
    task: &Task<'_>,
) -> Result<SampledProfile, ReadError> {
    let failed = |error| task.failed(error);
    let limits = task.options.limits;
    let mut reader = Reader { from, words, at: 0 };
    let mut header = [0; HEADER];
    for word in &mut header {
        *word = reader.next().map_err(failed)?.unwrap_or(0);
    }
    let period = header[3].saturating_mul(1_000);
    let (mut stacks, mut skipped, mut stack) = (Stacks::default(), Skipped::default(), Vec::new());
    let (mut entry, mut read) = (0, 0);
    loop {
        entry += 1;
        let ends = |at: u64| {
            let what = format!(
                "the file breaks off at byte {at}, before the list of mapped files without which no \
                 address has a name"
            );
            nothing(task, entry, what)
        };
        let (Some(samples), Some(depth)) =
            (reader.next().map_err(failed)?, reader.next().map_err(failed)?)
        else {
            return Err(ends(reader.at));
        };
        if !reader.stack(&mut stack, depth, limits.depth).map_err(failed)? {
            return Err(ends(reader.at));
        }
        if samples == 0 && stack == [0] {
            break;
        }
        if samples == 0 || stack.is_empty() {
            skipped.note(entry, || "a stack without samples or addresses".to_owned());
        } else if stack.len() > limits.depth {
            skipped.note(entry, || "a stack that is too deep".to_owned());
        } else {
            tidy(&mut stack);
            stacks.add(&stack, Count { samples, amount: samples }, task)?;
            read += 1;
        }
    }
    let mut lines = Lines::new(reader.from, limits.line_bytes);
    let mappings = Mappings::read(&mut lines, task)?;
    if mappings.is_empty() {
        let what =
            "no list of mapped files follows the samples, without which no address has a name";
        return Err(nothing(task, entry, what.to_owned()));
    }
    skipped.check(read, Format::GperftoolsCpu, MEND, task)?;
    let tally = |count: Count| Tally::of(count.samples, count.samples.saturating_mul(period));
    let Named { functions, contexts, remarks } = name(&stacks, &mappings, tally, task)?;
    if contexts.total().samples == 0 {
        return Err(nothing(task, entry, "there is no sample".to_owned()));
    }
    let mut profile = SampledProfile::new(Format::GperftoolsCpu, Unit::Nanoseconds);
    (profile.functions, profile.contexts, profile.remarks) = (functions, contexts, remarks);
    profile.facts.event = Some("cpu".to_owned());
    profile.facts.rate = Some(Rate::Period(period));
    profile.remarks.extend(skipped.remark());
    profile.remarks.extend(lines.broken());
    Ok(profile)
}

/// Makes a stack of what the unwinder found one of places of code.
fn tidy(stack: &mut Vec<u64>) {
    // The innermost address is the signal's own, and some unwinders found it a second time.
    if stack.len() > 1 && stack[0] == stack[1] {
        stack.remove(1);
    }
    for address in &mut stack[1..] {
        *address = call(*address);
    }
}

fn nothing(task: &Task<'_>, entry: u64, what: String) -> ReadError {
    let (file, format) = (task.file.to_owned(), Format::GperftoolsCpu);
    ReadError::Nothing { file, format, entry, what, mend: MEND }
}
