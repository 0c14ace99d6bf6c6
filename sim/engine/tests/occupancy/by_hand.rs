//! What can be computed by hand.

use kilocore_sim::occupancy::{
    Bytes, Cache, CurveError, Matrix, MissCurve, Model, correlation, queueing, settled,
};

use crate::occupancy::made::{hardware, streamer, wide, working_set};

/// Cycles of a miss on idle channels: 110 ns at 2.33 GHz.
const LATENCY: f64 = 110.0 * 2.33;

fn near(left: f64, right: f64, part: f64) {
    assert!((left - right).abs() <= part * right.abs(), "{left} is not {right}");
}

#[test]
fn a_curve_is_straight_between_its_points_and_flat_beyond() {
    let curve = MissCurve::new(&[(100.0, 0.8), (300.0, 0.2)]).unwrap();
    let at = |bytes| curve.at(Bytes(bytes));
    assert_eq!((at(0.0), at(100.0), at(300.0), at(1e9)), (0.8, 0.8, 0.2, 0.2));
    near(at(150.0), 0.65, 1e-12);
}

#[test]
fn what_is_no_curve_is_refused() {
    assert_eq!(MissCurve::new(&[]), Err(CurveError::Empty));
    assert_eq!(
        MissCurve::new(&[(0.0, 1.5)]),
        Err(CurveError::Bounds { at: 0, bytes: 0.0, ratio: 1.5 })
    );
    assert_eq!(MissCurve::new(&[(0.0, 0.1), (9.0, 0.2)]), Err(CurveError::Order { at: 1 }));
    assert_eq!(MissCurve::new(&[(9.0, 0.2), (9.0, 0.1)]), Err(CurveError::Order { at: 1 }));
}

#[test]
fn alone_a_task_takes_its_base_and_its_misses() {
    // One reference in a hundred, of which a quarter misses for ever, two at a time.
    let phase = working_set(1e6, 0.25, 0.01);
    let cpi = 1.0 + 0.01 * 0.25 * LATENCY / 2.0;
    near(1.0 / settled(&wide(1), &[(0, &phase)])[0], cpi, 1e-6);
}

#[test]
fn a_task_without_room_for_its_working_set_misses_as_its_curve_says() {
    // 8 MB in a cache of 4 MiB: full of its own lines.
    let phase = working_set(8e6, 0.0, 0.01);
    let ratio = 1.0 - 4096.0 * 1024.0 / 8e6;
    near(1.0 / settled(&wide(1), &[(0, &phase)])[0], 1.0 + 0.01 * ratio * LATENCY / 2.0, 1e-3);
}

#[test]
fn two_equal_tasks_have_half_of_the_cache_each() {
    let phase = working_set(8e6, 0.0, 0.01);
    let mut model = Model::new(wide(2));
    for _ in 0..4000 {
        for thread in 0..2 {
            model.execute(thread, thread, &phase, 1e5);
        }
    }
    let half = 2048.0 * 1024.0;
    near(model.cache(0).has(0).0, half, 0.01);
    near(model.cache(0).has(1).0, half, 0.01);
}

#[test]
fn eviction_is_in_proportion_while_nothing_is_used_again() {
    let mut cache = Cache::new(Bytes(1000.0));
    cache.insert(0, Bytes(600.0));
    cache.insert(1, Bytes(400.0));
    cache.insert(2, Bytes(100.0));
    assert_eq!(
        [cache.has(0), cache.has(1), cache.has(2)],
        [Bytes(540.0), Bytes(360.0), Bytes(100.0)]
    );
}

#[test]
fn lines_used_again_stay_in_proportion_to_their_use() {
    let mut cache = Cache::new(Bytes(1000.0));
    cache.insert(0, Bytes(500.0));
    cache.insert(1, Bytes(500.0));
    // A line of task 0 is used thrice while the contents are replaced: 1000 / 10 × 15 / 500.
    cache.set_rates(0, 15.0, 0.0);
    cache.set_rates(1, 0.0, 10.0);
    cache.insert(1, Bytes(100.0));
    // Weights of 1/4 and 1.
    assert_eq!([cache.has(0), cache.has(1)], [Bytes(480.0), Bytes(520.0)]);
}

#[test]
fn what_a_task_left_is_there_until_others_evict_it() {
    let phase = working_set(2e6, 0.0, 0.02);
    let mut model = Model::new(wide(1));
    model.execute(0, 0, &phase, 1e9);
    let had = model.cache(0).has(0).0;
    near(had, 2e6, 0.01);
    model.execute(0, 1, &phase, 1e9);
    near(model.cache(0).has(0).0, had, 1e-9);
    model.execute(0, 2, &streamer(), 1e8);
    assert!(model.cache(0).has(0).0 < 0.01 * had, "a streamer takes all of an idle task's");
}

