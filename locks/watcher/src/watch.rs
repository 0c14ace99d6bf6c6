//! Watching a program and making its profile.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use kilocore_figures::Nanoseconds;
use kilocore_linux as proc_files;
use kilocore_lock_profile::{Process, Run, Threads, Watching};

use crate::budget::Budget;
use crate::cores::usable_cores;
use crate::document::{Member, outside, processes};
use crate::error::WatchError;
use crate::estimate::mean;
use crate::family::{Family, ProcessScope, executes_32_bit, is_32_bit};
use crate::functions::functions;
use crate::ids::{Moment, Pid};
use crate::ledger::Ledger;
use crate::session::Session;
use crate::source::Source;
use crate::unnamed::hints;
use crate::watchpoints::Refused;

/// How a program is watched.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Which processes belong to the program.
    pub scope: ProcessScope,
    /// Whether the program ran already.
    pub attached: bool,
    /// The library that records pthread locks meanwhile, if one does. In processes that have loaded
    /// it, these locks are left out, and so are conditions and barriers.
    pub library: Option<&'a Path>,
    /// The seed of the chance by which windows and words are chosen.
    pub seed: u64,
}

/// Checks that a process that runs can be watched.
///
/// # Errors
/// If it does not exist, belongs to somebody else, may not be looked into, runs 32-bit code, or if
/// this machine's kernel or processor does not allow watching.
pub fn check(pid: Pid) -> Result<(), WatchError> {
    if !cfg!(target_arch = "x86_64") {
        return Err(WatchError::Architecture);
    }
    if pid.0 == std::process::id() {
        return Err(WatchError::Own(pid));
    }
    let Some(status) = proc_files::status(pid.0) else {
        return Err(missing(pid));
    };
    if matches!(status.state, b'Z' | b'X') {
        return Err(WatchError::Ended(pid));
    }
    match proc_files::process_of(pid.0).map(Pid) {
        Some(process) if process != pid => return Err(WatchError::Thread { thread: pid, process }),
        _ => {}
    }
    match fs::read_link(format!("/proc/{}/exe", pid.0)) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A program's process has none any more once it begins to end.
            return Err(match status.is_kernel {
                true => WatchError::Kernel(pid),
                false => WatchError::Ended(pid),
            });
        }
        Err(_) => return Err(WatchError::NotOurs(pid)),
    }
    // The same right is needed to read what its threads do and what its code is.
    match fs::File::open(format!("/proc/{}/mem", pid.0)) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(WatchError::Memory { pid, scope: ptrace_scope() });
        }
        _ => {}
    }
    if executes_32_bit(pid) { Err(WatchError::Code32(pid)) } else { Ok(()) }
}

/// Checks that a program could be watched if it were started.
///
/// # Errors
/// If it is 32-bit code.
pub fn check_file(path: &Path) -> Result<(), WatchError> {
    if is_32_bit(path) { Err(WatchError::File32(path.to_owned())) } else { Ok(()) }
}

/// Why `/proc` has nothing of a process.
fn missing(pid: Pid) -> WatchError {
    let Ok(number) = libc::pid_t::try_from(pid.0) else { return WatchError::NoProcess(pid) };
    // SAFETY: integers only, and no signal is sent.
    let answer = unsafe { libc::kill(number, 0) };
    let refused = std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM);
    if answer == 0 || refused { WatchError::Hidden(pid) } else { WatchError::NoProcess(pid) }
}

/// `kernel.yama.ptrace_scope`, if this kernel has it.
fn ptrace_scope() -> Option<i32> {
    fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok()?.trim().parse().ok()
}

/// Checks that this user may watch programs on this machine.
///
/// # Errors
/// If the kernel refuses the events, or this machine's instructions are not understood.
pub fn possible() -> Result<(), WatchError> {
    if cfg!(target_arch = "x86_64") {
        Source::open().map(drop)
    } else {
        Err(WatchError::Architecture)
    }
}

