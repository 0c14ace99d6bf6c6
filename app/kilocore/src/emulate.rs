//! `kilocore emulate -- CMD…`: the program itself, on a machine that is not here.

mod part;
mod there;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use indicatif::ProgressBar;
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, lock_named, output, say};
use kilocore_emulation::{
    Asked, CyclesFrom, EmulateError, Emulated, Emulator, Instructions, KeptRuns, PIPE_LEFT_OUT,
    Progress, QemuError, Runs, TimedCore, Variant, build_qemu, emulate_runs, time_instructions,
};
use kilocore_emulation_orders::Orders;
use kilocore_locks::{LockId, RwLockId};
use kilocore_machine::Description;
use kilocore_points::{Assignment, OrdersError, keeps};
use kilocore_process::{
    Output, input_is_a_stream, is_sized, shell_status, shell_status_of_signal, status_of_bad_end,
};
use kilocore_show::number;

use crate::lock_name::rw_lock_for_programs_named;
use crate::plan_file::PlanFile;
use crate::run::Replaced;
use crate::sampling::shell_word;
use crate::{examples, launch, usual_machine};

pub(crate) use there::{Emulation, emulated_there};

/// Runs a program on a simulated machine, on each number of cores in turn.
#[derive(Debug, Args)]
#[command(after_help = examples::EMULATE)]
pub(crate) struct Arguments {
    /// The machine, by name or as a machine file; see `kilocore list machines` [default: the largest
    /// known one of the kind of this host's processor]
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Numbers of cores, as in 1,6,12-48:12 [default: what suits the machine, up to 64]
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Emulate the program under these locks as well, as `run --lock` puts them in the place of its mutexes
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = lock_named)]
    lock: Vec<LockId>,
    /// The same for its read-write locks; with `--lock`, under each of those with each of these
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = rw_lock_for_programs_named)]
    rwlock: Vec<RwLockId>,
    /// Let pages of memory lie on all nodes in turn, as `numactl --interleave=all` does, and not each on that of the
    /// core that touches it first
    #[arg(long)]
    interleave: bool,
    /// Seed of all chance. Further runs have the seeds that follow
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Most runs on each number of cores, each with a seed of its own. Two show whether chance decides how long the program
    /// takes, and more are made only if it does
    #[arg(long, value_name = "COUNT", default_value_t = USUAL_SEEDS, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    seeds: u16,
    /// Cycles by which a thread may run ahead of the others where they cannot notice it. More is faster, and less
    /// exact
    #[arg(long, value_name = "CYCLES", default_value_t = Orders::DISORDER, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    disorder: u64,
    /// Cycles that an instruction takes which waits for nothing, or `measured`: from the program's time on one core of
    /// this host [default: 1]
    #[arg(long, value_name = "CYCLES", value_parser = cycles)]
    cycles_per_instruction: Option<Cycles>,
    #[command(flatten)]
    part: part::Part,
    /// Also write where the simulated time went by call stack, on each number of cores: folded stacks in ns, as tools for
    /// flame graphs read them. Takes the emulation a little longer
    #[arg(long, value_name = "FILE")]
    stacks: Option<PathBuf>,
    /// The QEMU that executes the program [default: qemu-x86_64]
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    /// Build a QEMU that takes plugins from this Debian's source package, into this user's cache, and do nothing else.
    /// It is used from then on if the one that is installed takes none. Takes minutes
    #[arg(long, exclusive = true)]
    build_qemu: bool,
    /// Compute everything anew, and keep nothing of it for the next time. The figures are the same.
    /// `KILOCORE_NO_CACHE` in the environment asks for that as well
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    plan: PlanFile,
    #[command(flatten)]
    reports: Reports,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options. {cores} or
    /// {threads} in them becomes the number of cores. Its input is empty, and its output goes to standard error. If
    /// nothing has changed since it was emulated before, it is not run, and prints nothing
    #[arg(trailing_var_arg = true, required_unless_present = "build_qemu", value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// More cores are emulated only if somebody asks for them: it takes as much longer.
const USUAL_MOST_CORES: u32 = 64;

/// Of five runs that differ, the median is between the extremes of most that could be.
const USUAL_SEEDS: u16 = 5;

/// What an instruction takes.
#[derive(Debug, Clone, Copy)]
enum Cycles {
    Given(f64),
    Measured,
}

