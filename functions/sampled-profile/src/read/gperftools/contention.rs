//! Reads contention profiles: how long threads waited for locks, and where.
//!
//! gperftools' format, which servers print that are asked for `/pprof/contention`. Each line has
//! the cycles of waits, how many waits these were, and a stack with the innermost address first:
//!
//! ```text
//! --- contentionz 1 ---
//! cycles/second = 3201000000
//! sampling period = 100
//! ms since reset = 16502830
//! 19490304       27 @ 0xbccc97 0xc61202 0x42ed5f
//! --- Memory map: ---
//! 00400000-00fcb000 r-xp 00000000 08:01 4711 /usr/bin/server
//! ```
//!
//! Only one of as many waits as the sampling period says is in the profile, and stands for all of
//! them.

use std::io::BufRead;

use kilocore_figures::Nanoseconds;

use super::super::error::ReadError;
use super::super::lines::{Line, Lines};
use super::super::skipped::{Skipped, shown};
use super::super::task::Task;
use super::mappings::Mappings;
use super::naming::{Named, name};
use super::stacks::{Count, Stacks, call};
use crate::{Facts, Format, SampledProfile, Tally, Unit};

/// What they begin with.
pub(crate) const MARK: &[u8] = b"--- contention";

/// What stands before the memory map.
const MAPS: [&str; 2] = ["MAPPED_LIBRARIES:", "--- Memory map: ---"];

const MEND: &str = "fetch the profile again, with its memory map";

/// What the lines before the stacks say.
#[derive(Debug, Default)]
struct Heading {
    cycles_per_second: Option<u64>,
    period: Option<u64>,
    discarded: u64,
    milliseconds: Option<u64>,
}

impl Heading {
    /// Takes a line `KEY = NUMBER`. Returns whether it is one.
    fn take(&mut self, line: &str) -> bool {
        let Some((key, value)) = line.split_once('=') else { return false };
        let number = value.trim().parse().ok();
        match key.trim() {
            "cycles/second" => self.cycles_per_second = number.filter(|&each| each > 0),
            "sampling period" => self.period = number.filter(|&period| period > 0),
            "discarded samples" => self.discarded = number.unwrap_or(0),
            "ms since reset" => self.milliseconds = number,
            _ => {}
        }
        true
    }

    /// What the sums of a stack's lines stand for.
    fn tally(&self, count: Count) -> Tally {
        let period = self.period.unwrap_or(1);
        let cycles = u128::from(count.amount) * u128::from(period);
        let weight = match self.cycles_per_second {
            Some(each) => {
                let each = u128::from(each);
                (cycles.saturating_mul(1_000_000_000) + each / 2) / each
            }
            None => cycles,
        };
        Tally::of(count.samples.saturating_mul(period), u64::try_from(weight).unwrap_or(u64::MAX))
    }
}

/// Reads a contention profile. It is an error if no thread waited, or if there is no list of mapped
/// files.
pub(crate) fn read(from: impl BufRead, task: &Task<'_>) -> Result<SampledProfile, ReadError> {
    let limits = task.options.limits;
    let mut lines = Lines::new(from, limits.line_bytes);
    let (mut heading, mut stacks, mut skipped) =
        (Heading::default(), Stacks::default(), Skipped::default());
    let (mut stack, mut read) = (Vec::new(), 0);
    while let Some((number, line)) = lines.next().map_err(|error| task.failed(error))? {
        let Line::Text(bytes) = line else {
            skipped.note(number, || "a line that is too long".to_owned());
            continue;
        };
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        if MAPS.iter().any(|mark| text.contains(mark)) {
            break;
        }
        let is_heading = text.is_empty() || text.starts_with("---");
        if is_heading || !text.contains('@') && heading.take(text) {
            continue;
        }
        match entry(text, &mut stack, limits.depth) {
            Ok(count) => {
                stacks.add(&stack, count, task)?;
                read += 1;
            }
            Err(what) => skipped.note(number, || format!("{what}: {}", shown(bytes))),
        }
    }
    let end = lines.number();
    skipped.check(read, Format::Contention, MEND, task)?;
    let mappings = Mappings::read(&mut lines, task)?;
    if mappings.is_empty() {
        let what = "there is no list of mapped files, without which no address has a name";
        return Err(nothing(task, end, what.to_owned()));
    }
    let Named { functions, contexts, remarks } =
        name(&stacks, &mappings, |count| heading.tally(count), task)?;
    if contexts.total().samples == 0 {
        let none = (end, "no thread waited".to_owned());
        let (entry, what) = skipped.first().cloned().unwrap_or(none);
        return Err(nothing(task, entry, what));
    }
    // Without their frequency, cycles say only which waits were longer.
    let unit = heading.cycles_per_second.map_or(Unit::Asleep, |_| Unit::Waiting);
    let mut profile = SampledProfile::new(Format::Contention, unit);
    (profile.functions, profile.contexts, profile.remarks) = (functions, contexts, remarks);
    profile.facts = Facts {
        event: Some("delay".to_owned()),
        duration: heading.milliseconds.and_then(|ms| ms.checked_mul(1_000_000)).map(Nanoseconds),
        lost: heading.discarded,
        ..Facts::default()
    };
    profile.remarks.extend(skipped.remark());
    profile.remarks.extend(lines.broken());
    Ok(profile)
}

