//! Reads folded stacks. A line holds the functions of a stack, the outermost first, separated by
//! semicolons. After a space follows the number of samples that fell on the stack:
//!
//! ```text
//! main;work;memcpy 12
//! main;read;entry_SYSCALL_64_after_hwframe_[k];ksys_read_[k] 3
//! java;LFoo;::bar_[j];[libc.so.6] 1
//! ```
//!
//! The scripts that print this for flame graphs (such as stackcollapse) can mark functions: `_[k]`
//! is the kernel's, `_[j]` was compiled at run time, `_[i]` was inlined. Code of a library that has
//! no name is printed as the library's name in brackets.
//!
//! Some scripts print sums of periods instead of numbers of samples. If the sampler's clock ticks
//! evenly, all numbers are multiples of one large number, and this number is what a sample stands
//! for. For example, 250000, 750000 and 500000 are 1, 3 and 2 samples of 250000. Otherwise it
//! cannot be known.

mod asleep;
mod process_names;

use std::io::BufRead;

use super::error::ReadError;
use super::lines::{Line, Lines};
use super::names::{Names, has_kernel};
use super::skipped::{Skipped, shown};
use super::task::Task;
use crate::{Contexts, Format, Function, FunctionId, Origin, Rate, SampledProfile, Tally, Unit};

/// If this many lines from the first on have two numbers each, the file is a difference of
/// profiles. A few such lines among others are functions whose names end in a number.
const TWO_NUMBERS: u64 = 32;

/// A common divisor of all numbers that is at least this large is a sampler's period.
const PERIOD: u64 = 10_000;

/// This many numbers do not have a large common divisor by chance.
const ENOUGH: u64 = 8;

const MEND: &str = "give lines such as `main;work 12`, one for each stack";

/// A line of folded stacks in its two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// The functions of the stack, the outermost first, with `;` between them.
    pub(crate) stack: &'a [u8],
    /// The number behind them.
    pub(crate) count: u64,
}

/// Parses a line such as `main;work 12` by splitting it at its last space.
pub(crate) fn entry(line: &[u8]) -> Result<Entry<'_>, &'static str> {
    let line = line.trim_ascii_end();
    let Some(space) = line.iter().rposition(|byte| matches!(byte, b' ' | b'\t')) else {
        return Err("there is no space with a number behind it");
    };
    let (stack, number) = (line[..space].trim_ascii(), &line[space + 1..]);
    let Some(count) = digits(number) else {
        let is_decimal = number.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
        return Err(match (is_decimal, number) {
            (true, _) => "the number at the end is no whole number of samples",
            (false, [b'-', rest @ ..]) if digits(rest).is_some() => "a count below zero",
            _ => "there is no number at the end",
        });
    };
    let count = count.ok_or("the number at the end is too large")?;
    if stack.is_empty() {
        return Err("there is no function before the number");
    }
    Ok(Entry { stack, count })
}

/// Parses a number. Returns `None` if it is no number and `Some(None)` if it is too large.
fn digits(text: &[u8]) -> Option<Option<u64>> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(str::from_utf8(text).ok().and_then(|text| text.parse().ok()))
}

/// The greatest common divisor. If one of the two is zero, it is the other.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether another number stands before the last one, as in `main;work 12 15`.
fn has_two_numbers(entry: &Entry<'_>) -> bool {
    let last = entry.stack.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
    last.len() < entry.stack.len() && digits(last).is_some()
}

/// Splits one frame into its name, its object and its origin, without its mark and its offset.
fn function(frame: &[u8]) -> (&[u8], &[u8], Origin) {
    let frame = frame.trim_ascii();
    if let Some(name) = frame.strip_suffix(b"_[k]") {
        return (without_offset(name), b"", Origin::Kernel);
    }
    if let Some(name) = frame.strip_suffix(b"_[j]") {
        return (without_offset(name), b"", Origin::User);
    }
    let name = frame.strip_suffix(b"_[i]").unwrap_or(frame);
    if let [b'[', object @ .., b']'] = name {
        let is_kernel = object.first() == Some(&b'[');
        if is_kernel || memchr::memmem::find(object, b".so").is_some() {
            let origin = super::origin::origin(object, None);
            return (Function::UNKNOWN.as_bytes(), object, origin);
        }
    }
    (without_offset(name), b"", Origin::Unknown)
}

