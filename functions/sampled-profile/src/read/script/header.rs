//! The first line of a sample: who ran, where, when, and what was counted.
//!
//! By default a line is `comm tid [cpu] seconds.fraction: period event:`. For an event without call
//! chains, the address, symbol and object follow on the same line. `perf script -F` leaves fields
//! out and adds others:
//!
//! ```text
//! swapper     0 [003] 35559.348102:     250000 cycles:
//! my app 2: x  9999/10047 [000] 35559.348102000:     250000 cycles:u:
//! sysbench 10047 35559.348102:     250000 cycles:  ffffffff816bb643 fput+0x23 (x)
//! a 10047 [002]     250000 cycles:
//! ```
//!
//! The command can contain spaces, digits and colons. Therefore a line is read from its time
//! outwards, in both directions, or from its event if there is no time.

use memchr::{memchr_iter, memmem};

/// A larger number is not taken for a processor's.
const PROCESSORS: u32 = 1 << 16;

/// A sample's first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Header<'a> {
    /// The thread. If the line has a process and a thread (`9999/10047`), this is the thread.
    pub(crate) thread: Option<u32>,
    pub(crate) processor: Option<u32>,
    /// The time of the sample, in nanoseconds of perf's clock.
    pub(crate) time: Option<u64>,
    pub(crate) period: Option<u64>,
    /// The event's name with its modifiers, such as `cpu-clock:ppp`.
    pub(crate) event: Option<&'a [u8]>,
    /// What follows: an address and its symbol, or what a tracepoint says.
    pub(crate) rest: &'a [u8],
}

impl Header<'_> {
    /// Whether the line is nothing but an event's name. Any word with a colon could be one.
    pub(crate) fn is_only_event(&self) -> bool {
        let Self { thread, processor, time, period, event, rest: _ } = self;
        event.is_some() && thread.or(*processor).is_none() && time.or(*period).is_none()
    }
}

/// A line that starts something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening<'a> {
    /// The first line of a sample.
    Sample(Header<'a>),
    /// Another record that perf printed, with the number of lost samples that it reports.
    Record {
        /// How many samples were lost; 0 if it reports none.
        lost: u64,
    },
}

/// Parses a first line. Returns `None` if the line is not one.
pub(crate) fn opening(line: &[u8]) -> Option<Opening<'_>> {
    if let Some((before, time, after)) = split_at_time(line) {
        let after = after.trim_ascii();
        if after.starts_with(b"PERF_RECORD_") {
            return Some(Opening::Record { lost: lost(after) });
        }
        // The time alone is enough to show what the line is.
        let mut header = who(before).unwrap_or_default();
        header.time = Some(time);
        what(after, &mut header);
        return Some(Opening::Sample(header));
    }
    if memmem::find(line, b"PERF_RECORD_").is_some() {
        return Some(Opening::Record { lost: lost(line) });
    }
    without_time(line).map(Opening::Sample)
}

/// Splits a line at its `seconds.fraction:`. The command may have such words, too. So it is the first
/// that stands between a thread and an event, or if there is none, behind a thread, or at all.
fn split_at_time(line: &[u8]) -> Option<(&[u8], u64, &[u8])> {
    let times = || {
        memchr_iter(b':', line).filter_map(|colon| {
            if line.get(colon + 1).is_some_and(|&byte| byte != b' ') {
                return None;
            }
            let start = line[..colon].iter().rposition(|&byte| byte == b' ').map_or(0, |at| at + 1);
            Some((&line[..start], time(&line[start..colon])?, &line[colon + 1..]))
        })
    };
    let first = times().next()?;
    let follows_thread = |before: &[u8]| {
        who(before).is_some_and(|header| header.thread.or(header.processor).is_some())
    };
    let precedes_event = |after: &[u8]| {
        let mut header = Header::default();
        what(after.trim_ascii(), &mut header);
        header.event.is_some() || after.trim_ascii().starts_with(b"PERF_RECORD_")
    };
    let full = times().find(|(before, _, after)| follows_thread(before) && precedes_event(after));
    full.or_else(|| times().find(|(before, ..)| follows_thread(before))).or(Some(first))
}

/// Seconds with a fraction of three to nine digits, in nanoseconds.
fn time(text: &[u8]) -> Option<u64> {
    let point = memchr::memchr(b'.', text)?;
    let (seconds, fraction) = (&text[..point], &text[point + 1..]);
    if !(3..=9).contains(&fraction.len()) {
        return None;
    }
    let scale = 10_u64.pow(9 - fraction.len() as u32);
    number(seconds)?.checked_mul(1_000_000_000)?.checked_add(number(fraction)? * scale)
}