#[test]
fn a_working_set_in_use_stands_up_to_a_streamer() {
    let small = working_set(1e6, 0.0, 0.05);
    let speeds = settled(&wide(2), &[(0, &small), (1, &streamer())]);
    let alone = settled(&wide(1), &[(0, &small)])[0];
    let without_cache = 1.0 / (1.0 + 0.05 * LATENCY / 2.0);
    assert!(speeds[0] < alone, "it loses something");
    assert!(speeds[0] > 4.0 * without_cache, "and keeps most: {} of {alone}", speeds[0]);
    near(speeds[1], 1.0 / (1.0 + 0.05 * LATENCY / 6.0), 1e-3);
}

#[test]
fn private_lines_are_fetched_again_after_another_ran() {
    let phase =
        kilocore_sim::occupancy::Phase { private: Bytes(16384.0), ..working_set(1e6, 0.0, 0.01) };
    let mut model = Model::new(wide(1));
    model.execute(0, 0, &phase, 1e9);
    let warm = model.execute(0, 0, &phase, 1000.0);
    model.execute(0, 1, &phase, 1e9);
    model.execute(0, 2, &phase, 1000.0);
    // The caches of 32 KiB have 16 KiB of each of the two; then the third took half of both.
    let back = model.execute(0, 0, &phase, 1000.0);
    near(back.references - warm.references, 8192.0 / 64.0, 1e-9);
    near(back.cycles - warm.cycles, 128.0 * 6.0 * 2.33 / 2.0, 1e-2);
}

#[test]
fn latency_and_traffic_of_equal_streamers_agree() {
    // Four on one bus that is not shared further: x bytes a cycle each, with
    // x = 64 × 0.05 / (1 + 0.05 / 6 × (latency + 4 × 64 / bus × u / 2(1 − u))) and u = 4 x / bus.
    let mut machine = crate::occupancy::made::machine();
    machine.memory.shared_controller_gb_per_s = None;
    let hardware = kilocore_sim::occupancy::Hardware::new(&machine, 4);
    let stream = streamer();
    let running: Vec<_> = (0..4).map(|thread| (thread, &stream)).collect();
    let speed = settled(&hardware, &running)[0];
    let bus = 6.56 / 2.33;
    let used = 4.0 * speed * 0.05 * 64.0 / bus;
    assert!(used > 0.5 && used < 1.0, "{used}");
    near(1.0 / speed, 1.0 + 0.05 / 6.0 * (LATENCY + 4.0 * 64.0 / bus * queueing(used)), 1e-2);
}

#[test]
fn streams_get_what_was_published_of_the_machine() {
    // Sustained GB/s of one core, of a socket and of both, of Williams and others: 3.62, 6.56, 8.86.
    let mut stream = streamer();
    (stream.cpi, stream.overlap) = (0.3, 10.0);
    let gb_per_s = |threads: usize| {
        let running: Vec<_> = (0..threads).map(|thread| (thread, &stream)).collect();
        settled(&hardware(8), &running).iter().sum::<f64>() * 0.05 * 64.0 * 2.33
    };
    near(gb_per_s(1), 3.62, 0.15);
    let (socket, both) = (gb_per_s(4), gb_per_s(8));
    assert!(socket < 6.56 && socket > 0.9 * 6.56, "{socket}");
    assert!(both < 8.86 && both > 0.9 * 8.86, "{both}");
}

#[test]
fn the_matrix_has_who_slows_whom() {
    let phases = [streamer(), working_set(3e6, 0.0, 0.03), working_set(1e3, 0.0, 0.001)];
    let matrix = Matrix::new(&wide(2), &phases);
    near(matrix.at(0, 0), 1.0, 1e-6);
    assert!(matrix.at(0, 1) > 1.1, "a streamer evicts: {}", matrix.at(0, 1));
    near(matrix.at(1, 0), 1.0, 1e-6);
    near(matrix.at(2, 1), 1.0, 0.01);
    assert!(matrix.sensitivity(1) > matrix.sensitivity(0));
}

#[test]
fn correlation_of_a_line_is_one() {
    near(correlation(&[1.0, 2.0, 3.0], &[5.0, 7.0, 9.0]), 1.0, 1e-12);
    near(correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0, 1e-12);
    assert_eq!(correlation(&[1.0, 1.0], &[2.0, 3.0]), 0.0);
}
