//! The caches of this machine, as Linux describes them in sysfs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kilocore_platform::cpu_list;

use crate::tiered::{BATCH, CORES_PER_STRIPE, TieredOptions};

use super::PAGE_BYTES;

/// What is assumed of a machine that does not say: a small private cache, and a last-level cache for all.
const PRIVATE_BYTES: u64 = 256 << 10;
const SHARED_BYTES: u64 = 4 << 20;

/// A cache, as one core sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cache {
    level: u32,
    bytes: u64,
    cpus: Vec<u32>,
}

impl TieredOptions {
    /// Sizes the tiers by the caches of this machine.
    ///
    /// Each hardware thread gets its share of the largest cache that only the threads of one core use, and
    /// each last-level cache is as large as it is. On a machine that does not describe its caches, 256 KiB
    /// and 4 MiB are assumed, for all cores together.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self::described_in(Path::new("/sys/devices/system/cpu"))
    }

    /// The same for a machine that is described in a folder, in the way of `/sys/devices/system/cpu`.
    #[must_use]
    pub fn described_in(folder: &Path) -> Self {
        let cpus = numbers(folder.join("possible")).unwrap_or_else(|| vec![0]);
        let cores = cpus.iter().max().map_or(1, |most| most + 1);
        let caches: BTreeMap<u32, Vec<Cache>> =
            cpus.iter().map(|&cpu| (cpu, caches_of(folder, cpu))).collect();
        let private_bytes = cpus.iter().filter_map(|&cpu| {
            let siblings = numbers(folder.join(format!("cpu{cpu}/topology/thread_siblings_list")))
                .unwrap_or_else(|| vec![cpu]);
            share_of_private(&caches[&cpu], &siblings)
        });
        // Where cores differ, the list is not longer than the smallest cache.
        let private_bytes = private_bytes.min().unwrap_or(PRIVATE_BYTES);
        let last = |cpu: u32| caches.get(&cpu)?.iter().max_by_key(|cache| cache.level);
        let shared_bytes = cpus.iter().filter_map(|&cpu| last(cpu)).map(|cache| cache.bytes).min();
        let private_frames = frames(private_bytes).max(1);
        Self {
            last_level_caches: number_caches((0..cores).map(last)),
            private_frames,
            shared_frames: frames(shared_bytes.unwrap_or(SHARED_BYTES)),
            batch: BATCH.min(private_frames.div_ceil(4)),
            cores_per_stripe: CORES_PER_STRIPE,
        }
    }
}

fn frames(bytes: u64) -> u32 {
    u32::try_from(bytes / PAGE_BYTES as u64).unwrap_or(u32::MAX)
}

/// Returns a hardware thread's share of the largest cache that no other core uses. A machine's only cache
/// level is no private one.
fn share_of_private(caches: &[Cache], siblings: &[u32]) -> Option<u64> {
    let own = |cache: &&Cache| cache.cpus.iter().all(|cpu| siblings.contains(cpu));
    let private = caches.iter().filter(own).max_by_key(|cache| cache.level)?;
    Some(private.bytes / private.cpus.len().max(1) as u64)
}

/// Gives each last-level cache a number. Processors that do not say which they have share one.
fn number_caches<'a>(last: impl Iterator<Item = Option<&'a Cache>>) -> Box<[u32]> {
    let mut known: Vec<&[u32]> = Vec::new();
    let number = |cache: Option<&'a Cache>| {
        let cpus = cache.map_or(&[][..], |cache| &cache.cpus);
        let found = known.iter().position(|other| *other == cpus);
        found.unwrap_or_else(|| {
            known.push(cpus);
            known.len() - 1
        }) as u32
    };
    last.map(number).collect()
}

/// Returns the caches of a processor that hold data.
fn caches_of(folder: &Path, cpu: u32) -> Vec<Cache> {
    let index = |at: u32| {
        let cache = folder.join(format!("cpu{cpu}/cache/index{at}"));
        let read = |name: &str| fs::read_to_string(cache.join(name)).ok();
        Some((
            read("type")?.trim() != "Instruction",
            Cache {
                level: read("level")?.trim().parse().ok()?,
                bytes: size(read("size")?.trim())?,
                cpus: numbers(cache.join("shared_cpu_list"))?,
            },
        ))
    };
    (0..).map_while(index).filter_map(|(data, cache)| data.then_some(cache)).collect()
}

/// Reads a size such as `256K`.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Reads a list such as `0-3,8`.
fn numbers(file: impl AsRef<Path>) -> Option<Vec<u32>> {
    let cpus: Vec<u32> = cpu_list(&fs::read_to_string(file).ok()?)?.map(|cpu| cpu.0).collect();
    (!cpus.is_empty()).then_some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(
            (size("256K"), size("8M"), size("12"), size("3X")),
            (Some(256 << 10), Some(8 << 20), Some(12), None)
        );
    }

    /// Writes a description of cores with two threads each and an own second-level cache, and a third-level
    /// one for every two cores.
    fn describe(folder: &Path, cores: u32) {
        let write = |path: String, text: String| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a new folder");
            fs::write(path, text).expect("a new file");
        };
        write("possible".into(), format!("0-{}\n", 2 * cores - 1));
        for cpu in 0..2 * cores {
            let core = cpu / 2;
            let threads = format!("{}-{}\n", 2 * core, 2 * core + 1);
            let four = format!("{}-{}\n", cpu / 4 * 4, cpu / 4 * 4 + 3);
            write(format!("cpu{cpu}/topology/thread_siblings_list"), threads.clone());
            let caches = [
                ("Data", 1, "32K", &threads),
                ("Instruction", 1, "32K", &threads),
                ("Unified", 2, "256K", &threads),
                ("Unified", 3, "8192K", &four),
            ];
            for (at, (kind, level, size, cpus)) in caches.into_iter().enumerate() {
                let cache = format!("cpu{cpu}/cache/index{at}");
                write(format!("{cache}/type"), format!("{kind}\n"));
                write(format!("{cache}/level"), format!("{level}\n"));
                write(format!("{cache}/size"), format!("{size}\n"));
                write(format!("{cache}/shared_cpu_list"), cpus.clone());
            }
        }
    }

    #[test]
    fn tiers_are_as_large_as_the_caches_that_sysfs_describes() {
        let folder = std::env::temp_dir().join(format!("kilocore-caches-{}", std::process::id()));
        describe(&folder, 4);
        let options = TieredOptions::described_in(&folder);
        fs::remove_dir_all(&folder).expect("it was made above");
        assert_eq!(*options.last_level_caches, [0, 0, 0, 0, 1, 1, 1, 1]);
        // Half of 256 KiB for each of two threads.
        assert_eq!((options.private_frames, options.shared_frames), (32, 2048));
        assert_eq!(options.batch, 8);
    }

    #[test]
    fn a_machine_that_says_nothing_has_some_caches_all_the_same() {
        let options = TieredOptions::described_in(Path::new("/nonexistent"));
        assert_eq!(options, TieredOptions::one_cache(1, 64, 1024));
    }

    #[test]
    fn this_machine_has_a_list_for_each_processor() {
        let options = TieredOptions::of_this_machine();
        let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        assert!(options.cores() >= cpus && options.private_frames > 0, "{options:?}");
    }
}
