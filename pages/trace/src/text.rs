//! Traces as text: a line with the header, and then a line for each event, each a JSON object.
//!
//! ```text
//! {"at":1200,"cpu":0,"thread":3,"allocate":{"page":17,"order":0,"zeroed":true,"movable":true}}
//! {"at":1950,"cpu":1,"thread":0,"release":{"page":17,"order":0}}
//! ```
//!
//! People and other programs can write these. The counts of the header's `contents` need not be
//! right there: they are counted anew.

use std::io::{self, BufRead, Read, Write};

use crate::columns::{MOST_CPUS, MOST_INDICES};
use crate::packet::{FORMAT, LONGEST_HEADER};
use crate::reader::State;
use crate::{Event, Header, ReadError, TracePosition};
use kilocore_trace_file::Wrong;

/// No event has a longer line.
const LONGEST_LINE: usize = 1 << 12;

/// Writes a trace as text.
///
/// # Errors
/// Those of `to`.
pub fn write_text(
    to: &mut impl Write,
    header: &Header,
    events: impl IntoIterator<Item = Event>,
) -> io::Result<()> {
    serde_json::to_writer(&mut *to, header)?;
    to.write_all(b"\n")?;
    for event in events {
        serde_json::to_writer(&mut *to, &event)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}

/// Reads a trace that is text.
pub(crate) fn read(mut from: impl BufRead) -> Result<(Header, Vec<Event>), ReadError> {
    let mut line = Vec::new();
    let mut header: Header = match next(&mut from, &mut line, LONGEST_HEADER, 1)? {
        true => serde_json::from_slice(&line).map_err(|error| not_understood(&error, 1))?,
        false => return Err(Wrong::NoTrace(FORMAT.is_none).at(TracePosition::Whole)),
    };
    let (mut state, mut events) = (State::default(), Vec::new());
    let mut number = 2;
    while next(&mut from, &mut line, LONGEST_LINE, number)? {
        if !line.trim_ascii().is_empty() {
            let event: Event =
                serde_json::from_slice(&line).map_err(|error| not_understood(&error, number))?;
            if event.cpu.0 >= MOST_CPUS || event.thread.0 >= MOST_INDICES {
                let wrong =
                    Wrong::damaged("the thread or cpu is beyond the last that there can be");
                return Err(wrong.at(TracePosition::Line(number)));
            }
            state.apply(&event).map_err(|wrong| wrong.at(TracePosition::Line(number)))?;
            events.push(event);
        }
        number += 1;
    }
    header.contents = state.contents();
    Ok((header, events))
}

/// Reads a line; there may be none.
fn next(
    from: &mut impl BufRead,
    line: &mut Vec<u8>,
    longest: usize,
    number: u64,
) -> Result<bool, ReadError> {
    line.clear();
    let position = TracePosition::Line(number);
    let length = from
        .by_ref()
        .take(longest as u64)
        .read_until(b'\n', line)
        .map_err(|error| Wrong::Unreadable(error).at(position))?;
    if length == longest && !line.ends_with(b"\n") {
        return Err(Wrong::damaged("the line is longer than there are").at(position));
    }
    Ok(length > 0)
}

fn not_understood(error: &serde_json::Error, line: u64) -> ReadError {
    Wrong::damaged(format!("column {}: {error}", error.column())).at(TracePosition::Line(line))
}
