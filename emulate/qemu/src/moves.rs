//! The lines that move between cores, and who needs them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use kilocore_emulation_orders::{LineUse, MovedLine, UseKind};
use kilocore_platform::Cycles;

use crate::machine;

/// Lines that are remembered. If there are more, those that moved least are forgotten.
const MOST_LINES: usize = 1 << 16;
/// Uses of a line that are remembered, the first ones.
const MOST_USES: usize = 64;
/// Lines that are reported.
const MOST_REPORTED: usize = 64;
/// The numbers of threads that are told apart.
const THREADS: u32 = 128;

/// By the addresses of their first bytes.
static LINES: Mutex<Option<HashMap<u64, Line>>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Line {
    moves: u64,
    waited: u64,
    uses: Vec<Use>,
}

#[derive(Debug)]
struct Use {
    code: u64,
    offset: u32,
    bytes: u32,
    kind: UseKind,
    moves: u64,
    waited: u64,
    threads: u128,
    last: u32,
    changes: u64,
}

/// A thread needed bytes of a line that another core had, and waited for it.
pub(crate) fn moved(
    thread: u32,
    code: u64,
    address: u64,
    bytes: u64,
    kind: UseKind,
    waited: Cycles,
) {
    let size = machine::line_bytes();
    let (first, offset) = (address - address % size, (address % size) as u32);
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = lines.get_or_insert_default();
    if lines.len() >= MOST_LINES && !lines.contains_key(&first) {
        forget_some(lines);
    }
    let line = lines.entry(first).or_default();
    line.moves += 1;
    line.waited += waited.0;
    let found = line.uses.iter().position(|one| one.code == code && one.offset == offset);
    let at = match found {
        Some(at) => at,
        None if line.uses.len() == MOST_USES => return,
        None => {
            line.uses.push(Use {
                code,
                offset,
                bytes: bytes as u32,
                kind,
                moves: 0,
                waited: 0,
                threads: 0,
                last: thread,
                changes: 0,
            });
            line.uses.len() - 1
        }
    };
    let one = &mut line.uses[at];
    one.moves += 1;
    one.waited += waited.0;
    one.threads |= 1 << (thread % THREADS);
    one.changes += u64::from(one.last != thread);
    one.last = thread;
}

/// No line has moved yet.
pub(crate) fn forget() {
    *LINES.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Forgets the half of the lines that moved least.
fn forget_some(lines: &mut HashMap<u64, Line>) {
    let mut moves: Vec<(u64, u64)> =
        lines.iter().map(|(address, line)| (line.moves, *address)).collect();
    let (_, middle, _) = moves.select_nth_unstable(lines.len() / 2);
    let middle = *middle;
    lines.retain(|address, line| (line.moves, *address) > middle);
}

/// The lines that took most time, the most first.
pub(crate) fn dearest() -> Vec<MovedLine> {
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = lines.get_or_insert_default();
    let mut dearest: Vec<(&u64, &Line)> = lines.iter().collect();
    dearest.sort_by_key(|(address, line)| (std::cmp::Reverse(line.waited), **address));
    dearest.truncate(MOST_REPORTED);
    let of = |(address, line): (&u64, &Line)| {
        let mut uses: Vec<LineUse> = line.uses.iter().map(Use::reported).collect();
        uses.sort_by_key(|one| (std::cmp::Reverse(one.moves), one.code, one.offset));
        let waited_ns = machine::ns(Cycles(line.waited));
        MovedLine { address: *address, moves: line.moves, waited_ns, uses }
    };
    dearest.into_iter().map(of).collect()
}

impl Use {
    fn reported(&self) -> LineUse {
        LineUse {
            code: self.code,
            offset: self.offset,
            bytes: self.bytes,
            access: self.kind,
            moves: self.moves,
            waited_ns: machine::ns(Cycles(self.waited)),
            threads: [self.threads as u64, (self.threads >> 64) as u64],
            changes: self.changes,
        }
    }
}
