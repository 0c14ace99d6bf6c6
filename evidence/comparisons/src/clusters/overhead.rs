//! What a sweep costs beside its points, measured here.

use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kilocore_points::{Elsewhere, Job, Key, PointSource};
use kilocore_process::{CpuId, allowed_cores};
use kilocore_show::Table;
use kilocore_sweep::{Engine, Outcome, Progress, Standing, Sweep};
use kilocore_sweep_plan::Plan;

use crate::command::Effort;

/// The word after the program's name with which it computes points.
pub const POINTS: &str = "points";

/// How long each takes.
const LENGTH: Duration = Duration::from_millis(1);

/// A point that computes for a millisecond of its thread's processor time.
#[derive(Debug)]
struct Short {
    number: u32,
}

impl Job for Short {
    /// A number that no two sweeps have, so none finds what another has kept for this user.
    type Shared = u64;
    type Point = f64;
    type Error = Elsewhere;

    const COMPUTATION: &'static str = "a millisecond";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        1.0
    }

    fn compute(&self, _: &u64) -> Result<f64, Elsewhere> {
        let begun = thread_time();
        while thread_time().saturating_sub(begun) < LENGTH {
            std::hint::spin_loop();
        }
        Ok(f64::from(self.number).sqrt())
    }

    fn shared_words(_: &u64) -> String {
        "points of a millisecond".to_owned()
    }

    fn words(&self) -> String {
        self.number.to_string()
    }
}

/// The processor time that this thread has taken.
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// What the command of the plan does: it adds up so many points of a sweep.
///
/// # Errors
/// If another process computes some.
pub fn add_up(count: u32, sweep: u64) -> Result<f64, String> {
    let source = PointSource::of_user(false).map_err(|error| error.to_string())?;
    let jobs: Vec<Short> = (0..count).map(|number| Short { number }).collect();
    let points = source.points(&sweep, &jobs, &|| {}).map_err(|error| error.to_string())?;
    Ok(points.iter().sum())
}

/// How long a sweep of many short points takes on one core and on all, and again, and what it keeps, as Markdown.
///
/// # Errors
/// If the sweep cannot be run.
pub fn overhead(effort: Effort) -> Result<String, String> {
    let count = if effort == Effort::Full { 10_000 } else { 200 };
    let all = allowed_cores();
    let mut rows = Vec::new();
    let mut counts = vec![1, all.len()];
    counts.dedup();
    for cores in counts {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().canonicalize().map_err(|error| error.to_string())?;
        let text = format!("[[run]]\ncommand = \"kilocore-clusters {POINTS} {count} {}\"\n", now());
        let plan = Plan::parse(&text, "the plan").map_err(|error| error.to_string())?;
        let (first, computed) = swept(&plan, &path, &all[..cores])?;
        let kept = bytes_below(&path.join(".sweep")).map_err(|error| error.to_string())?;
        let (again, computed_again) = swept(&plan, &path, &all[..cores])?;
        if (computed, computed_again) != (count as usize, 0) {
            return Err(format!("{computed} points were computed, and then {computed_again}"));
        }
        let least = LENGTH * count / u32::try_from(cores).unwrap_or(u32::MAX);
        let each = (first.saturating_sub(least)) * u32::try_from(cores).unwrap_or(u32::MAX) / count;
        let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
        rows.push((
            format!("{count} points of 1 ms, cores: {cores}"),
            vec![
                seconds(least),
                seconds(first),
                format!("{:.0} µs", each.as_secs_f64() * 1e6),
                seconds(again),
                format!("{} KiB", kept / 1024),
                format!("{}", kept / u64::from(count)),
            ],
        ));
    }
    let table = Table {
        front: "sweep",
        headings: [
            "the points alone",
            "the sweep",
            "more, of a core's time for each point",
            "again, all kept",
            "kept on disk",
            "bytes a point",
        ]
        .into(),
        rows,
        ..Table::default()
    };
    Ok(table.markdown())
}

/// A number that no sweep had before.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Sweeps a plan. Returns how long it took, and how many points were computed.
fn swept(plan: &Plan, folder: &Path, cores: &[CpuId]) -> Result<(Duration, usize), String> {
    let sweep =
        Sweep { plan, folder, cores, memory: u64::MAX, engine: Engine::Cores, told_by: || None };
    let begun = Instant::now();
    let outcome = sweep.run(&|_| env::current_exe().ok(), &Untold);
    let outcome: Outcome = outcome.map_err(|error| error.to_string())?;
    if let Some(failed) = outcome.failed.first() {
        return Err(failed.why.clone());
    }
    Ok((begun.elapsed(), outcome.computed))
}

/// Nobody is told how far it is.
struct Untold;

impl Progress for Untold {
    fn is_at(&self, _: Standing) {}
}

/// The bytes of all files below a folder.
fn bytes_below(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { bytes_below(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}
