//! Plans carried out with this crate's own helper program.

use std::path::PathBuf;
use std::time::Duration;

use kilocore_kernel_bench::document::{Document, Sample};
use kilocore_kernel_bench::{
    Cpus, Helpers, Kind, Pin, Plan, PlanError, Progress, Refusal, Scratch, benchmarks, run,
};

fn helpers() -> Helpers {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_kilocore-bench-helper"));
    Helpers { program, words: Vec::new() }
}

/// Helpers that a shell starts, after what a script does; the words are `$@`.
fn through_shell(script: &str) -> Helpers {
    let helper = env!("CARGO_BIN_EXE_kilocore-bench-helper");
    let script = script.replace("HELPER", helper);
    Helpers { program: "sh".into(), words: ["-c", &script, "sh"].map(Into::into).to_vec() }
}

fn plan(names: &[&str], kind: Option<Kind>, cores: &[u32]) -> Plan {
    Plan {
        benchmarks: names.iter().map(|name| benchmarks::find(name).expect("it exists")).collect(),
        cores: cores.to_vec(),
        kind,
        pin: Pin::Core,
        repeats: 2,
        measure: Duration::from_millis(5),
        warm_up: Duration::from_millis(1),
        budget: None,
        seed: 3,
        scratch: Scratch { quick: true, file_bytes: Some(1 << 20), ..Scratch::default() },
    }
}

fn carry_out(plan: &Plan, helpers: &Helpers) -> Result<Document, PlanError> {
    run(plan, helpers, "test".to_owned(), String::new(), |_| {})
}

#[test]
fn both_kinds_run_on_one_core_and_on_all() {
    let all = Cpus::of_this_process().count();
    for kind in [Kind::Processes, Kind::Threads] {
        let plan = Plan { repeats: 5, ..plan(&["dup"], Some(kind), &[1, all]) };
        let document = carry_out(&plan, &helpers()).unwrap();
        let outcome = document.outcome("dup", kind).unwrap();
        assert!(outcome.refused.is_none(), "{:?}", outcome.refused);
        for point in &outcome.points {
            assert_eq!(point.samples.len(), 5);
            for sample in &point.samples {
                assert!(sample.per_s >= sample.fastest_task_per_s * 0.999_999, "{sample:?}");
                assert!(sample.slowest_task_per_s <= sample.fastest_task_per_s, "{sample:?}");
                assert!(sample.seconds >= 0.004 && sample.operations > 0, "{sample:?}");
                assert!(sample.on_core > 0.0, "{sample:?}");
                assert!(sample.begin <= sample.last_begin, "{sample:?}");
                assert!(sample.first_end <= sample.end, "{sample:?}");
            }
            // A host may stop a core for longer than a sample takes, and between the readings of
            // two clocks; not in each sample.
            let any = |holds: fn(&Sample) -> bool| point.samples.iter().any(holds);
            assert!(any(|sample| sample.last_begin < sample.first_end), "{point:?}");
            assert!(any(|sample| sample.on_core < 1.01), "{point:?}");
        }
        assert_eq!(outcome.points[0].summary.unwrap().speedup, 1.0);
    }
}

/// The tasks look at the processors that they may use.
#[test]
fn every_way_of_pinning_ties_tasks_to_what_they_were_given() {
    let all = Cpus::of_this_process().count();
    for pin in Pin::ALL {
        for kind in [Kind::Processes, Kind::Threads] {
            let plan = Plan { pin, ..plan(&["affinity"], Some(kind), &[1, all]) };
            let document = carry_out(&plan, &helpers()).unwrap();
            let points = &document.benchmarks[0].points;
            assert!(points.iter().all(|point| point.samples.len() == 2), "{pin}: {points:?}");
        }
    }
}

