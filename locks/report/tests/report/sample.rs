//! A forecast for a program that does not exist, to test and to look at.
//!
//! The locks of the registry are simulated, shortly; further curves come from closed forms, so
//! that there are as many as in earnest and each shape is among them.

use std::sync::OnceLock;

use kilocore_figures::{Judged, Nanoseconds, Provenance};
use kilocore_forecast::closed_form::{repairman, ticket_chain};
use kilocore_forecast::{
    AcquiredAt, Coverage, Curve, Duration, Evidence, Forecast, ForecastLock, ForecastPoint,
    GainError, LinesSource, Point, Recommendation, RunSize, Target, Verdict, Workload, simulate,
};
use kilocore_lock_profile::{Condition, Frame, Histogram, Host, Process, Profile, Run, Threads};
use kilocore_lock_report::{CurvesReport, ForecastReport};
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_show::Generated;

/// A function name that would run as a script and clear the screen if it were not escaped.
pub(crate) const HOSTILE: &str = "<script>alert('x')</script> & \"quoted\"\u{1b}[2J";

const THINK: f64 = 4_000.0;
const HOLD: f64 = 400.0;
const CORES: [u32; 8] = [1, 2, 6, 12, 18, 24, 36, 48];

/// All that a report borrows.
pub(crate) struct Sample {
    pub(crate) machine: Description,
    pub(crate) profile: Profile,
    pub(crate) forecast: Forecast,
}

impl Sample {
    pub(crate) fn new() -> Self {
        /// Simulated once for all who ask.
        static CURVES: OnceLock<Vec<Curve>> = OnceLock::new();
        let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
        let curves = CURVES.get_or_init(|| curves(&machine)).clone();
        let forecast = forecast(&machine, curves);
        Self { machine, profile: profile(), forecast }
    }

    pub(crate) fn report(&self) -> ForecastReport<'_> {
        ForecastReport {
            generated: generated("kilocore doctor -- kvstore --threads 2"),
            forecast: &self.forecast,
            machine: Some(&self.machine),
            profile: Some(&self.profile),
        }
    }

    pub(crate) fn curves_report(&self) -> CurvesReport<'_> {
        CurvesReport {
            generated: generated("kilocore-lab lock --think 4000 --hold 400"),
            machine: &self.machine,
            workload: "threads think 4,000 cycles, then hold one lock for 400".to_owned(),
            seed: 7,
            curves: &self.forecast.curves,
        }
    }
}

fn generated(command: &str) -> Generated {
    Generated {
        by: "kilocore 0.1.0".to_owned(),
        command: command.to_owned(),
        at: Some("2026-11-20 12:00 UTC".to_owned()),
    }
}

fn curves(machine: &Description) -> Vec<Curve> {
    let workload =
        Workload::single_lock(Duration::Exponential(THINK), Duration::Exponential(HOLD), 2.0);
    let size = RunSize { sections: 1_000, seed: 7, ..RunSize::default() };
    let mut curves: Vec<Curve> = Vec::new();
    for &lock in LockId::ALL {
        let points = CORES.map(|cores| simulate(&workload, lock, machine, cores, size).unwrap());
        curves.push(Curve::new(
            lock.name(),
            points.map(|point| banded(point, 0.1)).into(),
            Judged::BY_LAST_CORES,
        ));
    }
    // Cycles to hand the lock on, cycles that each waiter adds, energy against the ticket lock.
    let formed = [
        ("futex", 340.0, 14.0, 0.5),
        ("mcs", 210.0, 0.0, 0.95),
        ("clh", 240.0, 0.0, 0.97),
        ("ttas", 60.0, 60.0, 1.0),
        ("tas", 90.0, 160.0, 1.1),
        ("adaptive", 280.0, 6.0, 0.7),
        ("cna", 90.0, 0.0, 0.95),
        ("malthusian", 150.0, 1.0, 0.55),
        ("requester", 190.0, 0.0, 0.6),
    ];
    for (lock, hand_over, per_waiter, energy) in formed {
        if curves.iter().all(|curve| curve.lock != lock) {
            let like = curves[0].points.clone();
            let points =
                like.into_iter().map(|p| formed_point(p, lock, hand_over, per_waiter, energy));
            curves.push(Curve::new(lock, points.collect(), Judged::BY_LAST_CORES));
        }
    }
    curves
}