/// Reads a line `CYCLES COUNT @ 0x… 0x…`, and puts its addresses into `stack`.
fn entry(text: &str, stack: &mut Vec<u64>, depth: usize) -> Result<Count, &'static str> {
    let (counts, addresses) = text.split_once('@').ok_or("there is no stack")?;
    let mut counts = counts.split_ascii_whitespace().map(str::parse);
    let (Some(Ok(amount)), Some(Ok(samples)), None) = (counts.next(), counts.next(), counts.next())
    else {
        return Err("there are no two whole numbers before the stack");
    };
    stack.clear();
    for address in addresses.split_ascii_whitespace() {
        let digits = address.strip_prefix("0x").unwrap_or(address);
        let address = u64::from_str_radix(digits, 16).map_err(|_| "a stack with no address")?;
        if stack.len() == depth {
            return Err("a stack that is too deep");
        }
        // The innermost function called something too: what noted the wait.
        stack.push(call(address));
    }
    if stack.is_empty() { Err("a stack without addresses") } else { Ok(Count { samples, amount }) }
}

fn nothing(task: &Task<'_>, entry: u64, what: String) -> ReadError {
    let (file, format) = (task.file.to_owned(), Format::Contention);
    ReadError::Nothing { file, format, entry, what, mend: MEND }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_become_nanoseconds_of_all_waits() {
        let mut heading = Heading::default();
        for line in ["cycles/second = 3000000000", "sampling period=100", "discarded samples = 7"] {
            assert!(heading.take(line), "{line}");
        }
        assert!(!heading.take("12 7"));
        // Ten waits were seen, and took a second; there were a hundred times as many.
        let count = Count { samples: 10, amount: 3_000_000_000 };
        assert_eq!(heading.tally(count), Tally::of(1_000, 100_000_000_000));
        assert_eq!(heading.tally(Count { samples: 1, amount: u64::MAX }).weight, u64::MAX);
        assert_eq!(heading.discarded, 7);
        for unknown in ["cycles/second = 0", "sampling period = 0"] {
            assert!(heading.take(unknown));
        }
        assert_eq!(heading.tally(count), Tally::of(10, 3_000_000_000));
    }

    #[test]
    fn lines_are_read() {
        let mut stack = Vec::new();
        let mut read = |text| entry(text, &mut stack, 3).map(|count| (count, stack.clone()));
        let count = Count { samples: 27, amount: 19_490_304 };
        assert_eq!(read("19490304 27 @ 0xbccc97 0x42ed5f"), Ok((count, vec![0xbccc96, 0x42ed5e])));
        assert_eq!(read("19490304 27 @ 1 0"), Ok((count, vec![0, 0])));
        for bad in ["7 @ 0x1", "7 8 9 @ 0x1", "7 -8 @ 0x1", "7 8 @", "7 8 @ main", "7 8", "@"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(read("1 1 @ 1 2 3 4"), Err("a stack that is too deep"));
    }
}