/// A name without the `+0x1f` that some tools leave behind it.
fn without_offset(name: &[u8]) -> &[u8] {
    let Some(plus) = memchr::memmem::rfind(name, b"+0x") else { return name };
    let digits = &name[plus + b"+0x".len()..];
    if plus > 0 && digits.iter().all(u8::is_ascii_hexdigit) { &name[..plus] } else { name }
}

/// A text that is being read.
struct Reader<'a> {
    task: &'a Task<'a>,
    names: Names,
    contexts: Contexts,
    skipped: Skipped,
    stack: Vec<FunctionId>,
    /// What a sample weighs.
    weight: u64,
    /// The greatest common divisor of all numbers.
    divisor: u64,
    /// The number of lines that were read, of those with two numbers, and the first such line's
    /// number.
    read: u64,
    with_two_numbers: u64,
    first: u64,
    /// Whether any line has more than one function.
    has_stacks: bool,
}

impl<'a> Reader<'a> {
    fn new(task: &'a Task<'a>) -> Self {
        Self {
            task,
            names: Names::default(),
            contexts: Contexts::default(),
            skipped: Skipped::default(),
            stack: Vec::new(),
            weight: task.options.nanoseconds_per_count.unwrap_or(1),
            divisor: 0,
            read: 0,
            with_two_numbers: 0,
            first: 0,
            has_stacks: false,
        }
    }

    /// Handles a line of any kind.
    fn text(&mut self, number: u64, line: Line<'_>) -> Result<(), ReadError> {
        let limits = self.task.options.limits;
        let Line::Text(text) = line else {
            let longest = limits.line_bytes;
            self.skipped.note(number, || format!("longer than {longest} bytes"));
            return Ok(());
        };
        if text.trim_ascii().is_empty() || text[0] == b'#' {
            return Ok(());
        }
        let is_deep = text.iter().filter(|&&byte| byte == b';').count() >= limits.depth;
        match entry(text) {
            Ok(_) if is_deep => {
                self.skipped.note(number, || format!("the stack is too deep: {}", shown(text)));
            }
            Ok(entry) => {
                self.line(&entry)?;
                if self.read == 1 {
                    self.first = number;
                }
                if self.read == TWO_NUMBERS && self.is_difference() {
                    return Err(self.differential());
                }
            }
            Err(what) => self.skipped.note(number, || format!("{what}: {}", shown(text))),
        }
        Ok(())
    }

    /// Counts the samples of a line.
    fn line(&mut self, entry: &Entry<'_>) -> Result<(), ReadError> {
        self.read += 1;
        self.with_two_numbers += u64::from(has_two_numbers(entry));
        if entry.count == 0 {
            return Ok(());
        }
        self.has_stacks |= memchr::memchr(b';', entry.stack).is_some();
        self.stack.clear();
        for frame in entry.stack.split(|&byte| byte == b';').rev() {
            let (name, object, origin) = function(frame);
            self.stack.push(self.names.id(name, object, origin, self.task)?);
        }
        self.divisor = divisor(self.divisor, entry.count);
        let tally = Tally::of(entry.count, entry.count.saturating_mul(self.weight));
        self.contexts.sample(&self.stack, tally);
        let limit = self.task.options.limits.contexts;
        if self.contexts.len() > limit {
            return Err(self.task.too_large("calling contexts", limit));
        }
        Ok(())
    }