fn cycles(text: &str) -> Result<Cycles, String> {
    if text == "measured" {
        return Ok(Cycles::Measured);
    }
    let cycles: f64 = text
        .parse()
        .map_err(|_| "give a number of cycles, such as 0.8, or `measured`".to_owned())?;
    if Orders::is_possible(cycles) {
        Ok(Cycles::Given(cycles))
    } else {
        Err("give a number above 0 and at most 1000".to_owned())
    }
}

pub(crate) fn emulate(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.build_qemu {
        let built = build_qemu().map_err(EmulateError::from)?;
        say(&format!("built: {}", built.display()));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(written) = arguments.plan.written(arguments.reports.output.len())? {
        return Ok(written);
    }
    let files = arguments.reports.files()?;
    if let Some(stacks) = &arguments.stacks {
        output::check_folder(stacks)?;
    }
    launch::check(&arguments.command)?;
    launch::check_numbers(&arguments.command)?;
    let window = arguments.part.window()?;
    let machine = usual_machine::or_usual(arguments.machine.as_deref(), "emulating")?;
    let counts = counts(arguments.cores.as_ref(), &machine)?;
    let assignment = arguments.assignment()?;
    let kept = KeptRuns::assigned(&assignment, keeps(arguments.no_cache))?;
    let emulator = there::emulator(arguments.qemu.as_deref(), kept)?;
    if !is_sized(&arguments.command) && counts.len() > 1 {
        say(
            "no {cores} in the command: if the program does not ask how many processors it has, it makes as many \
             threads on each number of cores",
        );
    }
    let variants = arguments.variants()?;
    let usual = Orders {
        seed: arguments.seed,
        disorder: arguments.disorder,
        interleaved: arguments.interleave,
        stacks: arguments.stacks.is_some(),
        ..Orders::new(machine.clone(), 1)
    };
    let (cycles_per_instruction, cycles_from) = match arguments.cycles_per_instruction {
        None => (usual.cycles_per_instruction, CyclesFrom::Estimated),
        Some(Cycles::Given(cycles)) => (cycles, CyclesFrom::Given),
        Some(Cycles::Measured) => {
            let (command, orders) = (&arguments.command, usual.clone());
            let cycles = timed(command, orders, &emulator, Output::ToStderr)?;
            say(&format!("--cycles-per-instruction {cycles} gives these figures again"));
            (cycles, CyclesFrom::Measured)
        }
    };
    let orders =
        |cores| Orders { cores, cycles_per_instruction, window: window.clone(), ..usual.clone() };
    let all = asked(variants.iter().map(|(locks, own)| (&**locks, own)), &counts, &orders);
    let most = usize::from(arguments.seeds);
    let runs = run(&arguments.command, &all, most, &emulator, Output::ToStderr, &assignment)?;
    let mut runs = runs.into_iter();
    let variants = variants.into_iter().map(|(locks, _)| Variant {
        locks,
        points: counts.iter().copied().zip(runs.by_ref().take(counts.len())).collect(),
    });
    let words: Vec<String> = arguments.command.iter().map(|word| shell_word(word)).collect();
    let study = Emulated {
        generated: output::generated(),
        command: words.join(" "),
        orders: orders(counts[0]),
        cycles_from,
        pipe_left_out: input_is_a_stream(),
        variants: variants.collect(),
    };
    if let Some(stacks) = &arguments.stacks {
        output::write(stacks, &study.folded())?;
    }
    arguments.reports.deliver_study(&files, &study)?;
    Ok(ExitCode::SUCCESS)
}

/// Variables of a program's environment.
type Variables = Vec<(OsString, OsString)>;

fn failure(error: EmulateError) -> Failure {
    match error {
        EmulateError::NoReport { status } => {
            Failure::with_status_of_program(error.to_string(), shell_status(status))
        }
        EmulateError::Interrupted { signal } => {
            Failure::with_status_of_program(error.to_string(), shell_status_of_signal(signal))
        }
        EmulateError::Ended { status, .. } => {
            let input = match input_is_a_stream() {
                true => format!(". {PIPE_LEFT_OUT}"),
                false => String::new(),
            };
            Failure::with_status_of_program(format!("{error}{input}"), status_of_bad_end(status))
        }
        EmulateError::Qemu(QemuError::Start { qemu, source }) => {
            launch::cannot_start(qemu.as_os_str(), source)
        }
        other => other.into(),
    }
}

impl Arguments {
    /// Which runs this process emulates, and for whom.
    ///
    /// What a run depends on is this host's, as its files are. So other hosts emulate none. And what is measured anew each time
    /// is another run each time.
    fn assignment(&self) -> Result<Assignment, OrdersError> {
        let assignment = Assignment::of_environment()?;
        let is_measured = matches!(self.cycles_per_instruction, Some(Cycles::Measured));
        let is_alone = is_measured || assignment.has_other_hosts();
        Ok(if is_alone { Assignment::all() } else { assignment })
    }

    /// The program as it is, and under all choices of other locks: their names, and what puts them under it.
    fn variants(&self) -> Result<Vec<(String, Variables)>, Failure> {
        let mut variants = vec![(Variant::OWN.to_owned(), Variables::new())];
        let each = |names: Vec<&'static str>| match names.is_empty() {
            true => vec![None],
            false => names.into_iter().map(Some).collect(),
        };
        let locks = each(self.lock.iter().map(|lock| lock.name()).collect());
        let rw_locks = each(self.rwlock.iter().map(|lock| lock.name()).collect());
        for &lock in &locks {
            for &rwlock in &rw_locks {
                let names: Vec<&str> = [lock, rwlock].into_iter().flatten().collect();
                if !names.is_empty() {
                    let environment = Replaced { lock, rwlock }.environment(&self.command)?;
                    variants.push((names.join(", "), environment));
                }
            }
        }
        Ok(variants)
    }
}

