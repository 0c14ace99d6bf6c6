//! Points that were simulated before, on disk.
//!
//! A simulation has no input but the workload, the lock, the machine and the size of the run, and the same input
//! has the same point. So a point is kept under a digest of all its input. Where a type of the input gets a
//! field, the digest has it too: it is made of what `Debug` says.
//!
//! The simulator is part of the input as well, down to the compiler, which lays out the stacks on which some
//! locks have their nodes. So the name of a file is a digest of the program that runs and of the machine. Another
//! build has other files, and no answer can be stale.
//!
//! All points of a machine are one file, which is written anew whenever some were added. Whatever is wrong with a
//! file, or with the disk, costs no more than the simulations.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, OnceLock};

use kilocore_kept_files::KeptFiles;
use kilocore_machine::Description;
use sha2::{Digest, Sha256};

use crate::{Point, PointError, RunSize, TriedLock, Workload, kept_point, simulate};

/// The bytes that all files together may take.
const MOST_BYTES: u64 = 64 << 20;
/// The bytes that the points of one machine may take. Beyond these only those are kept that were of use to
/// the run that writes them.
const MOST_BYTES_A_MACHINE: usize = 16 << 20;

type Hash = [u8; 32];

/// Points of one machine that were simulated before, by this run or an earlier one.
#[derive(Debug)]
pub struct Kept<'m> {
    machine: &'m Description,
    files: KeptFiles,
    name: String,
    points: Mutex<Points>,
}

#[derive(Debug, Default)]
struct Points {
    known: BTreeMap<Hash, Entry>,
    /// Whether some are not on disk yet.
    added: bool,
}

#[derive(Debug)]
struct Entry {
    point: Vec<u8>,
    /// Whether this run simulated it or asked for it.
    used: bool,
}

impl<'m> Kept<'m> {
    /// The points of `machine` in the user's folder for what can be computed anew. `None` if nothing can be kept
    /// there.
    #[must_use]
    pub fn of_user(machine: &'m Description) -> Option<Self> {
        let files = KeptFiles::of_user("kilocore", "simulations", MOST_BYTES).ok()?;
        Self::in_files(files, machine)
    }

    /// The same in another folder.
    #[must_use]
    pub fn in_files(files: KeptFiles, machine: &'m Description) -> Option<Self> {
        let mut name = Sha256::new();
        name.update(this_program()?);
        name.update(format!("{machine:?}"));
        let name = name.finalize();
        let name: String = name.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let known = read(&files, &name);
        Some(Self { machine, files, name, points: Mutex::new(Points { known, added: false }) })
    }

    /// The point of a simulation, which is simulated if it is not known.
    pub(crate) fn point(
        &self,
        (workload, lock): (&Workload, TriedLock),
        machine: &Description,
        cores: u32,
        size: RunSize,
    ) -> Result<Point, PointError> {
        if !std::ptr::eq(machine, self.machine) {
            return simulate(workload, lock, machine, cores, size);
        }
        let key = Sha256::digest(format!("{workload:?}{lock:?}{cores} {size:?}")).into();
        if let Some(entry) = self.locked().known.get_mut(&key)
            && let Some(point) = kept_point::decode(&entry.point, lock.name())
        {
            entry.used = true;
            return Ok(point);
        }
        let point = simulate(workload, lock, machine, cores, size)?;
        let mut points = self.locked();
        points.known.insert(key, Entry { point: kept_point::encode(&point), used: true });
        points.added = true;
        Ok(point)
    }

    /// Writes what was added. What cannot be written is simulated again another time.
    pub(crate) fn save(&self) {
        let mut points = self.locked();
        if !std::mem::take(&mut points.added) {
            return;
        }
        // Another process may have added some as well.
        for (key, entry) in read(&self.files, &self.name) {
            points.known.entry(key).or_insert(entry);
        }
        if points.bytes() > MOST_BYTES_A_MACHINE {
            points.known.retain(|_, entry| entry.used);
        }
        if points.bytes() <= MOST_BYTES_A_MACHINE {
            let _ = self.files.write(&self.name, &in_bytes(&points.known));
        }
    }

