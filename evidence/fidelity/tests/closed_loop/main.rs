//! The closed loop: a program whose parameters are known is measured here and forecast from its
//! profile; beside it stands the simulation of its true parameters. What differs is lost between
//! measuring and translating.
//!
//! With `KILOCORE_CLOSED_LOOP` set to a file, the page is written there: `make closed-loop`.

mod planted;

use std::fmt::Write;

use kilocore_figures::{Nanoseconds, median};
use kilocore_forecast::{
    Barriers, Duration, LockUse, Profiled, Range, RunSize, TODAY, Workload, from_profile, simulate,
};
use kilocore_machine::Description;
use kilocore_show::markdown::table;
use kilocore_show::terminal::columns::Align::{Left, Right};

use planted::Bench;

/// Threads of the measured program, each with a core.
const THREADS: u32 = 2;
/// Sections of all threads together. All runs take less than a second, even on one core: real-time
/// programs lose their cores to others after that.
const SECTIONS: u32 = 32_000;
/// Rounds, if there are barriers.
const ROUNDS: u32 = 100;
/// Mean thinking, in nanoseconds.
const THINK_NS: f64 = 20_000.0;
/// The share of the thinking times, and of the work, that is in the long ones where those differ.
const LONG: f64 = 0.01;
/// Where forecasts and truth are compared.
const CORES: [u32; 6] = [1, 2, 6, 12, 24, 48];
/// Simulated sections of each point.
const SIMULATED: u64 = 8_000;
/// The median error that is allowed.
const ALLOWED: f64 = 0.1;

/// How the times that a thread thinks for are distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Think {
    Exponential,
    FewLong,
}

/// What ends a round.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ends {
    Nothing,
    Barrier,
    Condition,
}

/// A program of the loop.
#[derive(Debug, Clone, Copy)]
struct Case {
    think: Think,
    hold: Nanoseconds<f64>,
    /// Of the thinking of all threads.
    serial_share: f64,
    ends: Ends,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for think in [Think::Exponential, Think::FewLong] {
            for hold in [200.0, 1_000.0].map(Nanoseconds) {
                for serial_share in [0.0, 0.1] {
                    for ends in [Ends::Nothing, Ends::Barrier, Ends::Condition] {
                        cases.push(Self { think, hold, serial_share, ends });
                    }
                }
            }
        }
        cases
    }

    fn serial_ns(&self) -> f64 {
        self.serial_share * THINK_NS * f64::from(SECTIONS)
    }

    fn arguments(&self) -> Vec<String> {
        let rounds = if self.ends == Ends::Nothing { 1 } else { ROUNDS };
        let how = if self.think == Think::Exponential { "e" } else { "h" };
        let barrier = match self.ends {
            Ends::Nothing => "n",
            Ends::Barrier => "p",
            Ends::Condition => "c",
        };
        vec![
            THREADS.to_string(),
            rounds.to_string(),
            (SECTIONS / THREADS / rounds).to_string(),
            THINK_NS.to_string(),
            how.to_owned(),
            self.hold.0.to_string(),
            self.serial_ns().to_string(),
            barrier.to_owned(),
        ]
    }

    /// What the program does, in cycles of the clock that it was measured by.
    fn truth(&self, ghz: f64) -> Workload {
        let think = match self.think {
            Think::Exponential => Duration::Exponential(THINK_NS * ghz),
            Think::FewLong => {
                let of = |up_to, mean: f64| Range { up_to, low: mean * ghz, high: mean * ghz };
                let ratio = (1.0 - LONG) / LONG;
                Duration::Observed(vec![
                    of(1.0 - drawn_long(), THINK_NS / ratio),
                    of(1.0, THINK_NS * ratio),
                ])
            }
        };
        let lock = LockUse { instances: 1, per_thread: false, read_write: None, kept: None };
        let barriers = Barriers {
            sections: f64::from(SECTIONS / ROUNDS),
            imbalance: 0.0,
            lock: (self.ends == Ends::Condition).then_some(1),
        };
        Workload {
            serial: self.serial_share * THINK_NS * ghz,
            barriers: (self.ends != Ends::Nothing).then_some(barriers),
            locks: vec![lock; 2],
            ..Workload::single_lock(think, Duration::Constant(self.hold.0 * ghz), 0.0)
        }
    }
}

/// The share of long thinking times that the program's generator of random numbers really gives:
/// there are some hundred of them, so that it is not [`LONG`].
fn drawn_long() -> f64 {
    let of_thread = |thread: u32| {
        let mut random = 88_172_645_463_325_252 + u64::from(thread) * 2_654_435_761;
        let long = |_: &u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005);
            random = random.wrapping_add(1_442_695_040_888_963_407);
            ((random >> 11) + 1) as f64 / (1_u64 << 53) as f64 <= LONG
        };
        (0..SECTIONS / THREADS).filter(long).count()
    };
    (0..THREADS).map(of_thread).sum::<usize>() as f64 / f64::from(SECTIONS)
}

