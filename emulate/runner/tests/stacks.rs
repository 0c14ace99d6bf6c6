//! Where time goes by call stack, of a program whose calls are known.

use kilocore_emulation::Point;

use crate::support::{program, with_stacks};

fn run() -> Point {
    with_stacks(2, &program("stacks", &[]))
}

/// The time of all stacks of a kind of thread that end so, in ns.
fn ns(point: &Point, kind: &str, end: &str) -> f64 {
    let these =
        point.stacks.iter().filter(|(stack, _)| stack.starts_with(kind) && stack.ends_with(end));
    these.map(|(_, ns)| ns).sum()
}

#[test]
fn each_caller_of_a_function_has_its_own_time_and_all_of_them_are_that_of_the_threads() {
    let point = run();
    let (main, others) = ("main thread;", "other threads;");
    let of = |kind, end: &str| ns(&point, kind, &format!(";{end};leaf;[computing]"));
    let (left, right) = (of(others, "run;left"), of(others, "run;right"));
    assert!((2.7..3.3).contains(&(right / left)), "{left} {right}");
    let recursion = of(main, "main;recursion;recursion;recursion;recursion");
    let ratio = recursion / (2.0 * left);
    assert!((0.85..1.15).contains(&ratio), "{ratio}: {:?}", point.stacks);
    // What the jump has left is not there any more.
    let ratio = of(main, "main;lands") / recursion;
    assert!((0.85..1.15).contains(&ratio), "{ratio}: {:?}", point.stacks);
    assert_eq!(of(main, "jumps"), 0.0);
    // The outermost of deep calls are not remembered.
    assert!(of(main, "recursion;recursion;recursion;recursion;recursion;recursion") > 0.0);
    let deep = point.stacks.iter().find(|(stack, _)| stack.contains("[deeper calls];recursion;"));
    assert!(deep.is_some(), "{:?}", point.stacks);
    let all: f64 = point.stacks.iter().map(|(_, ns)| ns).sum();
    let threads = point.report.threads.iter();
    let expected: f64 =
        threads.map(|it| it.working_ns + it.stalled_ns + it.spinning_ns + it.system_ns).sum();
    assert!((all - expected).abs() < 1.0, "{all} {expected}");
}

#[test]
fn stacks_are_the_same_each_time_and_cost_no_simulated_time() {
    let (first, second) = (run(), run());
    assert_eq!(first.stacks, second.stacks);
    let (without, _) = crate::support::on(2, &program("stacks", &[]), &[]);
    assert_eq!(without.report.end_ns, first.report.end_ns);
    assert_eq!(without.report.chain, first.report.chain);
    assert_eq!(without.stacks.iter().count(), 0);
}
