//! What a source computes, and what it finds.

use std::sync::atomic::{AtomicUsize, Ordering};

use kilocore_points::{Job, PointSource};

use crate::squares::{Factor, NoSquare, Square, ask, folder, jobs};

#[test]
fn points_come_in_the_order_of_the_jobs_and_each_is_told_of() {
    let factor = Factor::new(2.0);
    let done = AtomicUsize::new(0);
    let on_done = || {
        done.fetch_add(1, Ordering::Relaxed);
    };
    let points = PointSource::unkept().points(&factor, &jobs(100), &on_done).unwrap();
    let expected = (1..=100).map(|number| f64::from(number * number * 2));
    assert!(points.iter().map(|point| point.square).eq(expected));
    assert_eq!(done.into_inner(), 100);
    assert_eq!(PointSource::unkept().points::<Square>(&factor, &[], &|| ()).unwrap(), []);
}

#[test]
fn what_is_not_kept_is_computed_each_time() {
    let factor = Factor::new(1.0);
    for _ in 0..2 {
        ask(PointSource::unkept(), &factor, &jobs(10)).unwrap();
        assert_eq!(factor.computed.take(), 10);
    }
}

#[test]
fn what_is_kept_is_found_by_the_same_and_by_the_next_source() {
    let (_held, folder) = folder();
    let factor = Factor::new(3.0);
    let source = PointSource::kept_in(&folder).unwrap();
    let first = ask(&source, &factor, &jobs(10)).unwrap();
    assert_eq!(factor.computed.take(), 10);
    assert_eq!(ask(&source, &factor, &jobs(12)).unwrap()[..10], first);
    assert_eq!(factor.computed.take(), 2);
    drop(source);
    let source = PointSource::kept_in(&folder).unwrap();
    assert_eq!(ask(&source, &factor, &jobs(12)).unwrap()[..10], first);
    assert_eq!(source.point(&factor, &Square(4.0)).unwrap().square, first[3]);
    assert_eq!(factor.computed.take(), 0);
}

#[test]
fn other_inputs_have_other_points() {
    let (_held, folder) = folder();
    let source = PointSource::kept_in(&folder).unwrap();
    for factor in [1.0, 2.0, -0.0, 0.0] {
        let factor = Factor::new(factor);
        ask(&source, &factor, &jobs(5)).unwrap();
        assert_eq!(factor.computed.take(), 5);
        ask(&source, &factor, &jobs(5)).unwrap();
        assert_eq!(factor.computed.take(), 0);
    }
}

#[test]
fn the_first_error_is_told_the_others_are_computed_and_no_error_is_kept() {
    let (_held, folder) = folder();
    let source = PointSource::kept_in(&folder).unwrap();
    let factor = Factor::new(1.0);
    let mixed: Vec<Square> = [1.0, -2.0, 3.0, -4.0].map(Square).to_vec();
    for computed in [4, 2] {
        assert_eq!(ask(&source, &factor, &mixed).unwrap_err(), NoSquare::Negative(-2.0));
        assert_eq!(factor.computed.take(), computed);
    }
}

#[test]
fn figures_that_are_no_numbers_are_kept_as_well() {
    let (_held, folder) = folder();
    let factor = Factor::new(1.0);
    let odd = [f64::NAN, f64::INFINITY].map(Square);
    for computed in [2, 0] {
        let source = PointSource::kept_in(&folder).unwrap();
        let points = ask(&source, &factor, &odd).unwrap();
        assert!(points[0].is_nan() && points[1] == f64::INFINITY);
        assert_eq!(factor.computed.take(), computed);
    }
}

#[test]
fn where_nothing_can_be_kept_the_folder_is_refused() {
    assert!(PointSource::kept_in(std::path::Path::new("/proc/self")).is_err());
    assert!(PointSource::kept_in(std::path::Path::new("not/absolute")).is_err());
}

#[test]
fn what_another_process_writes_meanwhile_is_not_lost() {
    let (_held, folder) = folder();
    let factor = Factor::new(1.0);
    let [one, two] = [(); 2].map(|()| PointSource::kept_in(&folder).unwrap());
    ask(&one, &factor, &jobs(3)).unwrap();
    ask(&two, &factor, &[Square(7.0)]).unwrap();
    one.flush();
    two.flush();
    assert_eq!(factor.computed.take(), 4);
    let again = PointSource::kept_in(&folder).unwrap();
    ask(&again, &factor, &[&jobs(3)[..], &[Square(7.0)]].concat()).unwrap();
    assert_eq!(factor.computed.take(), 0);
    assert_eq!(Square::COMPUTATION, "square");
}
