//! One sample: the runner starts the workers, lets their tasks run together for a time, reads what
//! they counted, and ends them.

use std::io::Read;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kilocore_figures::Nanoseconds;
use kilocore_linux::die_with_parent;

use crate::assignment::Assignment;
use crate::control::{self, Control, Phase, Stage};
use crate::document::Sample;
use crate::self_execution::{Helpers, WORKER};
use crate::{Benchmark, Kind, Refusal, Seat, Shared, sys};

/// How much longer than their time tasks may take before the runner gives up.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the runner checks whether a worker has died.
const LOOK: Duration = Duration::from_millis(20);

/// What a sample is taken of.
pub(crate) struct Trial<'a> {
    pub(crate) helpers: &'a Helpers,
    pub(crate) benchmark: &'a dyn Benchmark,
    pub(crate) shared: &'a Shared,
    /// The end of a pipe that workers keep open. The keeper cleans up when it is closed everywhere.
    pub(crate) lifeline: RawFd,
    pub(crate) kind: Kind,
    /// The processors on which each task may run.
    pub(crate) cpus: Vec<Vec<u32>>,
    pub(crate) warm_up: Duration,
    pub(crate) measure: Duration,
}

impl Trial<'_> {
    /// Takes the sample. No worker is left when this returns, whether it fails or not.
    pub(crate) fn run(&self) -> Result<Sample, Refusal> {
        let (control, file) = control::new(self.cpus.len() as u32)?;
        let mut crew = Crew { control: &control, workers: Vec::new() };
        let sample = self.hire(&mut crew, file.as_raw_fd()).and_then(|()| self.conduct(&mut crew));
        // The reason of a worker that gave up says more than the fact that one did.
        match (sample, crew.dismiss()) {
            (_, Some(refusal)) => Err(refusal),
            (sample, None) => sample,
        }
    }

    fn hire(&self, crew: &mut Crew<'_>, control: RawFd) -> Result<(), Refusal> {
        let seat = |(index, cpus): (usize, &Vec<u32>)| Seat {
            index: index as u32,
            kind: self.kind,
            cpus: cpus.clone(),
        };
        let seats: Vec<Seat> = self.cpus.iter().enumerate().map(seat).collect();
        let of_worker = match self.kind {
            Kind::Processes => 1,
            Kind::Threads => seats.len(),
        };
        for seats in seats.chunks(of_worker) {
            let worker = self.spawn(&self.assignment(seats, control))?;
            crew.workers.push(worker);
        }
        Ok(())
    }

    fn assignment(&self, seats: &[Seat], control: RawFd) -> Assignment {
        Assignment {
            benchmark: self.benchmark.info().name.to_owned(),
            seats: seats.to_vec(),
            tasks: self.cpus.len() as u32,
            control,
            lifeline: self.lifeline,
            files: Assignment::files_of(self.shared),
            folder: self.shared.folder.clone(),
            numbers: self.shared.numbers.clone(),
            size: self.shared.size,
        }
    }

    fn spawn(&self, assignment: &Assignment) -> Result<Child, Refusal> {
        let text = serde_json::to_string(assignment).map_err(|error| Refusal::System {
            call: "telling a worker what to do".to_owned(),
            error: error.to_string(),
        })?;
        let mut command = self.helpers.command(WORKER);
        command.arg(text).stdin(Stdio::null()).stdout(Stdio::piped());
        let (inherited, parent) = (assignment.inherited(), std::process::id());
        // SAFETY: the closure runs between fork and exec. It calls only functions that are
        // async-signal-safe, and it allocates nothing.
        unsafe {
            command.pre_exec(move || {
                inherited.iter().try_for_each(|&fd| sys::inherit(fd, true))?;
                die_with_parent(parent)
            })
        };
        command.spawn().map_err(|error| Refusal::of("starting a worker", &error))
    }

    fn conduct(&self, crew: &mut Crew<'_>) -> Result<Sample, Refusal> {
        let control = crew.control;
        crew.wait_for(Stage::Arrived)?;
        control.set_phase(Phase::Warm);
        crew.wait_for(Stage::Warm)?;
        crew.let_run(self.warm_up)?;
        control.set_phase(Phase::Measure);
        crew.wait_for(Stage::Begun)?;
        crew.let_run(self.measure)?;
        control.set_phase(Phase::Over);
        crew.wait_for(Stage::Ended)?;
        control.set_phase(Phase::Quit);
        Ok(sample(control))
    }
}

/// The workers of a trial. Dropping this ends them all.
struct Crew<'a> {
    control: &'a Control,
    workers: Vec<Child>,
}