/// Watches a program until `wait`, which waits for so long, says that it is over, or until the
/// program has ended. Returns the run as a profile describes it, without an exit status.
///
/// # Errors
/// As [`check`].
pub fn watch(
    pid: Pid,
    options: &Options<'_>,
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Run, WatchError> {
    check(pid)?;
    let budget = if options.attached { Budget::ATTACHED } else { Budget::STARTED };
    let mut session = Session::new(Family::of(pid, options.scope), budget, options.seed)?;
    // Whoever ran before may use other cores than this process may.
    let threads = session.family.threads.keys().map(|tid| tid.0).filter(|_| options.attached);
    let cores = match kilocore_process::cores_of(threads).len() {
        0 => kilocore_process::allowed_cores().len(),
        cores => cores,
    };
    let began = Moment::now();
    session.run(wait);
    let wall_time = (Moment::now() - began).calculated();
    Ok(run(session, wall_time, cores as u32, options))
}

fn run(session: Session, wall_time: Nanoseconds<f64>, cores: u32, options: &Options<'_>) -> Run {
    let Session { source, family, mut ledger, mut names, times, .. } = session;
    let scale = if ledger.surveyed > Nanoseconds(0.0) { wall_time / ledger.surveyed } else { 0.0 };
    ledger.cpu_time = family.seen.keys().map(|pid| (*pid, family.processor_time(*pid))).collect();
    let members: Vec<_> = family
        .seen
        .iter()
        .map(|(pid, threads)| Member {
            process: process(&family, &ledger, *pid),
            threads: threads.clone(),
            // One that came or went meanwhile did all that it did in less time.
            wall_time: family.lived(*pid).min(wall_time),
        })
        .collect();
    let peak: usize = family.peak.values().sum();
    for names in names.values_mut() {
        names.refresh();
    }
    let made = processes(&ledger, &mut names, members, scale, options.library);
    let left_out = left_out(&family, &ledger);
    let functions = functions(&ledger.stacks, &family, &mut names);
    let times = times.account(cores, &family, &ledger, &made.words, &functions, &mut names);
    let costs: Vec<f64> = ledger.hit_costs.iter().map(|cost| cost.middle()).collect();
    let watching = Watching {
        attached: options.attached,
        beside_library: options.library.is_some(),
        windows: ledger.windows,
        window_time: ledger.window_time,
        cost_share: (ledger.cost / (wall_time * usable_cores()).max(Nanoseconds(1.0))).min(1.0),
        hit_cost: (!costs.is_empty()).then(|| Nanoseconds(mean(&costs))),
        unknown_share: (ledger.unknown / ledger.thread_time.max(Nanoseconds(1.0))).min(1.0),
        rights: source.rights(),
        followed_share: source.followed_share(),
        refused: ledger.refused.map(refusal),
        left_out,
        hints: hints(&made.processes, &names),
    };
    Run {
        cores,
        wall_time,
        exit_status: 0,
        processes: made.processes,
        outside: Some(outside(&ledger, made.futexes, scale, peak as u64)),
        times,
        watching: Some(watching),
        ..Run::default()
    }
}

fn process(family: &Family, ledger: &Ledger, pid: Pid) -> Process {
    let locking: std::collections::BTreeSet<_> = ledger
        .watched
        .iter()
        .filter(|(word, _)| word.pid == pid)
        .flat_map(|(_, watched)| watched.writers.iter())
        .collect();
    let started = family.seen.get(&pid).map_or(0, |seen| seen.len() as u64);
    let threads = Threads {
        started,
        locking: locking.len() as u64,
        peak: family.peak.get(&pid).map_or(started, |peak| *peak as u64),
        cpu_time: family.processor_time(pid),
        ..Threads::default()
    };
    let executable = family.executables.get(&pid).cloned().unwrap_or_default();
    Process { pid: pid.0, executable, threads, ..Process::default() }
}

/// What of the program could not be watched.
fn left_out(family: &Family, ledger: &Ledger) -> Vec<String> {
    let mut sentences: Vec<String> = family
        .left_out
        .iter()
        .map(|pid| format!("process {} runs 32-bit code, which is not watched", pid.0))
        .collect();
    if ledger.watched.values().any(|watched| !watched.is_covered()) {
        sentences.push(
            "threads come and go so fast, or are so many, that most writes to some locks were \
             not seen; of these, only the waits are known"
                .to_owned(),
        );
    }
    sentences
}

fn refusal(refused: Refused) -> String {
    match refused {
        Refused::Taken => {
            "somebody else has the processor's watchpoints, such as a debugger; end it and try \
             again"
        }
        Refused::None => "this machine has no hardware watchpoints, as in some virtual machines",
        Refused::NotAllowed => "this user may not watch the program's memory; run as root",
        Refused::Buffer => {
            "there are too few descriptors or too little locked memory; raise `ulimit -n` and \
             `ulimit -l`"
        }
        Refused::Gone => "its threads had ended",
    }
    .to_owned()
}