    /// Makes the profile of everything that was read; `lines` is the number of lines.
    fn profile(mut self, lines: u64) -> Result<SampledProfile, ReadError> {
        if self.read < TWO_NUMBERS && self.is_difference() {
            return Err(self.differential());
        }
        if self.divisor == 0 {
            let none = (lines, "there is no stack with samples up to here".to_owned());
            let (entry, what) = self.skipped.first().cloned().unwrap_or(none);
            let (file, format) = (self.task.file.to_owned(), Format::Folded);
            return Err(ReadError::Nothing { file, format, entry, what, mend: MEND });
        }
        if !self.has_stacks {
            // Any list has lines with a number at the end.
            let what = "no line up to here has functions with `;` between them".to_owned();
            let (file, format) = (self.task.file.to_owned(), Format::Folded);
            return Err(ReadError::Nothing { file, format, entry: lines, what, mend: MEND });
        }
        self.skipped.check(self.read, Format::Folded, MEND, self.task)?;
        let has_unit = self.task.options.nanoseconds_per_count.is_some();
        let unit = if has_unit { Unit::Nanoseconds } else { Unit::Samples };
        let mut profile = SampledProfile::new(Format::Folded, unit);
        profile.remarks.extend(std::mem::take(&mut self.skipped).remark());
        self.fill(&mut profile);
        process_names::leave_out(&mut profile.functions, &mut profile.contexts);
        if !has_unit && asleep::is_asleep(&profile.functions, &profile.contexts) {
            profile.unit = Unit::Asleep;
        }
        profile.facts.has_kernel = has_kernel(&profile.functions);
        Ok(profile)
    }

    /// Moves functions and contexts into the profile, with weights counted in samples.
    fn fill(self, profile: &mut SampledProfile) {
        let period = self.divisor;
        if period < PERIOD || self.read < ENOUGH {
            profile.functions = self.names.into_functions();
            profile.contexts = self.contexts;
            return;
        }
        let in_samples = |tally: Tally| Tally::of(tally.samples / period, tally.weight);
        (profile.functions, profile.contexts) = self.names.of(&self.contexts, in_samples);
        profile.facts.rate = Some(Rate::Period(period.saturating_mul(self.weight)));
        if profile.unit == Unit::Samples {
            profile.unit = Unit::Events("counts".to_owned());
        }
    }

    fn differential(&self) -> ReadError {
        ReadError::Differential { file: self.task.file.to_owned(), line: self.first }
    }

    /// Whether all lines so far have two numbers.
    fn is_difference(&self) -> bool {
        self.read > 0 && self.with_two_numbers == self.read
    }
}

pub(crate) fn read(from: impl BufRead, task: &Task<'_>) -> Result<SampledProfile, ReadError> {
    let mut lines = Lines::new(from, task.options.limits.line_bytes);
    let mut reader = Reader::new(task);
    while let Some((number, line)) = lines.next().map_err(|source| task.failed(source))? {
        reader.text(number, line)?;
    }
    let mut profile = reader.profile(lines.number())?;
    profile.remarks.extend(lines.broken());
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_behind_the_last_space() {
        let stack = |text: &'static str| Ok(Entry { stack: text.as_bytes(), count: 12 });
        assert_eq!(entry(b"a;b 12"), stack("a;b"));
        assert_eq!(entry(b"main thread;f(int, int) 12  "), stack("main thread;f(int, int)"));
        assert_eq!(entry(b"a;operator 7 12"), stack("a;operator 7"));
        for (text, what) in [
            ("a;b", "no space"),
            ("a;b 1.5", "whole number"),
            ("a;b -5", "below zero"),
            ("a;b 99999999999999999999", "too large"),
            ("a;b c", "no number"),
            (" 12", "no function"),
        ] {
            let error = entry(text.as_bytes()).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    #[test]
    fn marks_say_where_code_lies() {
        let unknown = Function::UNKNOWN.as_bytes();
        for (frame, wanted) in [
            ("do_idle_[k]", (&b"do_idle"[..], &b""[..], Origin::Kernel)),
            ("LFoo;::bar_[j]", (b"LFoo;::bar", b"", Origin::User)),
            ("small_[i]", (b"small", b"", Origin::Unknown)),
            ("f", (b"f", b"", Origin::Unknown)),
            ("f+0x1f ", (b"f", b"", Origin::Unknown)),
            ("f+0x1f_[k]", (b"f", b"", Origin::Kernel)),
            ("f+0xyz", (b"f+0xyz", b"", Origin::Unknown)),
            ("[libc.so.6]", (unknown, b"libc.so.6", Origin::User)),
            ("[[kernel.kallsyms]]", (unknown, b"[kernel.kallsyms]", Origin::Kernel)),
            ("[unknown]", (unknown, b"", Origin::Unknown)),
            ("[GC]", (b"[GC]", b"", Origin::Unknown)),
        ] {
            assert_eq!(function(frame.as_bytes()), wanted, "{frame}");
        }
    }
}
