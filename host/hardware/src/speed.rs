//! How fast the cores of a machine are beside each other.
//!
//! Linux tells it in one of two files, or in neither:
//!
//! ```text
//! cpu/cpu0/cpu_capacity              1024 on the fastest cores, less on others
//! cpu/cpu0/cpufreq/cpuinfo_max_freq  3600000 (kHz)
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::CpuId;

/// Returns how fast each of these processors is, as a share of the fastest of them. Empty if the system does
/// not say it of all of them: a core of which nothing is known is no slower one.
pub(crate) fn speeds(root: &Path, processors: &[CpuId]) -> BTreeMap<CpuId, f64> {
    ["cpu_capacity", "cpufreq/cpuinfo_max_freq"]
        .into_iter()
        .find_map(|file| all(root, processors, file))
        .unwrap_or_default()
}

fn all(root: &Path, processors: &[CpuId], file: &str) -> Option<BTreeMap<CpuId, f64>> {
    let of = |cpu: &CpuId| Some((*cpu, number(&root.join(format!("cpu/cpu{}/{file}", cpu.0)))?));
    let figures: Vec<(CpuId, u32)> = processors.iter().map(of).collect::<Option<_>>()?;
    let fastest = figures.iter().map(|(_, figure)| *figure).max()?;
    let share = |(cpu, figure)| (cpu, f64::from(figure) / f64::from(fastest));
    Some(figures.into_iter().map(share).collect())
}

/// The number in a file, if it is one and not 0.
fn number(path: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(path).ok()?.take(64).read_to_string(&mut text).ok()?;
    text.trim().parse().ok().filter(|&number| number > 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The speeds of two processors with these figures in this file.
    fn told(file: &str, figures: [&[u8]; 2]) -> Vec<f64> {
        let root = tempfile::tempdir().expect("there is room");
        for (cpu, figure) in figures.into_iter().enumerate() {
            let path = root.path().join(format!("cpu/cpu{cpu}/{file}"));
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("there is room");
            fs::write(path, figure).expect("there is room");
        }
        speeds(root.path(), &[CpuId(0), CpuId(1)]).into_values().collect()
    }

    #[test]
    fn either_file_tells() {
        assert_eq!(told("cpu_capacity", [b"512\n", b"1024\n"]), [0.5, 1.0]);
        assert_eq!(told("cpufreq/cpuinfo_max_freq", [b"3600000\n", b"1800000\n"]), [1.0, 0.5]);
        assert_eq!(told("cpu_capacity", [b"446", b"446"]), [1.0, 1.0]);
    }

    #[test]
    fn what_is_no_speed_is_not_known() {
        let long = [b'9'; 4096];
        for wrong in
            [&b""[..], b"0", b"-5", b"fast", b"\xff\xfe", b"99999999999", b"1e3", b"nan", &long]
        {
            assert!(told("cpu_capacity", [b"1024", wrong]).is_empty(), "{wrong:?}");
        }
        assert!(speeds(Path::new("/nowhere"), &[CpuId(0)]).is_empty());
        assert!(speeds(Path::new("/nowhere"), &[]).is_empty());
    }
}