/// How many cycles an instruction takes by a program's time on one core of this host.
fn timed(
    command: &[OsString],
    orders: Orders,
    emulator: &Emulator,
    output: Output<'_>,
) -> Result<f64, Failure> {
    let clock_ghz = kilocore_hardware::core_clock_ghz().ok_or_else(|| {
        Failure::new("the clock of this host's cores is not known, nor what an instruction takes")
    })?;
    let core = TimedCore { clock_ghz, interrupted: kilocore_hardware::interrupted_share() };
    let timed = time_instructions(command, &orders.into(), emulator, output, core);
    let Instructions { count, computed, cycles } = timed.map_err(failure)?;
    say(&format!(
        "an instruction takes {cycles} cycles: {count} of them take {} on one core of this host, of \
         {clock_ghz:.2} GHz (measured)",
        number::nanoseconds(computed.as_secs_f64() * 1e9)
    ));
    Ok(cycles)
}

/// The runs of a program under each choice of locks, which these variables put under it, on each number of cores in turn.
fn asked<'a>(
    variants: impl IntoIterator<Item = (&'a str, &'a Variables)>,
    counts: &[u32],
    orders: &dyn Fn(u32) -> Orders,
) -> Vec<Asked> {
    let of = |(locks, variables): (&str, &Variables)| {
        let on = |&cores: &u32| Asked {
            orders: orders(cores),
            variables: variables.clone(),
            locks: (locks != Variant::OWN).then(|| locks.to_owned()),
        };
        counts.iter().map(on).collect::<Vec<_>>()
    };
    variants.into_iter().flat_map(of).collect()
}

/// Runs them, `most` times each if chance decides how long they take, showing progress.
fn run(
    command: &[OsString],
    asked: &[Asked],
    most: usize,
    emulator: &Emulator,
    output: Output<'_>,
    assignment: &Assignment,
) -> Result<Vec<Runs>, Failure> {
    let bar = Bar(output::progress(0, "emulating"));
    let runs = emulate_runs(command, asked, most, emulator, output, assignment, &bar);
    bar.0.finish_and_clear();
    runs.map_err(failure)
}

/// Runs that are done, of those that are known to come.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn planned(&self, runs: usize) {
        self.0.inc_length(runs as u64);
    }

    fn done(&self) {
        self.0.inc(1);
    }
}

/// The numbers of cores to run on.
fn counts(asked: Option<&CoreList>, machine: &Description) -> Result<Vec<u32>, Failure> {
    if let Some(list) = asked {
        usual_machine::check_cores(machine, list, "emulate")?;
        return Ok(list.0.clone());
    }
    let has = machine.hardware_threads();
    let per_node = has / machine.topology.nodes();
    Ok(CoreList::for_machine(has.min(USUAL_MOST_CORES), per_node).0)
}