/// A point of a queue lock with constant or growing time to hand on.
fn formed_point(
    like: ForecastPoint,
    lock: &'static str,
    hand_over: f64,
    per_waiter: f64,
    energy: f64,
) -> ForecastPoint {
    let Point { cores, .. } = like.point;
    let section = if cores == 1 { HOLD } else { HOLD + hand_over };
    let speed = if per_waiter == 0.0 {
        repairman(cores, THINK, section)
    } else {
        ticket_chain(cores, THINK, section, per_waiter) / THINK
    };
    let throughput_per_s = speed * 2.6e9;
    let busy = speed * (THINK + HOLD) / f64::from(cores);
    let point = Point {
        lock,
        throughput_per_s,
        throughput_error_per_s: throughput_per_s * 0.01,
        wait_share: (1.0 - busy).max(0.0),
        joules_per_op: energy * (60.0 + 5.0 * f64::from(cores)) / throughput_per_s,
        ..like.point
    };
    banded(point, 0.08)
}

fn banded(point: Point, share: f64) -> ForecastPoint {
    let (low, high) =
        (point.throughput_per_s * (1.0 - share), point.throughput_per_s * (1.0 + share));
    ForecastPoint { point, low, high }
}

fn forecast(machine: &Description, curves: Vec<Curve>) -> Forecast {
    let end = |lock: &str| {
        let curve = curves.iter().find(|curve| curve.lock == lock).unwrap();
        curve.end().point.throughput_per_s
    };
    let gain = end("cna") / end("futex");
    Forecast {
        provenance: Provenance::Simulated,
        machine: Target {
            name: machine.name.clone(),
            title: machine.title.clone(),
            clock_ghz: machine.clock_ghz.value,
            hardware_threads: machine.hardware_threads(),
        },
        command: ["kvstore", "--threads", "2"].map(str::to_owned).to_vec(),
        profiled_threads: 2,
        think: Nanoseconds(1_540.0),
        asleep: Nanoseconds(0.0),
        locks: locks(),
        assumptions: vec![
            "As many threads as cores, all alike.".to_owned(),
            "Computing scales with the clock: 3.1 GHz on the host, 2.6 GHz on the machine."
                .to_owned(),
        ],
        today: "futex",
        evidence: Some(Evidence {
            threads: 3,
            cores: 2,
            limit: None,
            busy_cores: 1.8,
            waiting_threads: 0.1,
            acquisitions: 4_941_865,
            contended: 600_000,
            ..Evidence::default()
        }),
        coverage: Coverage::default(),
        without_curve: Vec::new(),
        what_if: Vec::new(),
        measured: None,
        tried_here: None,
        emulated: None,
        recommendation: Recommendation {
            verdict: Verdict::LimitedByLocks,
            scaling_known: true,
            headline: "Limited by locks: forecast to peak and then to fall; under cna, more."
                .to_owned(),
            confidence: "Seen: 3 threads acquired locks 4,941,865 times.".to_owned(),
            lock: Some("cna"),
            equals: vec!["mcs"],
            gain,
            rwlock: None,
            gain_range: Some([gain * 0.9, gain * 1.1]),
            gain_chance: Some(0.8),
            rwlock_gain: None,
            gain_error: Some(GainError::published_of_all()),
            text: vec![
                "Under today’s lock the program peaks and then falls: one lock, taken in \
                 Store::put, is handed from core to core more slowly the more of them wait."
                    .to_owned(),
                format!("Under cna it does {gain:.1} times as much on 48 cores."),
            ],
            command: Some("kilocore run --lock cna -- kvstore --threads 2".to_owned()),
        },
        curves,
        seed: 7,
    }
}