    fn locked(&self) -> MutexGuard<'_, Points> {
        self.points.lock().expect("nothing panics while it holds the points")
    }
}

impl Points {
    fn bytes(&self) -> usize {
        self.known.values().map(|entry| size_of::<Hash>() + 2 + entry.point.len()).sum()
    }
}

/// A point, from what is kept if that is given.
pub(crate) fn simulate_or_recall(
    kept: Option<&Kept<'_>>,
    (workload, lock): (&Workload, TriedLock),
    machine: &Description,
    cores: u32,
    size: RunSize,
) -> Result<Point, PointError> {
    match kept {
        Some(kept) => kept.point((workload, lock), machine, cores, size),
        None => simulate(workload, lock, machine, cores, size),
    }
}

/// A digest of the program that runs, which is that of its file.
fn this_program() -> Option<Hash> {
    static DIGEST: OnceLock<Option<Hash>> = OnceLock::new();
    *DIGEST.get_or_init(|| of_running_program().ok())
}

fn of_running_program() -> io::Result<Hash> {
    // The file that was started, also if another one is in its place by now.
    let mut file = std::fs::File::open("/proc/self/exe")?;
    let mut digest = Sha256::new();
    let mut room = vec![0; 1 << 16];
    loop {
        match file.read(&mut room)? {
            0 => return Ok(digest.finalize().into()),
            length => digest.update(&room[..length]),
        }
    }
}

/// What a file holds: a digest of all that follows, and for each point its key, its length and itself. A file that
/// is not there, or is not whole, holds nothing.
fn read(files: &KeptFiles, name: &str) -> BTreeMap<Hash, Entry> {
    files.read(name).ok().flatten().and_then(|bytes| from_bytes(&bytes)).unwrap_or_default()
}

fn in_bytes(points: &BTreeMap<Hash, Entry>) -> Vec<u8> {
    let mut bytes = vec![0; size_of::<Hash>()];
    for (key, Entry { point, .. }) in points {
        let length = u16::try_from(point.len());
        let Ok(length) = length else { continue };
        bytes.extend(key);
        bytes.extend(length.to_le_bytes());
        bytes.extend(point);
    }
    let digest = Sha256::digest(&bytes[size_of::<Hash>()..]);
    bytes[..size_of::<Hash>()].copy_from_slice(&digest);
    bytes
}

fn from_bytes(bytes: &[u8]) -> Option<BTreeMap<Hash, Entry>> {
    let (digest, mut rest) = bytes.split_first_chunk::<32>()?;
    if Sha256::digest(rest)[..] != digest[..] {
        return None;
    }
    let mut points = BTreeMap::new();
    while !rest.is_empty() {
        let (key, length, point);
        (key, rest) = rest.split_first_chunk::<32>()?;
        (length, rest) = rest.split_first_chunk::<2>()?;
        (point, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        points.insert(*key, Entry { point: point.to_vec(), used: false });
    }
    Some(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> BTreeMap<Hash, Entry> {
        let entry = |length: u8| Entry { point: vec![length; length.into()], used: true };
        (0..5).map(|index| ([index; 32], entry(index * 40))).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let read = from_bytes(&in_bytes(&points())).expect("it is whole");
        let both = read.iter().zip(points());
        assert_eq!(read.len(), 5);
        assert!(both.into_iter().all(|((k, e), (key, entry))| *k == key && e.point == entry.point));
        assert!(from_bytes(&in_bytes(&BTreeMap::new())).expect("it is whole").is_empty());
    }

    #[test]
    fn what_is_cut_short_or_changed_holds_nothing() {
        let whole = in_bytes(&points());
        for length in 0..whole.len() {
            assert!(from_bytes(&whole[..length]).is_none(), "{length}");
        }
        for index in (0..whole.len()).step_by(7) {
            let mut changed = whole.clone();
            changed[index] ^= 1;
            assert!(from_bytes(&changed).is_none(), "{index}");
        }
    }
}