/// Throughput on all numbers of cores, in sections a second.
fn rates(workload: &Workload, machine: &Description) -> Vec<f64> {
    let size = RunSize { sections: SIMULATED, ..RunSize::default() };
    let rate = |&cores| {
        let point = simulate(workload, TODAY, machine, cores, size).expect("it has the cores");
        point.throughput_per_s
    };
    CORES.iter().map(rate).collect()
}

/// A program with what was found.
struct Row {
    case: Case,
    profiled: Profiled,
    truth: Vec<f64>,
    forecast: Vec<f64>,
}

impl Row {
    fn errors(&self) -> impl Iterator<Item = f64> {
        self.truth.iter().zip(&self.forecast).map(|(truth, said)| (said / truth - 1.0).abs())
    }
}

const INTRODUCTION: &str = "\
# The closed loop

`make closed-loop` measures a C program whose parameters its arguments say, makes a workload of each \
profile, and simulates it beside a workload of the true parameters. So the simulator's own errors \
fall out, and what is left is lost between measuring and translating. The page is made by the test \
`evidence/fidelity/tests/closed_loop.rs`; the program is `closed_loop/program.c` beside it.

Two threads on two cores think for 20 µs on average, take the one mutex, hold it, and let it go, \
32,000 times together. *few long*: a hundredth of the thinking times has 99 hundredths of the work. \
*serial*: the part of all computing that the main thread does before the others start and after they \
have ended. *round ends*: each of 100 rounds ends in nothing, in a `pthread_barrier_t`, or in a \
barrier made of a mutex and a condition variable. *found*: what the forecast makes of the profile. \
*median error*: of throughput, not normalized, over all numbers of cores.

";

fn page(rows: &[Row], machine: &Description, host: &str) -> String {
    let columns = [
        ("thinking", Left),
        ("hold", Right),
        ("serial", Right),
        ("round ends", Left),
        ("serial found", Right),
        ("rounds found", Right),
        ("median error", Right),
    ];
    let cores = CORES.map(|cores| cores.to_string());
    let columns: Vec<_> =
        columns.into_iter().chain(cores.iter().map(|cores| (&**cores, Right))).collect();
    let row = |row: &Row| {
        let Case { think, hold, serial_share, ends } = row.case;
        let think = match think {
            Think::Exponential => "exponential",
            Think::FewLong => "few long",
        };
        let ends = match ends {
            Ends::Nothing => "never",
            Ends::Barrier => "barrier",
            Ends::Condition => "condition",
        };
        // Of all computing, as the found one is.
        let all = THINK_NS * (1.0 + serial_share) + hold.0;
        let conduct = &row.profiled.conduct;
        let error = median(row.errors()).expect("points are compared");
        let mut cells = vec![
            think.to_owned(),
            format!("{} ns", hold.0),
            format!("{:.1} %", serial_share * THINK_NS / all * 100.0),
            ends.to_owned(),
            format!("{:.1} %", conduct.time.serial_share() * 100.0),
            format!("{:.0}", conduct.barrier_rounds),
            format!("{:.0} %", error * 100.0),
        ];
        let rates = row.truth.iter().zip(&row.forecast);
        cells.extend(rates.map(|(truth, said)| format!("{:.0} / {:.0}", truth / 1e3, said / 1e3)));
        cells
    };
    let rows_in_words: Vec<_> = rows.iter().map(row).collect();
    let mut text = format!("{INTRODUCTION}{}", table(&columns, &rows_in_words));
    let all = median(rows.iter().flat_map(Row::errors)).expect("points are compared");
    write!(
        text,
        "\n\nThe median error of all is {:.1} %. The last columns are thousands of sections a \
         second on so many cores of {}: by the true parameters / by the forecast, both simulated. \
         Measured on {host}.\n",
        all * 100.0,
        machine.name
    )
    .unwrap();
    text
}

#[test]
#[ignore = "measures for minutes, with the release build; run by make soak and make closed-loop"]
fn forecasts_from_profiles_are_near_those_from_true_parameters() {
    let machine = kilocore_machine::find("opteron-6344-4s").expect("it is built in");
    let bench = Bench::new("closed_loop/program.c");
    let mut host = String::new();
    let rows: Vec<Row> = Case::all()
        .into_iter()
        .map(|case| {
            let profile = bench.measure(&case.arguments());
            host = format!("{} cores of {}", profile.host.cores, profile.host.processor);
            let profiled = from_profile(&profile).expect("it takes locks");
            let truth = rates(&case.truth(profile.host.clock_ghz), &machine);
            let forecast = rates(&profiled.workload, &machine);
            Row { case, profiled, truth, forecast }
        })
        .collect();
    let page = page(&rows, &machine, &host);
    println!("{page}");
    if let Some(file) = std::env::var_os("KILOCORE_CLOSED_LOOP") {
        std::fs::write(file, &page).expect("the file can be written");
    }
    let all = median(rows.iter().flat_map(Row::errors)).expect("points are compared");
    assert!(all <= ALLOWED, "the median error is {:.1} %", all * 100.0);
}
