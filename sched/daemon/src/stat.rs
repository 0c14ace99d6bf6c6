//! What the file `stat` says of a thread.

use kilocore_sched_policy::CpuId;

/// The flag of threads of the kernel in field 9.
const PF_KTHREAD: u64 = 0x0020_0000;

/// A thread at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// `R` for running, `S` and `D` for asleep, `Z` for one that has ended.
    pub state: u8,
    /// The process that started its process.
    pub parent: u32,
    /// Whether it is a thread of the kernel.
    pub is_kernels: bool,
    /// Processor time, in ticks of the system's clock.
    pub ticks: u64,
    /// When it was started, in ticks since the system was: with its id it names a thread for good.
    pub started: u64,
    /// The core that it is on, or was on last.
    pub cpu: CpuId,
}

impl Stat {
    /// The fields 3, 4, 9, 14, 15, 22 and 39. The name before them, in parentheses, may contain anything.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let mut words = std::str::from_utf8(&text[end + 1..]).ok()?.split_ascii_whitespace();
        let state = *words.next()?.as_bytes().first()?;
        let parent = words.next()?.parse().ok()?;
        let flags: u64 = words.nth(4)?.parse().ok()?;
        let user: u64 = words.nth(4)?.parse().ok()?;
        let system: u64 = words.next()?.parse().ok()?;
        let started = words.nth(6)?.parse().ok()?;
        let cpu = CpuId(words.nth(16)?.parse().ok()?);
        let is_kernels = flags & PF_KTHREAD != 0;
        Some(Self { state, parent, is_kernels, ticks: user.saturating_add(system), started, cpu })
    }

    /// Whether it has ended. What is left of it waits for its parent.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_from_their_places_whatever_the_name() {
        let fields: Vec<String> = (4..=52).map(|field| field.to_string()).collect();
        let line = format!("17 (a) b (c) S {}", fields.join(" "));
        let expected = Stat {
            state: b'S',
            parent: 4,
            is_kernels: false,
            ticks: 29,
            started: 22,
            cpu: CpuId(39),
        };
        assert_eq!(Stat::parse(line.as_bytes()), Some(expected));
        let kernels = line.replace(" 9 ", " 2129984 ");
        let expected = Stat { is_kernels: true, ..expected };
        assert_eq!(Stat::parse(kernels.as_bytes()), Some(expected));
        assert_eq!(Stat::parse(b"17 (a"), None);
    }
}