fn locks() -> Vec<ForecastLock> {
    let lock = |site: &[&str], family, instances, acquisitions, contended_share| ForecastLock {
        place: site.first().map_or_else(|| "an unknown place".into(), |&frame| frame.to_owned()),
        site: site.iter().map(|&frame| frame.to_owned()).collect(),
        acquired_at: if family == "mutex" { acquired_at() } else { Vec::new() },
        left_alone: match family {
            "read-write" => Some("a read-write lock"),
            "spin" => Some("a spin lock"),
            _ => None,
        },
        family,
        writers_first: false,
        instances,
        effective_instances: instances.div_ceil(2),
        acquisitions,
        shared_acquisitions: if family == "read-write" { 88_123 } else { 0 },
        contended_share,
        hold: Nanoseconds(154.2),
        hold_range: None,
        exclusive_hold: Nanoseconds(154.2),
        wait: Nanoseconds(2_412.0),
        lines: 2.3,
        lines_low: 0.9,
        lines_high: 4.1,
        lines_source: match family {
            "spin" => LinesSource::Assumed,
            "mutex" => LinesSource::Estimated,
            _ => LinesSource::Traced,
        },
        held_share: 0.091,
    };
    vec![
        lock(
            &[
                "Store::put(std::string_view, std::span<std::byte const>) (store.cc:118)",
                "Session::handle(Request const&) (session.cc:64)",
                "worker_main(void*) (main.cc:31)",
                "start_thread (libc.so.6)",
            ],
            "mutex",
            1,
            4_812_345,
            0.131,
        ),
        lock(&[HOSTILE, "main (main.cc:12)"], "read-write", 64, 120_400, 0.0004),
        lock(&["je_malloc_mutex_init (libjemalloc.so.2)"], "spin", 16, 9_120, 0.0),
    ]
}

fn acquired_at() -> Vec<AcquiredAt> {
    let at = |place: &str, waited| AcquiredAt {
        place: place.to_owned(),
        site: vec![place.to_owned(), "worker_main(void*) (main.cc:31)".to_owned()],
        acquisitions: 2_400_000,
        contended: 300_000,
        waited: Nanoseconds(waited),
    };
    vec![at("Store::get(std::string_view) (store.cc:97)", 7.2e8), at(HOSTILE, 1.1e7)]
}

fn profile() -> Profile {
    let frame = |function: &str, line: Option<&str>| Frame {
        function: function.to_owned(),
        module: "kvstore".to_owned(),
        offset: 0x4a_1f0,
        line: line.map(str::to_owned),
    };
    let histogram =
        |count, sum| Histogram { count, sum: Nanoseconds(sum), buckets: vec![(512.0, count)] };
    let condition = Condition {
        address: 0x7f00_1000,
        lock: Some(0),
        site: vec![
            frame("Queue::pop()", Some("queue.cc:40")),
            frame(HOSTILE, None),
            frame("", None),
        ],
        wait: histogram(12_004, 3.1e9),
        timed_out: 3,
        signals: 12_001,
        broadcasts: 2,
    };
    let run = |cores, wall_time| Run {
        cores,
        wall_time: Nanoseconds(wall_time),
        exit_status: 0,
        processes: vec![Process {
            pid: 4711,
            executable: "/usr/bin/kvstore".to_owned(),
            threads: Threads {
                started: 3,
                locking: 2,
                peak: 3,
                cpu_time: Nanoseconds(9.4e9),
                think: histogram(4_941_865, 7.6e9),
                think_asleep: Nanoseconds(0.0),
            },
            locks: Vec::new(),
            conditions: vec![condition.clone()],
            ..Process::default()
        }],
        ..Run::default()
    };
    Profile {
        format: "kilocore-profile".to_owned(),
        version: 1,
        command: ["kvstore", "--threads", "2"].map(str::to_owned).to_vec(),
        host: Host {
            processor: "Sample Processor 9000".to_owned(),
            cores: 2,
            clock_ghz: 3.1,
            core_to_core: Some(Nanoseconds(61.0)),
            kernel: "6.1.0-26-amd64".to_owned(),
            offline: None,
            hardware_threads: Vec::new(),
        },
        runs: vec![run(2, 5.2e9), run(1, 8.9e9)],
        trace: None,
        scaling: None,
    }
}
