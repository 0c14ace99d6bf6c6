//! Looking at a program from outside while it runs.
//!
//! A thread of this process looks at all threads of the program and of its descendants, again and
//! again. It sees whether a thread runs, or in which system call it sleeps, and for a futex on
//! which word of memory. For each process it finds out once whether the recorder is loaded, and why
//! not. This costs the program only a small part of a core ([`pace`]). It tells what a recorder
//! inside the program cannot tell: what the program does besides taking the locks that are
//! recorded.

mod family;
mod futexes;
mod image;
mod pace;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kilocore_lock_profile::{Awake, CpuLimit, Object, ObjectKind, Outside, Process, Unrecorded};

use family::{Family, FamilyReport};
use futexes::Words;
use image::Recorder;
use kilocore_linux::{self as process, FileId, ThreadState, look, thread_time};
use pace::Pace;

use crate::limits::Limits;
use crate::recordings;

/// How many threads are looked at in a round. If there are more, each of these stands for several.
const MOST: usize = 64;

/// The least time between two looks into the recordings for futex words that are not explained yet.
const EXPLAIN: Duration = Duration::from_millis(200);

/// What the looks of one stretch of time add up to.
#[derive(Debug, Default)]
struct ObservationSums {
    rounds: u64,
    threads_peak: u64,
    running: u64,
    /// The same by process.
    running_in: BTreeMap<u32, u64>,
    awake: Awake,
    asleep: BTreeMap<Cow<'static, str>, u64>,
    words: Words,
}

/// Looks at a running program.
#[derive(Debug)]
pub(crate) struct Observer<'a> {
    recordings: &'a Path,
    family: Family,
    pace: Pace,
    looks: ObservationSums,
    /// How often processes are looked for, and when next.
    census: (Pace, Instant),
    /// When recordings may be looked into again.
    explain: Instant,
    limits: Limits,
}

/// Where the recorder is, and where it records to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecorderPaths<'a> {
    pub(crate) library: &'a Path,
    pub(crate) recordings: &'a Path,
}

impl<'a> Observer<'a> {
    /// Begins to look at a program that has just been started. `adopts` says that its orphans
    /// become this process's children.
    pub(crate) fn at(program: u32, places: RecorderPaths<'a>, adopts: bool) -> Self {
        let recorder = Recorder {
            library: places.library.to_string_lossy().into_owned(),
            asks: format!("{}={}", crate::preload::FOLDER, places.recordings.display()),
            own: FileId::of("/proc/self/exe").ok(),
            root: FileId::of("/").ok(),
        };
        Self {
            recordings: places.recordings,
            family: Family::of(program, recorder, adopts),
            pace: Pace::new(u64::from(program)),
            looks: ObservationSums::default(),
            census: (Pace::new(u64::from(!program)), Instant::now()),
            explain: Instant::now() + EXPLAIN / 2,
            limits: Limits::before_start(),
        }
    }

    /// The processes of the program that are there.
    pub(crate) fn members(&self) -> impl Iterator<Item = u32> {
        self.family.members()
    }

    /// Looks at everything once, and adds up what it saw if that `counts`. Returns how long to wait
    /// before the next time.
    pub(crate) fn round(&mut self, counts: bool) -> Duration {
        let (pace, due) = &mut self.census;
        if Instant::now() >= *due {
            let spent = timed(|| {
                self.family.look();
                self.limits.look(self.family.members());
            });
            *due = Instant::now() + pace.after(spent);
        }
        if counts && Instant::now() >= self.explain && self.looks.words.any_open() {
            let spent = timed(|| self.explain());
            self.explain = Instant::now() + EXPLAIN.max(spent * pace::SHARE);
        }
        let spent = timed(|| {
            if counts {
                self.look_at_threads()
            }
        });
        self.pace.after(spent)
    }

    /// Forgets all looks so far.
    pub(crate) fn begin_anew(&mut self) {
        self.looks = ObservationSums::default();
        self.limits.begin_anew();
    }

