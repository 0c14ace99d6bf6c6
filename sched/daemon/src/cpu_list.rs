//! Sets of cores from the lists that Linux writes: `0-3,8`.

use kilocore_platform::cpu_list;
use kilocore_sched_policy::CpuSet;

/// The cores of a list, or `None` if it is none or empty.
pub(crate) fn parse(text: &str) -> Option<CpuSet> {
    let cpus: CpuSet = cpu_list(text)?.collect();
    (!cpus.is_empty()).then_some(cpus)
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
