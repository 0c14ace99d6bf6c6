//! Time that samples do not show, known from the speedup.

use kilocore_figures::Nanoseconds;
use kilocore_locate::{Measure, Options, Run, Warning, compare};
use kilocore_sampled_profile::{Format, Unit};

use crate::profiles::{profile, run};

/// A run that does 1,000 units of work, with as many cycles whatever its cores.
fn of_cycles(name: &str, cores: u32, seconds: f64, clock_ghz: Option<f64>) -> Run {
    let mut profile = profile(&[("main;handle", 3_000, 9_000_000_000)]);
    profile.format = Format::PerfScript;
    profile.unit = Unit::Events("cycles".to_owned());
    Run {
        cores: Some(cores),
        elapsed: Some(Nanoseconds((seconds * 1e9) as u64)),
        clock_ghz,
        ..run(name, profile, 1_000)
    }
}

#[test]
fn threads_that_sleep_for_a_lock_are_seen_though_cycles_do_not_tell() {
    let base = of_cycles("base", 1, 3.0, None);
    let scaled = of_cycles("scaled", 8, 3.0, None);
    let found = compare(&[base], &[scaled], &Options::default()).unwrap();
    assert_eq!(found.measure, Measure::Events("cycles".to_owned()));
    assert_eq!((found.speedup(), found.core_time_ratio()), (Some(1.0), Some(8.0)));
    // A unit of work takes as many cycles, and eight times the time of its cores.
    assert_eq!(found.unexplained(), Some(0.875));
    assert_eq!(found.total_loss().numerator, 0);
}

#[test]
fn a_clock_makes_cycles_time() {
    let [base, scaled] =
        [(1, "base"), (8, "scaled")].map(|(cores, name)| of_cycles(name, cores, 3.0, Some(3.0)));
    let found = compare(&[base], &[scaled], &Options::default()).unwrap();
    assert_eq!(found.measure, Measure::Nanoseconds);
    assert_eq!(found.unexplained(), None);
    // All of the base's time was on its core, and 21 of 24 core seconds of the other's were not.
    let idle = found.idle.expect("cores, time and clock are known");
    assert_eq!((idle.base, idle.scaled), (0, 21_000_000_000));
    assert_eq!(found.total_loss().per_unit(found.works), 21e6);
}

/// A run as above whose profile names a processor of this clock.
fn on_processor(name: &str, cores: u32, nominal_ghz: Option<f64>) -> Run {
    let mut run = of_cycles(name, cores, 3.0, None);
    run.profile.facts.clock_ghz = nominal_ghz;
    run
}

#[test]
fn the_nominal_clock_from_the_files_makes_cycles_time_and_is_told() {
    let [base, scaled] =
        [(1, "base"), (8, "scaled")].map(|(cores, name)| on_processor(name, cores, Some(3.0)));
    let found =
        compare(std::slice::from_ref(&base), std::slice::from_ref(&scaled), &Options::default())
            .unwrap();
    assert_eq!(found.measure, Measure::Nanoseconds);
    assert_eq!(found.total_loss().per_unit(found.works), 21e6);
    let told = found.warnings.iter().find(|one| matches!(one, Warning::NominalClock { .. }));
    assert!(
        told.is_some_and(|one| one.to_string().contains("nominal clock from the file, 3.00 GHz"))
    );
    // Who states a clock knows better.
    let stated = [base, scaled].map(|run| Run { clock_ghz: Some(6.0), ..run });
    let found = compare(&stated[..1], &stated[1..], &Options::default()).unwrap();
    assert_eq!(found.busy.base, 1_500_000_000);
    assert!(!found.warnings.iter().any(|one| matches!(one, Warning::NominalClock { .. })));
}

#[test]
fn a_nominal_clock_that_something_contradicts_is_not_taken() {
    // By a slower clock the one core was busy for longer than the program ran; two processors have two
    // clocks; one file states none.
    for clocks in [[Some(2.5), Some(2.5)], [Some(3.0), Some(3.2)], [Some(3.0), None]] {
        let base = on_processor("base", 1, clocks[0]);
        let scaled = on_processor("scaled", 8, clocks[1]);
        let found = compare(&[base], &[scaled], &Options::default()).unwrap();
        assert_eq!(found.measure, Measure::Events("cycles".to_owned()), "{clocks:?}");
        assert_eq!(found.unexplained(), Some(0.875));
        assert!(!found.warnings.iter().any(|one| matches!(one, Warning::NominalClock { .. })));
    }
}

#[test]
fn what_scales_has_nothing_unexplained() {
    let base = of_cycles("base", 1, 8.0, None);
    let scaled = of_cycles("scaled", 8, 1.0, None);
    let found = compare(&[base], &[scaled], &Options::default()).unwrap();
    assert_eq!(found.unexplained(), Some(0.0));
}

#[test]
fn time_that_threads_waited_is_no_time_on_processors() {
    let waited = |name, cores, ns| {
        let mut profile = profile(&[("main;handle;lock", 2_000, ns)]);
        profile.format = Format::Contention;
        profile.unit = Unit::Waiting;
        Run {
            cores: Some(cores),
            elapsed: Some(Nanoseconds(3_000_000_000)),
            ..run(name, profile, 1_000)
        }
    };
    let (base, scaled) = (waited("base", 1, 1_000_000), waited("scaled", 8, 60_000_000_000));
    let found = compare(std::slice::from_ref(&base), &[scaled], &Options::default()).unwrap();
    assert_eq!(found.measure, Measure::Waiting);
    // Many threads wait at once: of how the cores were used, that tells nothing.
    assert_eq!((found.idle, found.unexplained()), (None, None));
    assert_eq!(found.total_loss().per_unit(found.works), 59_999_000.0);
    assert_eq!(found.warnings, [Warning::WaitingOnly]);

    let mut of_processors = base.clone();
    of_processors.profile.unit = Unit::Nanoseconds;
    let refused = compare(&[base], &[of_processors], &Options::default()).unwrap_err();
    assert!(refused.to_string().contains("counts ns of waiting"), "{refused}");
}
