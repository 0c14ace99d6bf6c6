//! What moved between cores, and which code waited for it.

use serde::{Deserialize, Serialize};

/// A cache line that moved from core to core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MovedLine {
    /// The address of its first byte, as the program has it.
    pub address: u64,
    /// How often a core needed it that another one had.
    pub moves: u64,
    /// How long cores waited for that, in ns of simulated time, all together.
    pub waited_ns: f64,
    /// Who needed it, the most frequent first. Rare ones may be left out.
    pub uses: Vec<LineUse>,
}

/// An instruction that needed some bytes of a line that another core had.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineUse {
    /// The address of the instruction.
    pub code: u64,
    /// Where the bytes begin in the line.
    pub offset: u32,
    /// How many there are.
    pub bytes: u32,
    /// What it does to them.
    pub access: UseKind,
    /// How often.
    pub moves: u64,
    /// How long its core waited, in ns of simulated time, all together.
    pub waited_ns: f64,
    /// How often its core had the line, as far as that was looked at: after one in [`ONE_OF`](Self::ONE_OF) moves of it.
    pub hits: u64,
    /// Which threads did so: bit n for that with the number n, or n plus a multiple of 128. The low bits first.
    pub threads: [u64; 2],
    /// How often it was another thread than the time before.
    pub changes: u64,
}

/// What an instruction does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UseKind {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It does both, in one step or in two.
    Update,
}

/// Whether threads need a line for the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// They do: one writes what another one uses.
    True,
    /// Each has bytes of its own, which happen to be on one line.
    False,
}

/// A block of code, and what it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeTime {
    /// The address of its first instruction.
    pub address: u64,
    /// How long cores executed it, in ns of simulated time, all together.
    pub computed_ns: f64,
    /// How long they waited for lines that it needed, likewise.
    pub waited_ns: f64,
}

/// A file in the program's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappedFile {
    /// The first address.
    pub start: u64,
    /// The address behind the last one.
    pub end: u64,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The file.
    pub path: String,
}

/// A use counts as one that others share bytes with if it, or theirs, is at least so large a part of the other.
const PART: u64 = 10;

impl LineUse {
    /// After one in so many moves of a line it is looked at how its core uses it further, and more often at first.
    pub const ONE_OF: u64 = 8;

    /// How often it needed the line, whoever had it: about, as not all of that was looked at.
    fn times(&self) -> u64 {
        self.hits.saturating_mul(Self::ONE_OF).saturating_add(self.moves)
    }

    fn writes(&self) -> bool {
        self.access != UseKind::Load
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.offset < other.offset.saturating_add(other.bytes)
            && other.offset < self.offset.saturating_add(self.bytes)
    }

    /// Whether another thread than its own uses these bytes as often, and one of them writes.
    fn is_shared(&self, all: &[Self]) -> bool {
        let by_several = self.writes() && self.changes >= self.moves.div_ceil(PART);
        by_several
            || all.iter().any(|other| {
                let apart = self.threads != other.threads
                    || (self.threads[0].count_ones() + self.threads[1].count_ones()) > 1;
                self.overlaps(other)
                    && apart
                    && (self.writes() || other.writes())
                    && other.times() >= self.moves.div_ceil(PART)
            })
    }
}

impl MovedLine {
    /// Whether threads need it for the same bytes, by the larger part of its moves. None if nobody is known to have
    /// needed it.
    #[must_use]
    pub fn sharing(&self) -> Option<Sharing> {
        let of = |shared: bool| {
            let uses = self.uses.iter().filter(|one| one.is_shared(&self.uses) == shared);
            uses.map(|one| one.moves).fold(0, u64::saturating_add)
        };
        match (of(true), of(false)) {
            (0, 0) => None,
            (same, apart) if same >= apart => Some(Sharing::True),
            _ => Some(Sharing::False),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(offset: u32, access: UseKind, moves: u64, threads: u64, changes: u64) -> LineUse {
        LineUse {
            code: 0x1000,
            offset,
            bytes: 8,
            access,
            moves,
            waited_ns: 1.0,
            hits: 0,
            threads: [threads, 0],
            changes,
        }
    }

    fn sharing(uses: Vec<LineUse>) -> Option<Sharing> {
        MovedLine { address: 0, moves: 1, waited_ns: 1.0, uses }.sharing()
    }

    #[test]
    fn words_of_each_thread_share_falsely_although_another_one_has_cleared_them_once() {
        use UseKind::{Load, Store};
        let words = (0..4).map(|thread| needs(thread * 8, Store, 500, 2 << thread, 0));
        let cleared = (0..4).map(|word| needs(word * 8, Store, 1, 1, 0));
        assert_eq!(sharing(words.chain(cleared).collect()), Some(Sharing::False));
        let flag = vec![needs(0, Store, 400, 2, 0), needs(0, Load, 500, 12, 480)];
        assert_eq!(sharing(flag), Some(Sharing::True));
    }

    #[test]
    fn a_word_that_is_used_when_the_line_has_come_for_another_one_is_shared() {
        use UseKind::{Load, Store};
        let hits = |offset, threads| LineUse { hits: 125, ..needs(offset, Load, 0, threads, 0) };
        let own = || vec![needs(0, Store, 1_000, 2, 0), needs(8, Store, 1_000, 4, 0)];
        assert_eq!(sharing(own()), Some(Sharing::False));
        // Each writes one of them and reads both.
        let queue = [own(), vec![hits(8, 2), hits(0, 4)]].concat();
        assert_eq!(sharing(queue), Some(Sharing::True));
        let own_again = [own(), vec![hits(0, 2), hits(8, 4)]].concat();
        assert_eq!(sharing(own_again), Some(Sharing::False));
    }

    #[test]
    fn a_word_that_several_threads_write_is_shared_and_one_that_all_read_moves_for_another_reason()
    {
        use UseKind::{Load, Store, Update};
        assert_eq!(sharing(vec![needs(0, Update, 900, 30, 800)]), Some(Sharing::True));
        let read_beside_a_counter = vec![needs(0, Load, 900, 28, 800), needs(32, Store, 300, 2, 0)];
        assert_eq!(sharing(read_beside_a_counter), Some(Sharing::False));
        assert_eq!(sharing(Vec::new()), None);
    }
}
