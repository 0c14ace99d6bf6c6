//! Reads what `perf script` prints: a line for each sample, then its stack with the innermost
//! function first, then an empty line.
//!
//! ```text
//! sysbench 10047 [000] 35559.348102:     250000 cycles:
//!         ffffffff816bb643 fput+0x23 ([kernel.kallsyms])
//!             7f2d1c0a6b10 __read+0x10 (/lib/x86_64-linux-gnu/libc.so.6)
//!             5581d3a0124f main+0x1f (/usr/bin/sysbench)
//!
//! ```
//!
//! Only the beginning of a line tells what it is. The line of a stack begins with a tab, or with
//! spaces if an editor replaced the tab. The line of a sample begins with spaces if samples have no
//! call chains, and otherwise with the command. [`header`] and [`frame`] parse these lines. Most
//! lines of a stack occurred before, so a line is first looked up as a whole ([`cache`]).
//!
//! Each event has a tree of its own, because only at the end is it known which event has the most
//! samples.

mod cache;
mod comments;
mod event;
mod frame;
mod header;
mod inlined;

use std::io::BufRead;

use cache::Cache;
use comments::Comments;
use event::Event;
use header::{Header, Opening};
use inlined::Inlined;

use super::error::ReadError;
use super::lines::{Line, Lines};
use super::names::{Names, has_kernel};
use super::origin::origin;
use super::skipped::{Skipped, shown};
use super::task::Task;
use crate::event_name::{is_of_one_kind, like_time};
use crate::{Format, FunctionId, Remark, SampledProfile, Tally, Unit};

const MEND: &str = "give what `perf script` prints, without `-F` or with `-F +…` only";

/// Longest name of an event, in bytes.
const EVENT_NAME: usize = 1 << 9;

const NO_LINE: &str = "neither a sample nor a line of a stack";

/// Whether only `perf script` can have printed this line. Such a line belongs to a stack, or is a
/// sample's first line with a time. The event alone is enough if
/// the line cannot be of another format (`is_else` is false).
pub(crate) fn is_likely(line: &[u8], is_else: bool) -> bool {
    if line.first().is_some_and(u8::is_ascii_whitespace) && frame::frame(line).is_ok() {
        return true;
    }
    match header::opening(line) {
        Some(Opening::Sample(header)) => {
            let is_full = header.event.is_some() && header.thread.or(header.processor).is_some();
            header.time.is_some() || (is_full && !is_else)
        }
        Some(Opening::Record { .. }) => true,
        None => false,
    }
}

/// A line of a stack.
#[derive(Debug, Clone, Copy)]
struct Frame {
    address: u64,
    function: Code,
}

/// A function on a stack.
#[derive(Debug, Clone, Copy)]
enum Code {
    /// One with code of its own, and whether it says in which object.
    Own(FunctionId, bool),
    /// An inlined function, by its index in [`Inlined`].
    Inlined(u32),
}

impl Frame {
    /// The function, if it says in which object its code is.
    fn with_object(self) -> Option<FunctionId> {
        match self.function {
            Code::Own(id, true) => Some(id),
            Code::Own(..) | Code::Inlined(_) => None,
        }
    }
}

/// The sample whose lines are being read.
#[derive(Debug, Clone, Copy)]
enum State {
    /// No sample is open: at the beginning, or after the empty line behind a stack.
    Between,
    /// In a sample of this event and weight; `has_stack` says whether a line of its stack was seen.
    In { event: usize, weight: u64, has_stack: bool },
    /// After a line that is only an event's name; the number of that line. It is a sample if a
    /// stack follows.
    Named(u64),
    /// In a sample that is left out.
    Out,
}

/// A text that is being read.
struct Reader<'a> {
    task: &'a Task<'a>,
    names: Names,
    inlined: Inlined,
    cache: Cache<Frame>,
    events: Vec<Event>,
    /// The event of the last sample.
    last_event: usize,
    /// Names of events that have no tree: others than the one asked for.
    left_out: Vec<Vec<u8>>,
    comments: Comments,
    lost: u64,
    contexts: usize,
    /// Whether samples are of events that cores of one kind count.
    is_hybrid: bool,
    /// Lines that were read: of samples and of their stacks.
    read: u64,
    skipped: Skipped,
    state: State,
    /// The name of [`State::Named`].
    name: Vec<u8>,
    stack: Vec<Frame>,
    ids: Vec<FunctionId>,
}

