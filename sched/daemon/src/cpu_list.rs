//! Reading lists of cores as Linux writes them: `0-3,8`.

use kilocore_sched_policy::{CpuId, CpuSet};

/// The highest number of a core that is believed.
const MOST: u32 = 16_383;

/// The cores of a list, or `None` if it is none or empty.
pub(crate) fn parse(text: &str) -> Option<CpuSet> {
    let mut cpus = CpuSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last > MOST {
            return None;
        }
        for cpu in first..=last {
            cpus.insert(CpuId(cpu));
        }
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["0", "0-3", "0-3,8", "1,3,5-127"] {
            assert_eq!(parse(text).expect("a list").to_string(), text);
        }
        for text in ["", "x", "3-1", "0,", "0-99999999", "-1"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