    fn look_at_threads(&mut self) {
        let threads: Vec<(u32, u32)> = self
            .family
            .members()
            .flat_map(|pid| process::threads(pid).into_iter().map(move |thread| (pid, thread)))
            .collect();
        let looks = &mut self.looks;
        looks.rounds += 1;
        looks.threads_peak = looks.threads_peak.max(threads.len() as u64);
        let chosen = threads.len().min(MOST);
        let offset = self.pace.chance(threads.len() as u32) as usize;
        let before = looks.running;
        for index in 0..chosen {
            // The parts of the whole that the chosen ones stand for are equal but for one.
            let [from, to] = [index, index + 1].map(|index| index * threads.len() / chosen);
            let (pid, thread) = threads[(offset + from) % threads.len()];
            looks.add(pid, look(pid, thread), (to - from) as u64);
        }
        if chosen == threads.len() {
            looks.awake.rounds += 1;
            looks.awake.one += u64::from(looks.running - before == 1);
        }
    }

    /// Looks up in the recordings which locks and conditions the words belong to that threads slept
    /// on.
    fn explain(&mut self) {
        let words = &mut self.looks.words;
        recordings::each(self.recordings, |recording| {
            words.explain(recording.pid(), recording.objects());
        });
    }

    /// Returns what was seen, after the program's end. `processes` are those that were recorded.
    pub(crate) fn finish(
        mut self,
        processes: &[Process],
        recorded: impl Fn(u32) -> bool,
    ) -> Report {
        self.explain();
        let looks = &mut self.looks;
        for process in processes {
            let barriers = process.barriers.iter().filter(|barrier| barrier.address != 0);
            let barriers = barriers.map(|barrier| Object::at(barrier.address, ObjectKind::Barrier));
            looks.words.explain(process.pid, barriers);
        }
        let unrecorded = looks.running_in.iter().filter(|(pid, _)| !recorded(**pid));
        let running_unrecorded = Some(unrecorded.map(|(_, looks)| looks).sum());
        let known = self.family.is_known();
        let FamilyReport { unrecorded, executables } = self.family.unrecorded(recorded);
        let outside = Outside {
            rounds: looks.rounds,
            threads_peak: looks.threads_peak,
            running: looks.running,
            running_unrecorded,
            awake: looks.awake,
            asleep: std::mem::take(&mut looks.asleep)
                .into_iter()
                .map(|(call, looks)| (call.into_owned(), looks))
                .collect(),
            futexes: looks.words.totals(),
            voluntary_switches: 0,
            unrecorded,
        };
        Report { outside, limit: self.limits.limit(), executables, known }
    }
}

impl ObservationSums {
    fn add(&mut self, pid: u32, look: ThreadState, looks: u64) {
        match look {
            ThreadState::Running => {
                self.running += looks;
                *self.running_in.entry(pid).or_default() += looks;
            }
            ThreadState::Asleep(call) => *self.asleep.entry(call).or_default() += looks,
            ThreadState::Futex(call, word) => {
                *self.asleep.entry(call).or_default() += looks;
                self.words.add(pid, word, looks);
            }
            ThreadState::Gone => {}
        }
    }
}

/// What was seen of a program, after its end.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) outside: Outside,
    /// The limit on the program's use of the cores.
    pub(crate) limit: Option<CpuLimit>,
    /// What processes executed last.
    pub(crate) executables: BTreeMap<u32, String>,
    /// Whether the program itself was seen. It was not if it ended too soon.
    pub(crate) known: bool,
}

/// For a program that was not seen running: what its file says about why it was not recorded.
pub(crate) fn by_its_file(program: &OsString, pid: u32) -> Option<Unrecorded> {
    let file = kilocore_process::find_program(program).ok()?;
    let why = image::why(kilocore_process::obstacle(&file)?);
    Some(Unrecorded { pid, executable: file.to_string_lossy().into_owned(), why })
}

/// Adds programs that processes with the recorder have executed and that could not be recorded. They may
/// have ended before anybody looked.
pub(crate) fn by_notes(report: &mut Report, executed: &[(u32, PathBuf)]) {
    for (pid, program) in executed {
        let Some((file, obstacle)) = kilocore_process::obstacle_of_program(program) else {
            continue;
        };
        let file = file.canonicalize().unwrap_or(file);
        let (executable, why) = (file.to_string_lossy().into_owned(), image::why(obstacle));
        let unrecorded = &mut report.outside.unrecorded;
        if !unrecorded.iter().any(|one| one.executable == executable && one.why == why) {
            unrecorded.push(Unrecorded { pid: *pid, executable, why });
        }
    }
}

/// Returns the processor time that `what` takes.
fn timed(what: impl FnOnce()) -> Duration {
    let before = thread_time();
    what();
    thread_time().saturating_sub(before)
}