impl<'a> Reader<'a> {
    fn new(task: &'a Task<'a>) -> Self {
        Self {
            task,
            names: Names::default(),
            inlined: Inlined::default(),
            cache: Cache::new(),
            events: Vec::new(),
            last_event: 0,
            left_out: Vec::new(),
            comments: Comments::default(),
            lost: 0,
            contexts: 0,
            is_hybrid: false,
            read: 0,
            skipped: Skipped::default(),
            state: State::Between,
            name: Vec::new(),
            stack: Vec::new(),
            ids: Vec::new(),
        }
    }

    /// Takes a line as what it can be in the current state: a frame, a sample's first line, a
    /// comment.
    fn line(&mut self, number: u64, line: &[u8]) -> Result<(), ReadError> {
        match line {
            [b'\t', rest @ ..] if !rest.trim_ascii().is_empty() => {
                return self.frame(number, line, rest.trim_ascii_start());
            }
            [b'#', ..] if !is_commented(line) => {
                self.comments.line(line);
                return Ok(());
            }
            _ => {}
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            return self.close();
        }
        let is_indented = line[0] == b' ';
        match header::opening(text) {
            Some(Opening::Sample(header)) if is_sample(&header, is_indented) => {
                self.close()?;
                if let Some(name) =
                    header.event.filter(|_| header.is_only_event() && header.rest.is_empty())
                {
                    self.state = State::Named(number);
                    self.name.clear();
                    self.name.extend_from_slice(name);
                    return Ok(());
                }
                self.open(number, line, &header)
            }
            Some(Opening::Record { lost }) => {
                self.lost = self.lost.saturating_add(lost);
                self.close()
            }
            _ if is_indented && is_address(text) => {
                if matches!(self.state, State::Between) && is_alone(line) {
                    self.open(number, line, &Header { rest: text, ..Header::default() })?;
                    return self.close();
                }
                self.frame(number, line, text)
            }
            // `-F srcline` prints a line of source code below each line of a stack.
            _ if is_indented && matches!(self.state, State::In { has_stack: true, .. }) => Ok(()),
            _ => {
                self.close()?;
                self.state = State::Out;
                self.skip(number, NO_LINE, line);
                Ok(())
            }
        }
    }

    fn skip(&mut self, number: u64, what: &str, line: &[u8]) {
        self.skipped.note(number, || format!("{what}: {}", shown(line)));
    }

    /// Begins the sample whose first line this is, or leaves it out if its event is not wanted.
    fn open(&mut self, number: u64, line: &[u8], header: &Header<'_>) -> Result<(), ReadError> {
        self.state = State::Out;
        if header.event.is_some_and(|name| name.len() > EVENT_NAME) {
            self.skip(number, "an event with too long a name", line);
            return Ok(());
        }
        let Some(event) = self.event(header) else {
            if self.events.len() >= self.task.options.limits.events {
                self.skip(number, "a sample of one event too many", line);
            }
            return Ok(());
        };
        let entry = &mut self.events[event];
        let weight = match (entry.has_periods, header.period) {
            (true, None) => {
                self.skip(number, "a sample without a period among others with one", line);
                return Ok(());
            }
            (true, Some(period)) => period,
            (false, _) => self.task.options.nanoseconds_per_count.unwrap_or(1),
        };
        entry.count(header);
        self.read += 1;
        self.state = State::In { event, weight, has_stack: false };
        // The words of a tracepoint can stand where an address stands, so only an address with a
        // symbol counts.
        let (word, symbol) = header::first_word(header.rest);
        if frame::address(word).is_some()
            && !symbol.is_empty()
            && let Some(frame) = self.look_up(header.rest)?
        {
            self.stack.push(frame);
        }
        Ok(())
    }

    /// Returns the tree of a sample, or `None` if its event was not asked for or is one too many.
    fn event(&mut self, header: &Header<'_>) -> Option<usize> {
        let name = header.event.unwrap_or_default();
        if self.events.get(self.last_event).is_some_and(|event| event.name == name) {
            return Some(self.last_event);
        }
        self.is_hybrid |= is_of_one_kind(name);
        let limit = self.task.options.limits.events;
        let wanted = self.task.options.event.as_deref();
        if wanted.is_some_and(|wanted| !event::is_called(name, wanted)) {
            if self.left_out.len() < limit && !self.left_out.iter().any(|other| other == name) {
                self.left_out.push(name.to_owned());
            }
            return None;
        }
        let found = self.events.iter_mut().position(|event| event.takes(name));
        let event = match found {
            Some(event) => event,
            None if self.events.len() >= limit => return None,
            None => {
                self.events.push(Event::new(header));
                self.events.len() - 1
            }
        };
        self.last_event = event;
        Some(event)
    }

