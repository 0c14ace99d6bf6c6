//! All recordings of a program as they are at one moment, and what happened between two moments.
//!
//! All counts in a recording only grow. So what happened in a part of the run is the difference
//! between the recordings at its end and the recordings at its beginning.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::mem::offset_of;
use std::path::Path;
use std::thread;
use std::time::Duration;

use kilocore_figures::Nanoseconds;
use kilocore_lock_recording::FileHeader;

use crate::recording::{ClockRate, RECORDING_EXTENSION, Recording, RecordingError};
use crate::{Process, Symbols};

/// Recordings at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    recordings: BTreeMap<OsString, Recording>,
    /// Processor time so far by process, where it is known better than the recording knows it.
    processor_time: BTreeMap<u32, Nanoseconds>,
}

impl Snapshot {
    /// Reads all recordings of a directory. Files with another ending than
    /// [`RECORDING_EXTENSION`] are not looked at.
    ///
    /// # Errors
    /// If the directory or a recording cannot be read. Processes that ended in the middle of
    /// anything are no error; nor are those that are still at it.
    pub fn read(directory: &Path) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Io { file: directory.to_owned(), source };
        let mut snapshot = Self::default();
        for entry in fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let named = path.extension().is_some_and(|extension| extension == RECORDING_EXTENSION);
            if !named || !path.symlink_metadata().is_ok_and(|file| file.is_file()) {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_owned();
            snapshot.recordings.extend(open(&path)?.map(|recording| (name, recording)));
        }
        Ok(snapshot)
    }

    /// Notes how much processor time a process has used until this moment. Recordings know it only
    /// as of the last time that they were stamped.
    pub fn note_processor_time(&mut self, pid: u32, time: Duration) {
        self.processor_time.insert(pid, time.into());
    }

    /// How often all processes have taken a lock until this moment. `None` if that is not known of all locks.
    #[must_use]
    pub fn sections(&self) -> Option<u64> {
        let mut each = self.recordings.values().map(Recording::sections);
        each.try_fold(0, |sum: u64, sections| Some(sum.saturating_add(sections?)))
    }

    /// What the processes did, in the order of their recordings' names; those that took no lock
    /// and met at no barrier are left out. With `since`, what they did after that moment.
    ///
    /// `clock` is the rate of the time-stamp counter if the caller knows it; otherwise it is taken
    /// from the recording that observed it longest.
    ///
    /// Of a stretch of time, the most threads at a time and the number of threads that take locks
    /// are those of the process until its end.
    #[must_use]
    pub fn processes(&self, since: Option<&Self>, clock: Option<ClockRate>) -> Vec<Process> {
        let rates = self.recordings.values().filter_map(Recording::clock_rate);
        let longest = rates.max_by_key(|(_, ns)| *ns);
        // One cycle per nanosecond is as good as any if there is nothing to measure durations with.
        let clock = clock.or(longest.map(|(rate, _)| rate)).unwrap_or(ClockRate { ghz: 1.0 });
        let mut symbols = Symbols::default();
        let processes = self.recordings.iter().map(|(name, recording)| {
            let numbers = recording.lock_numbers();
            let mut process = recording.process_numbered(&numbers, clock, &mut symbols);
            self.correct(&mut process);
            if let Some((since, before)) = since.and_then(|s| Some((s, s.recordings.get(name)?))) {
                let alive = before.header(offset_of!(FileHeader, threads_alive));
                let mut then = before.process_numbered(&numbers, clock, &mut symbols);
                since.correct(&mut then);
                process.subtract(&then, alive);
            }
            process
        });
        let met = |process: &Process| !process.locks.is_empty() || !process.barriers.is_empty();
        processes.filter(met).collect()
    }

    fn correct(&self, process: &mut Process) {
        if let Some(time) = self.processor_time.get(&process.pid) {
            process.threads.cpu_time = process.threads.cpu_time.max(time.calculated());
        }
    }
}

/// Opens a recording, also one that is being written: a block may be half made at any moment, and
/// is whole in the next.
fn open(file: &Path) -> Result<Option<Recording>, RecordingError> {
    const TRIES: u32 = 50;
    for _ in 1..TRIES {
        match Recording::open(file) {
            Err(RecordingError::Damaged { .. } | RecordingError::Truncated { .. }) => {
                thread::sleep(Duration::from_millis(1));
            }
            result => return result,
        }
    }
    Recording::open(file)
}