/// What is before the time: the command, the thread, the processor and more.
fn who(before: &[u8]) -> Option<Header<'static>> {
    let mut header = Header::default();
    let mut rest = before.trim_ascii();
    // The thread may be followed by a flag of `-F misc`, such as `K`, and by words about a guest.
    while let (left, Some(word)) = last_word(rest) {
        if word.starts_with(b"[") && word.ends_with(b"]") {
            header.processor = processor(word).filter(|&number| number < PROCESSORS);
        } else if let Some(thread) = thread(word) {
            header.thread = thread;
            break;
        } else if left.is_empty() || !is_flag(word) {
            return None;
        }
        rest = left;
    }
    Some(header)
}

fn is_flag(word: &[u8]) -> bool {
    word.starts_with(b"VM:")
        || word.starts_with(b"VCPU:")
        || (word.len() <= 6 && word.iter().all(u8::is_ascii_alphabetic))
}

/// What is behind the time: the period, the event and more.
fn what<'a>(after: &'a [u8], header: &mut Header<'a>) {
    let (first, behind) = first_word(after);
    let period = number(first);
    let rest = if period.is_some() { behind } else { after };
    let (event, behind) = first_word(rest);
    match event.strip_suffix(b":") {
        Some(event) if !event.is_empty() => {
            header.period = period;
            header.event = Some(event);
            header.rest = behind;
        }
        // An address may consist of digits only.
        _ if period.is_some() && !rest.is_empty() && !is_hexadecimal(event) => header.rest = after,
        _ => {
            header.period = period;
            header.rest = rest;
        }
    }
}

/// A line without a time: `comm tid [cpu] period event:`, as much of it as there is.
fn without_time(line: &[u8]) -> Option<Header<'_>> {
    let colon = memchr_iter(b':', line).find(|&at| {
        at > 0 && line[at - 1] != b' ' && matches!(line.get(at + 1), None | Some(b' '))
    });
    let (before, event, rest) = match colon {
        None => (line, None, &line[line.len()..]),
        Some(colon) => {
            let start = line[..colon].iter().rposition(|&byte| byte == b' ').map_or(0, |at| at + 1);
            (&line[..start], Some(&line[start..colon]), line[colon + 1..].trim_ascii())
        }
    };
    let trimmed = before.trim_ascii_end();
    let (left, last) = last_word(trimmed);
    let (mut header, period) = match last.and_then(number) {
        // Periods are printed with ten places or more, threads never are.
        Some(period) if event.is_some() && left.trim_ascii().is_empty() => {
            let is_period = trimmed.len() >= 10;
            let thread = u32::try_from(period).ok().filter(|_| !is_period);
            (Header { thread, ..Header::default() }, is_period.then_some(period))
        }
        Some(period) if trimmed.len() - left.trim_ascii_end().len() > 10 => {
            (who(left)?, Some(period))
        }
        Some(period) => match last_word(left.trim_ascii_end()).1 {
            Some(word)
                if event.is_some() && (thread(word).is_some() || processor(word).is_some()) =>
            {
                (who(left)?, Some(period))
            }
            _ => (who(trimmed)?, None),
        },
        None => (who(trimmed)?, None),
    };
    if event.is_none() && header.thread.is_none() {
        return None;
    }
    header.period = period;
    header.event = event;
    header.rest = rest;
    Some(header)
}

/// Samples that a record says were lost: the number behind `lost`.
fn lost(record: &[u8]) -> u64 {
    let Some(at) = memmem::find(record, b"lost ") else { return 0 };
    number(first_word(record[at..][b"lost ".len()..].trim_ascii()).0).unwrap_or(0)
}

/// `tid` or `pid/tid`; `Some(None)` for a thread that perf does not know.
fn thread(word: &[u8]) -> Option<Option<u32>> {
    let known = |text: &[u8]| match text {
        b"-1" => Some(None),
        _ => number(text).and_then(|number| u32::try_from(number).ok()).map(Some),
    };
    match memchr::memchr(b'/', word) {
        None => known(word),
        Some(at) if at + 1 == word.len() => known(&word[..at]),
        Some(at) => known(&word[..at]).and(known(&word[at + 1..])),
    }
}

/// Parses the number of a processor, such as `[003]`.
fn processor(word: &[u8]) -> Option<u32> {
    let digits = word.strip_prefix(b"[")?.strip_suffix(b"]")?;
    number(digits).and_then(|number| u32::try_from(number).ok())
}

fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

fn is_hexadecimal(word: &[u8]) -> bool {
    (1..=16).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit)
}

/// The first word and what follows it.
pub(crate) fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii_start())
}