    /// Handles a line of a stack; `text` is `line` without leading white space.
    fn frame(&mut self, number: u64, line: &[u8], text: &[u8]) -> Result<(), ReadError> {
        match &mut self.state {
            State::Out => return Ok(()),
            State::In { has_stack, .. } => {
                if !std::mem::replace(has_stack, true) {
                    // The sample's own address is the first of its stack.
                    self.stack.clear();
                }
            }
            State::Between | State::Named(_) => {
                let name = std::mem::take(&mut self.name);
                let event = matches!(self.state, State::Named(_)).then_some(&name[..]);
                self.open(number, line, &Header { event, ..Header::default() })?;
                self.name = name;
                let State::In { has_stack, .. } = &mut self.state else { return Ok(()) };
                *has_stack = true;
            }
        }
        self.read += 1;
        if let Some(frame) = self.cache.get(text) {
            self.stack.push(frame);
        } else if let Some(frame) = self.look_up(text)? {
            self.cache.put(text, frame);
            self.stack.push(frame);
        } else {
            self.read -= 1;
            self.skip(number, "no line of a stack", line);
        }
        if self.stack.len() > self.task.options.limits.depth {
            self.drop_sample();
            self.skip(number, "the stack is too deep", line);
        }
        Ok(())
    }

    /// Leaves out the current sample. It still counts as one of its event's samples.
    fn drop_sample(&mut self) {
        self.stack.clear();
        self.state = State::Out;
    }

    /// Returns the function of a line, or `None` if the line is not part of a stack.
    fn look_up(&mut self, text: &[u8]) -> Result<Option<Frame>, ReadError> {
        let Ok(frame) = frame::frame(text) else { return Ok(None) };
        let origin = origin(frame.object, Some(frame.address));
        let function = if frame.is_inlined {
            Code::Inlined(self.inlined.index(frame.symbol, origin, self.task)?)
        } else {
            let id = self.names.id(frame.symbol, frame.object, origin, self.task)?;
            Code::Own(id, !frame.object.is_empty())
        };
        Ok(Some(Frame { address: frame.address, function }))
    }

    /// Puts the functions of the stack into `ids`, the innermost first.
    ///
    /// The code of an inlined function lies in a function with the same address. perf prints that
    /// function after those inlined into it, and some versions before them. It may be missing: perf
    /// takes a function for inlined if the debugging information has another name for it than the
    /// symbol table. Then nothing tells what it belongs to.
    fn resolve(&mut self) -> Result<(), ReadError> {
        self.ids.clear();
        for same in self.stack.chunk_by(|a, b| a.address == b.address).rev() {
            let owner = same.iter().rev().find_map(|frame| frame.with_object());
            for frame in same.iter().rev() {
                self.ids.push(match frame.function {
                    Code::Own(id, _) => id,
                    Code::Inlined(index) => {
                        self.inlined.id(index, owner, &mut self.names, self.task)?
                    }
                });
            }
        }
        self.ids.reverse();
        self.stack.clear();
        Ok(())
    }

    /// Counts the current sample.
    fn close(&mut self) -> Result<(), ReadError> {
        let state = std::mem::replace(&mut self.state, State::Between);
        let (event, weight) = match state {
            State::In { event, weight, .. } => (event, weight),
            State::Named(number) => {
                self.skipped.note(number, || format!("{NO_LINE}: {}", shown(&self.name)));
                return Ok(());
            }
            State::Between | State::Out => return Ok(()),
        };
        self.resolve()?;
        let contexts = &mut self.events[event].contexts;
        let before = contexts.len();
        contexts.sample(&self.ids, Tally::of(1, weight));
        self.contexts += contexts.len() - before;
        let limit = self.task.options.limits.contexts;
        if self.contexts > limit {
            return Err(self.task.too_large("calling contexts", limit));
        }
        Ok(())
    }

