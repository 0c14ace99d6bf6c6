//! Serial parts, barriers, sleep under locks, and work of which few durations hold most.

use kilocore_forecast::{Barriers, Duration, Point, Range, RunSize, Workload, simulate};
use kilocore_locks::LockId;
use kilocore_machine::Description;

fn machine() -> Description {
    kilocore_machine::find("opteron-6344-4s").unwrap()
}

fn point(workload: &Workload, cores: u32) -> Point {
    let size = RunSize { sections: 4_000, ..RunSize::default() };
    simulate(workload, LockId::Mcs, &machine(), cores, size).unwrap()
}

fn rate(workload: &Workload, cores: u32) -> f64 {
    point(workload, cores).throughput_per_s
}

/// Threads that hardly meet: 100,000 cycles of thinking to 100 of holding.
fn parallel() -> Workload {
    Workload::single_lock(Duration::Exponential(100_000.0), Duration::Constant(100.0), 0.0)
}

#[track_caller]
fn about(value: f64, expected: f64, error: f64) {
    assert!((value / expected - 1.0).abs() < error, "{value} is not {expected}");
}

#[test]
fn no_core_divides_a_serial_part() {
    let serial = Workload { serial: 10_000.0, ..parallel() };
    let per_second = machine().clock_ghz.value * 1e9;
    for cores in [1, 6, 48] {
        let (with, without) = (point(&serial, cores), point(&parallel(), cores));
        let together = 1.0 / (1.0 / without.throughput_per_s + 10_000.0 / per_second);
        about(with.throughput_per_s, together, 1e-9);
        let busy = with.working_share * f64::from(cores) / with.throughput_per_s;
        about(busy * per_second, 110_100.0, 0.03);
        assert!(with.joules_per_op > without.joules_per_op);
        assert!(with.wait_share <= without.wait_share);
    }
    // A tenth of the work: never more than eleven times as fast.
    assert!(rate(&serial, 48) < 11.0 * rate(&serial, 1));
}

fn with_barriers(barriers: Barriers) -> Workload {
    Workload { barriers: Some(barriers), ..parallel() }
}

#[test]
fn rare_barriers_between_equal_parts_cost_little_and_frequent_ones_much() {
    let rounds = |sections, imbalance| {
        rate(&with_barriers(Barriers { sections, imbalance, lock: None }), 24)
    };
    let without = rate(&parallel(), 24);
    let rare = rounds(24_000.0, 0.0);
    about(rare, without, 0.1);
    // A section for each thread: the longest of 24 exponentially distributed ones lasts 3.8 times
    // as long as their mean.
    let frequent = rounds(24.0, 0.0);
    assert!(frequent < without / 3.0 && frequent > without / 6.0, "{frequent} {without}");
    assert!(rounds(24_000.0, 0.5) < 0.6 * rare);
}

#[test]
fn a_round_has_as_much_work_however_many_threads_divide_it() {
    // Eight sections to a round, which 32 threads divide into quarters.
    let rounds = with_barriers(Barriers { sections: 8.0, imbalance: 0.0, lock: None });
    let rounds = Workload { think: Duration::Constant(1e6), ..rounds };
    about(rate(&rounds, 8), 8.0 * rate(&rounds, 1), 0.1);
    // Quarters are short enough for the barrier to be felt.
    let share = rate(&rounds, 32) / (32.0 * rate(&rounds, 1));
    assert!((0.6..1.0).contains(&share), "{share}");
}

#[test]
fn a_barrier_made_of_a_lock_shows_among_what_locks_take() {
    let made_of =
        |lock| point(&with_barriers(Barriers { sections: 48.0, imbalance: 0.0, lock }), 48);
    let (of_lock, own) = (made_of(Some(0)), made_of(None));
    assert!(of_lock.lock_share_by_lock[0] > 2.0 * own.lock_share_by_lock[0]);
    assert!(of_lock.throughput_per_s < own.throughput_per_s, "all take it, one after another");
}

#[test]
fn work_in_few_long_durations_is_counted_exactly() {
    // 0.6 % of the thinks have all but a thousandth of the work. A run of 4,000 sections on 48 cores
    // sees 24 of them.
    let think = Duration::Observed(vec![
        Range { up_to: 0.994, low: 500.0, high: 700.0 },
        Range { up_to: 1.0, low: 5e7, high: 15e7 },
    ]);
    let heavy = Workload { think: think.clone(), ..parallel() };
    let per_second = machine().clock_ghz.value * 1e9;
    for cores in [1, 8, 48] {
        about(rate(&heavy, cores), f64::from(cores) * per_second / heavy.busy(), 0.03);
    }
}

#[test]
fn who_sleeps_under_a_lock_keeps_the_others_waiting() {
    let mut asleep = parallel();
    asleep.sections[0].1.asleep = 1e6;
    let per_second = machine().clock_ghz.value * 1e9;
    let many = point(&asleep, 24);
    assert!(many.throughput_per_s < 1.1 * per_second / 1e6);
    assert!(many.idle_share + many.spinning_share + many.system_share > 0.5);
    assert!(many.working_share < 0.1, "{}", many.working_share);
}
