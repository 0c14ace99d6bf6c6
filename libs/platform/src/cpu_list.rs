//! Lists of processors as Linux writes them: `0-3,8`.

use crate::CpuId;

/// The numbers in a list are below this. Linux 6 can be built for 8,192 processors; a damaged list such
/// as `0-4294967295` must not fill anybody's memory.
pub const MOST_CPUS: u32 = 16_384;

/// Returns the processors of a list such as `0-3,8`, in its order. Space around the list is left out.
///
/// Without any text there are no processors: Linux says so of a node that has only memory. Returns
/// `None` for what is no list: something else than numbers, a range that runs backwards, or a number
/// that is not below [`MOST_CPUS`].
///
/// ```
/// use kilocore_platform::{CpuId, cpu_list};
///
/// let cpus: Vec<u32> = cpu_list("0-2,8\n").unwrap().map(|CpuId(cpu)| cpu).collect();
/// assert_eq!(cpus, [0, 1, 2, 8]);
/// assert!(cpu_list("3-1").is_none());
/// ```
pub fn cpu_list(text: &str) -> Option<impl Iterator<Item = CpuId> + Clone + '_> {
    let text = text.trim();
    let parts = text.split(',').filter(move |_| !text.is_empty());
    if !parts.clone().all(|part| range(part).is_some()) {
        return None;
    }
    Some(parts.filter_map(range).flatten().map(CpuId))
}

/// The numbers of `8` or `0-3`.
fn range(part: &str) -> Option<core::ops::RangeInclusive<u32>> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < MOST_CPUS).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    fn numbers(text: &str) -> Option<Vec<u32>> {
        cpu_list(text).map(|cpus| cpus.map(|cpu| cpu.0).collect())
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(numbers("0-2,8,10-11\n"), Some([0, 1, 2, 8, 10, 11].to_vec()));
        assert_eq!(numbers("16383"), Some([16_383].to_vec()));
        assert_eq!(numbers("\n"), Some(Vec::new()));
        for nonsense in ["a", "3-1", "0-", "0,", ",", "-1", "0-16384", "0-4294967295", "0 1"] {
            assert_eq!(numbers(nonsense), None, "{nonsense}");
        }
    }

    proptest! {
        #[test]
        fn no_list_is_too_strange(text in "[0-9,-]{0,30}") {
            numbers(&text);
        }

        #[test]
        fn what_is_written_is_read(cpus in proptest::collection::vec(0..MOST_CPUS, 0..20)) {
            let words: Vec<String> = cpus.iter().map(|cpu| std::format!("{cpu}")).collect();
            prop_assert_eq!(numbers(&words.join(",")), Some(cpus));
        }
    }
}