#[test]
fn without_time_a_single_round_is_taken() {
    let plan = Plan { budget: Some(Duration::ZERO), ..plan(&["getppid", "brk"], None, &[1]) };
    let document = carry_out(&plan, &helpers()).unwrap();
    for outcome in &document.benchmarks {
        assert_eq!(outcome.points[0].samples.len(), 1, "{outcome:?}");
        assert!(outcome.notes.iter().any(|note| note.starts_with("1 of 2 rounds")), "{outcome:?}");
    }
}

/// What the loop around operations, the clock and the phases cost: nothing is in this loop.
#[test]
#[ignore = "measures; needs --release"]
fn an_empty_operation_costs_less_than_two_nanoseconds() {
    let long = Duration::from_millis(200);
    let plan = Plan { repeats: 9, measure: long, ..plan(&["empty"], None, &[1]) };
    let document = carry_out(&plan, &helpers()).unwrap();
    let summary = document.benchmarks[0].points[0].summary.unwrap();
    let ns = summary.ns_per_operation * summary.on_core;
    println!("{ns:.3} ns");
    assert!(ns < 2.0, "{summary:?}");
}

#[test]
fn progress_reaches_its_end() {
    let mut seen: Vec<Progress> = Vec::new();
    let plan = plan(&["getppid", "brk"], None, &[1]);
    run(&plan, &helpers(), String::new(), String::new(), |step| seen.push(step)).unwrap();
    assert!(seen.windows(2).all(|steps| steps[0].done <= steps[1].done));
    let last = seen.last().unwrap();
    assert_eq!((last.done, last.of, last.benchmark), (4, 4, "brk"));
}

#[test]
fn tasks_that_die_are_a_refusal_and_the_others_run() {
    // The worker of one benchmark ends at once, that of the other is let through.
    let script = r#"case "$2" in *'"sock"'*) exit 3;; esac; exec HELPER "$@""#;
    let plan = plan(&["sock", "getppid"], None, &[1]);
    let document = carry_out(&plan, &through_shell(script)).unwrap();
    let refused = document.benchmarks.iter().find(|outcome| outcome.name == "sock").unwrap();
    let refused = &refused.refused.as_ref().expect("it was refused").refusal;
    assert_eq!(refused, &Refusal::Died { how: "exit status 3".to_owned() });
    assert!(document.outcome("getppid", Kind::Processes).unwrap().has_run());
}

#[test]
fn a_task_killed_while_it_runs_is_a_refusal() {
    // The shell stays above the task, and kills it as soon as it exists.
    let script = r#"case "$2" in *'"getppid"'*) HELPER "$@" & kill -9 $!; wait $!;; *) exec HELPER "$@";; esac"#;
    let document = carry_out(&plan(&["getppid"], None, &[1]), &through_shell(script)).unwrap();
    let refused = document.benchmarks[0].refused.as_ref().expect("it was refused");
    assert!(matches!(refused.refusal, Refusal::Died { .. }), "{}", refused.message);
}

#[test]
fn plans_that_cannot_be_carried_out_are_errors() {
    let all = Cpus::of_this_process().count();
    let too_many = carry_out(&plan(&["getppid"], None, &[all + 1]), &helpers()).unwrap_err();
    assert!(
        matches!(too_many, PlanError::Cores { asked, allowed } if asked == all + 1 && allowed == all)
    );
    let none = carry_out(&plan(&["getppid"], None, &[]), &helpers()).unwrap_err();
    assert!(matches!(none, PlanError::Nothing));
    let long = Plan { repeats: 1001, ..plan(&["getppid"], None, &[1]) };
    let refused = carry_out(&long, &helpers()).unwrap_err();
    assert!(matches!(refused, PlanError::Repeats { asked: 1001 }), "{refused}");
    let no_keeper = Helpers { program: "false".into(), words: Vec::new() };
    let refused = carry_out(&plan(&["getppid"], None, &[1]), &no_keeper).unwrap_err();
    assert!(matches!(refused, PlanError::Keeper(_)), "{refused}");
}