    /// The profile of the event that was asked for, or of the one that is most like time. Of several
    /// that are so, it is the one with the most samples.
    fn profile(mut self, lines: u64) -> Result<SampledProfile, ReadError> {
        let file = self.task.file.to_owned();
        // Of several with the same number, take the first.
        let most = (0..self.events.len()).max_by_key(|&index| {
            let event = &self.events[index];
            (like_time(&event.name), event.samples, std::cmp::Reverse(index))
        });
        let Some(most) = most else {
            if let (Some(event), false) = (&self.task.options.event, self.left_out.is_empty()) {
                let there = self.left_out.iter().map(|name| text(name)).collect();
                return Err(ReadError::NoSuchEvent { file, event: event.clone(), there });
            }
            let none = (lines, "there is no sample up to here".to_owned());
            let (entry, what) = self.skipped.first().cloned().unwrap_or(none);
            let format = Format::PerfScript;
            return Err(ReadError::Nothing { file, format, entry, what, mend: MEND });
        };
        self.skipped.check(self.read, Format::PerfScript, MEND, self.task)?;
        let event = self.events.swap_remove(most);
        if event.contexts.len() == 1 {
            return Err(ReadError::NoStacks { file, samples: event.samples });
        }
        let per_count = self.task.options.nanoseconds_per_count;
        let unit = match event.unit() {
            Unit::Samples if per_count.is_some() => Unit::Nanoseconds,
            unit => unit,
        };
        let mut profile = SampledProfile::new(Format::PerfScript, unit);
        let others = self.events.iter().map(|event| &event.name).chain(&self.left_out);
        let mut left_out: Vec<String> = others.map(|name| text(name)).collect();
        left_out.sort_unstable();
        profile.facts.event = event.text();
        profile.facts.rate = event.rate();
        profile.facts.span = event.span();
        profile.facts.threads = event.threads();
        profile.facts.lost = self.lost;
        self.comments.tell(&event.name, &mut profile.facts);
        if self.is_hybrid {
            profile.facts.clock_ghz = None;
        }
        profile.facts.processors = event.processors;
        (profile.functions, profile.contexts) = if self.events.is_empty() {
            (self.names.into_functions(), event.contexts)
        } else {
            self.names.of(&event.contexts, |tally| tally)
        };
        profile.facts.has_kernel = has_kernel(&profile.functions);
        if !left_out.is_empty() {
            profile.remarks.push(Remark::OtherEvents { left_out });
        }
        if self.inlined.is_used() {
            profile.remarks.push(Remark::Inlined);
        }
        profile.remarks.extend(self.skipped.remark());
        Ok(profile)
    }
}

/// Whether a line that begins as a comment is a sample of a command with such a name.
fn is_commented(line: &[u8]) -> bool {
    let Some(Opening::Sample(header)) = header::opening(line) else { return false };
    header.time.is_some() && header.event.is_some()
}

/// Whether what was found on a line is enough to believe that it is a sample's.
fn is_sample(header: &Header<'_>, is_indented: bool) -> bool {
    if header.is_only_event() {
        return header.rest.is_empty() || is_address(header.rest);
    }
    !is_indented || header.time.is_some() || header.event.is_some()
}

/// Whether a text begins as a line of a stack does.
fn is_address(text: &[u8]) -> bool {
    frame::address(header::first_word(text).0).is_some()
}

/// Whether a line that begins with an address is a sample without call chains, as `-F ip,sym`
/// prints it: a space and sixteen places. Those of a stack have a tab before them.
fn is_alone(line: &[u8]) -> bool {
    let end = line.len() - header::first_word(line).1.len();
    line[..end].trim_ascii_end().len() == 17
}

/// An event's name for messages.
fn text(name: &[u8]) -> String {
    if name.is_empty() {
        "samples without an event".to_owned()
    } else {
        String::from_utf8_lossy(name).into_owned()
    }
}

/// Reads what `perf script` prints.
pub(crate) fn read(from: impl BufRead, task: &Task<'_>) -> Result<SampledProfile, ReadError> {
    let limit = task.options.limits.line_bytes;
    let mut lines = Lines::new(from, limit);
    let mut reader = Reader::new(task);
    while let Some((number, line)) = lines.next().map_err(|source| task.failed(source))? {
        match line {
            Line::Text(line) => reader.line(number, line)?,
            Line::TooLong => {
                reader.drop_sample();
                reader.skipped.note(number, || format!("longer than {limit} bytes"));
            }
        }
    }
    if lines.is_broken() {
        // The last sample may lack callers, because the text breaks off.
        reader.drop_sample();
    }
    reader.close()?;
    let count = lines.number();
    let mut profile = reader.profile(count)?;
    profile.remarks.extend(lines.broken());
    Ok(profile)
}