/// What is before the last word, and that word.
fn last_word(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let text = text.trim_ascii_end();
    if text.is_empty() {
        return (text, None);
    }
    let start = text.iter().rposition(|&byte| byte == b' ').map_or(0, |at| at + 1);
    (&text[..start], Some(&text[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Fields<'a> = (Option<u32>, Option<u32>, Option<u64>, Option<u64>, &'a str, &'a str);

    fn fields(line: &str) -> Fields<'_> {
        let Some(Opening::Sample(header)) = opening(line.as_bytes()) else {
            panic!("no sample: {line}");
        };
        let text = |bytes| str::from_utf8(bytes).unwrap();
        let event = header.event.map_or("", text);
        let Header { thread, processor, time, period, rest, .. } = header;
        (thread, processor, time, period, event, text(rest))
    }

    #[test]
    fn fields_are_found_whatever_is_printed() {
        let time = Some(35_559_348_102_000);
        let tid = Some(10_047);
        let period = Some(250_000);
        for (line, wanted) in [
            (
                "stress-ng 10047 35559.348102:     250000 cpu-clock:ppp: ",
                (tid, None, time, period, "cpu-clock:ppp", ""),
            ),
            (
                "swapper     0 [003] 35559.348102:     250000 cycles: ",
                (Some(0), Some(3), time, period, "cycles", ""),
            ),
            (
                "my app 2: x  9999/10047 [000] 35559.348102000:     250000 cycles:u: ",
                (tid, Some(0), time, period, "cycles:u", ""),
            ),
            (
                "java  9999/10047   35559.348102: cpu/cycles,period=7/P: ",
                (tid, None, time, None, "cpu/cycles,period=7/P", ""),
            ),
            (
                "        sysbench 10047 35559.348102:     250000 cycles:  ffffffff816bb643 fput+0x23 (x)",
                (tid, None, time, period, "cycles", "ffffffff816bb643 fput+0x23 (x)"),
            ),
            (
                "kworker/0:2-eve 10047 [001] K    35559.348102: sched:sched_switch: prev_comm=a b ==> c",
                (tid, Some(1), time, None, "sched:sched_switch", "prev_comm=a b ==> c"),
            ),
            (
                ":-1    -1 35559.348102:     250000 cycles:",
                (None, None, time, period, "cycles", ""),
            ),
            (
                "x 12.345: y  9999/10047 [000] 35559.348102:     250000 cycles:u: ",
                (tid, Some(0), time, period, "cycles:u", ""),
            ),
            (
                "a 7 12.345: y 10047 35559.348102:     250000 cycles: ",
                (tid, None, time, period, "cycles", ""),
            ),
            ("a 10047 [-01] 35559.348102: cycles: ", (tid, None, time, None, "cycles", "")),
            ("my app! 35559.348102: cycles: ", (None, None, time, None, "cycles", "")),
            ("10047 35559.348102:     250000 cycles: ", (tid, None, time, period, "cycles", "")),
            ("35559.348102: cycles: ", (None, None, time, None, "cycles", "")),
            ("a b 10047 35559.348102: ", (tid, None, time, None, "", "")),
            ("a 10047 35559.348102:     250000 ", (tid, None, time, period, "", "")),
            (
                "a 10047 35559.348102:  81000130 main (x)",
                (tid, None, time, None, "", "81000130 main (x)"),
            ),
            ("a 10047     250000 cycles: ", (tid, None, None, period, "cycles", "")),
            ("a 10047 [002]     250000 cycles: ", (tid, Some(2), None, period, "cycles", "")),
            ("a 10047 cycles: ", (tid, None, None, None, "cycles", "")),
            ("a 10047     250000 ", (tid, None, None, period, "", "")),
            ("a 7 10047 ", (tid, None, None, None, "", "")),
            ("a 10047 ", (tid, None, None, None, "", "")),
            ("page-faults: ", (None, None, None, None, "page-faults", "")),
            ("    250000 page-faults: ", (None, None, None, period, "page-faults", "")),
        ] {
            assert_eq!(fields(line), wanted, "{line}");
        }
    }

    #[test]
    fn other_records_are_told_from_samples() {
        for (line, lost) in [
            ("sysbench 10065 35562.782384: PERF_RECORD_COMM exec: sysbench:10065/10065", 0),
            ("swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xff(0x1) @ 0]: x a b", 0),
            ("a 1 35562.782384: PERF_RECORD_LOST lost 17", 17),
            ("a 1 35562.782384: PERF_RECORD_LOST_SAMPLES lost 4 ", 4),
            ("a 1 PERF_RECORD_LOST lost x", 0),
        ] {
            assert_eq!(opening(line.as_bytes()), Some(Opening::Record { lost }), "{line}");
        }
        for line in ["", "hello world", "a;b", "7f00 main+0x1 (/bin/a)", "[1", "a b c d"] {
            assert_eq!(opening(line.as_bytes()), None, "{line}");
        }
    }
}