impl Crew<'_> {
    /// Waits until all tasks have reached a stage.
    fn wait_for(&mut self, stage: Stage) -> Result<(), Refusal> {
        let begin = Instant::now();
        loop {
            let seen = self.control.events();
            if self.control.all_reached(stage) {
                return Ok(());
            }
            self.check()?;
            if begin.elapsed() > PATIENCE {
                let waiting_for = stage.in_words().to_owned();
                return Err(Refusal::Stuck { seconds: PATIENCE.as_secs(), waiting_for });
            }
            self.control.wait_for_event(seen, LOOK);
        }
    }

    /// Sleeps for `time`, or until a task gives up.
    fn let_run(&mut self, time: Duration) -> Result<(), Refusal> {
        let begin = Instant::now();
        loop {
            let seen = self.control.events();
            if self.control.has_given_up() {
                return self.check();
            }
            let Some(rest) = time.checked_sub(begin.elapsed()).filter(|rest| !rest.is_zero())
            else {
                return Ok(());
            };
            self.control.wait_for_event(seen, rest);
        }
    }

    /// Fails if a task has given up or a worker has ended.
    fn check(&mut self) -> Result<(), Refusal> {
        for worker in &mut self.workers {
            if let Ok(Some(status)) = worker.try_wait() {
                return Err(Refusal::Died { how: in_words(status) });
            }
        }
        if self.control.has_given_up() {
            return Err(Refusal::Died { how: "a refusal".to_owned() });
        }
        Ok(())
    }

    /// Ends all workers. Returns why the first of them gave up, if one did.
    fn dismiss(&mut self) -> Option<Refusal> {
        self.control.set_phase(Phase::Quit);
        let mut refusal = None;
        for mut worker in self.workers.drain(..) {
            let last_words = end(&mut worker, self.control.has_given_up());
            refusal = refusal.or(last_words);
        }
        refusal
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        self.dismiss();
    }
}

/// Waits until a worker has ended, and kills it if that takes too long. Returns the refusal that it
/// printed, if it printed one.
fn end(worker: &mut Child, something_is_wrong: bool) -> Option<Refusal> {
    const TIME_TO_LEAVE: Duration = Duration::from_secs(10);
    // Other tasks may still wait for a start that will not come. They see the phase and end.
    let begin = Instant::now();
    loop {
        match worker.try_wait() {
            Ok(None) if begin.elapsed() < TIME_TO_LEAVE => {
                std::thread::sleep(Duration::from_micros(200));
            }
            Ok(None) | Err(_) => {
                let _ = worker.kill();
                let _ = worker.wait();
                break;
            }
            Ok(Some(status)) if status.success() && !something_is_wrong => return None,
            Ok(Some(_)) => break,
        }
    }
    let mut words = String::new();
    // What a worker prints is short. The limit is for one that has gone wrong.
    const LONGEST: u64 = 1 << 16;
    worker.stdout.take()?.take(LONGEST).read_to_string(&mut words).ok()?;
    serde_json::from_str(&words).ok()
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}

/// Sums up what the tasks wrote into their slots.
fn sample(control: &Control) -> Sample {
    let mut sample = Sample::default();
    let (mut rates, mut on_core) = (Vec::new(), 0.0);
    for task in 0..control.tasks() {
        let slot = control.slot(task);
        let of = |word: &AtomicU64| word.load(Ordering::Acquire);
        let [begin, end] = [&slot.begin_ns, &slot.end_ns].map(|word| Nanoseconds(of(word)));
        let seconds = (end - begin).0 as f64 * 1e-9;
        let is_first = task == 0;
        sample.begin = if is_first { begin } else { sample.begin.min(begin) };
        sample.end = sample.end.max(end);
        sample.last_begin = sample.last_begin.max(begin);
        sample.first_end = if is_first { end } else { sample.first_end.min(end) };
        rates.push(of(&slot.operations) as f64 / seconds);
        sample.operations += of(&slot.operations);
        sample.seconds += seconds / f64::from(control.tasks());
        sample.preemptions += of(&slot.preemptions);
        on_core += of(&slot.on_core_ns) as f64 * 1e-9;
        let per_operation =
            |batch: &AtomicU64| Nanoseconds(of(batch)).calculated() / of(&slot.batch) as f64;
        let fastest = per_operation(&slot.fastest_batch_ns);
        sample.slowest_batch = sample.slowest_batch.max(per_operation(&slot.slowest_batch_ns));
        sample.fastest_batch = if is_first { fastest } else { sample.fastest_batch.min(fastest) };
    }
    sample.on_core = on_core / (sample.seconds * f64::from(control.tasks()));
    sample.per_s = rates.iter().sum();
    sample.slowest_task_per_s = rates.iter().copied().fold(f64::INFINITY, f64::min);
    sample.fastest_task_per_s = rates.iter().copied().fold(0.0, f64::max);
    sample
}
