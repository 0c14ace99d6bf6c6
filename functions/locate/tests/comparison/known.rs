//! What a comparison says of profiles whose answer is known.

use crate::profiles::{profile, run};
use kilocore_figures::Nanoseconds;
use kilocore_locate::{CompareError, Comparison, FunctionRow, Measure, NoiseSource, Options, Run};
use kilocore_locate::{Warning, compare};
use kilocore_sampled_profile::{Format, Function, Origin, SampledProfile, Tally, Unit};

fn compared(base: &[Run], scaled: &[Run]) -> Comparison {
    compare(base, scaled, &Options::default()).unwrap()
}

fn row(comparison: &Comparison, name: &str) -> FunctionRow {
    let found =
        comparison.functions.iter().find(|row| comparison.tree.function(row.function).name == name);
    *found.unwrap_or_else(|| panic!("no {name}"))
}

fn exclusive_loss(comparison: &Comparison, name: &str) -> f64 {
    row(comparison, name).exclusive.times().loss(comparison.works).per_unit(comparison.works)
}

/// The example of the thesis: times per unit of work of 10, 15, 20 and 25 on one core, and of 10,
/// 20, 30 and 40 on several, make values of 0, 5, 10 and 15.
#[test]
fn the_worked_example_of_the_paper() {
    let side = |work: u64, times: [u64; 4]| {
        let names = ["f1", "f2", "f3", "f4"];
        let stacks: Vec<(&str, u64, u64)> =
            names.iter().zip(times).map(|(&name, time)| (name, time * work, time * work)).collect();
        run("a profile", profile(&stacks), work)
    };
    let base = side(1000, [10, 15, 20, 25]);
    let scaled = side(4000, [10, 20, 30, 40]);
    let comparison = compared(&[base], &[scaled]);
    let losses = ["f1", "f2", "f3", "f4"].map(|name| exclusive_loss(&comparison, name));
    assert_eq!(losses, [0.0, 5.0, 10.0, 15.0]);
    assert_eq!(comparison.busy_loss().per_unit(comparison.works), 30.0);
    let order: Vec<&str> = comparison
        .functions
        .iter()
        .map(|row| comparison.tree.function(row.function).name.as_str())
        .collect();
    assert_eq!(order, ["f4", "f3", "f2", "f1"]);
    let above: Vec<bool> =
        comparison.functions.iter().map(|row| row.exclusive_uncertainty.above_noise).collect();
    assert_eq!(above, [true, true, true, false]);
}

#[test]
fn what_the_program_calls_is_charged_to_it() {
    let memcpy = "main;serve;memcpy@/lib/libc.so.6";
    let fault = "main;serve;memcpy@/lib/libc.so.6;asm_exc_page_fault@k;clear_page@k";
    let idle = "swapper@k";
    let base =
        profile(&[(memcpy, 500, 500), (fault, 500, 500), (idle, 10, 10), ("main", 100, 100)]);
    let scaled =
        profile(&[(memcpy, 900, 900), (fault, 1500, 1500), (idle, 10, 10), ("main", 100, 100)]);
    let comparison = compared(&[run("base", base, 1)], &[run("scaled", scaled, 1)]);
    let code: Vec<(Option<&str>, f64)> = comparison
        .code
        .iter()
        .map(|row| {
            let name = row.function.map(|f| comparison.tree.function(f).name.as_str());
            let loss = row.charged.times().loss(comparison.works);
            (name, loss.per_unit(comparison.works))
        })
        .collect();
    assert_eq!(code, [(Some("serve"), 1400.0), (None, 0.0), (Some("main"), 0.0)]);
}

#[test]
fn recursion_is_counted_once() {
    let base = profile(&[("main;walk;walk;walk", 100, 100), ("main;walk", 20, 20)]);
    let scaled = profile(&[("main;walk;walk;walk", 150, 150), ("main;walk", 20, 20)]);
    let comparison = compared(&[run("base", base, 1)], &[run("scaled", scaled, 1)]);
    let walk = row(&comparison, "walk");
    assert_eq!((walk.inclusive.base.weight, walk.inclusive.scaled.weight), (120, 170));
    assert_eq!((walk.exclusive.base.weight, walk.exclusive.scaled.weight), (120, 170));
    let main = row(&comparison, "main");
    assert_eq!((main.inclusive.base.weight, main.exclusive.base.weight), (120, 0));
}

#[test]
fn functions_of_one_side_are_new_or_have_vanished() {
    let base = profile(&[("main", 100, 100), ("main;before", 100, 100)]);
    let scaled = profile(&[("main", 100, 100), ("main;after", 100, 100)]);
    let comparison = compared(&[run("base", base, 1)], &[run("scaled", scaled, 1)]);
    assert!(row(&comparison, "before").exclusive.has_vanished());
    assert_eq!(exclusive_loss(&comparison, "before"), -100.0);
    assert!(row(&comparison, "after").exclusive.is_new());
    assert!(!row(&comparison, "main").exclusive.is_new());
}

/// Busy and idle time together are what the cores had to give.
#[test]
fn idle_time_explains_the_rest_of_the_speedup() {
    let side = |cores, elapsed, busy, work| Run {
        cores: Some(cores),
        elapsed: Some(Nanoseconds(elapsed)),
        ..run("a profile", profile(&[("main", 5000, busy)]), work)
    };
    // Twice the work in the same second on four cores: half of their time went by unused.
    let base = side(1, 1_000_000_000, 1_000_000_000, 1000);
    let scaled = side(4, 1_000_000_000, 2_000_000_000, 2000);
    let comparison = compared(&[base], &[scaled]);
    assert_eq!(comparison.speedup(), Some(2.0));
    assert_eq!(comparison.core_ratio(), Some(4.0));
    assert_eq!(comparison.busy_loss().numerator, 0);
    assert_eq!(comparison.total_loss().per_unit(comparison.works), 1e6);
    let has = |warning: &Warning| comparison.warnings.contains(warning);
    assert!(!has(&Warning::OnProcessorOnly));
}

#[test]
fn another_kernel_is_named_and_the_same_one_is_not() {
    let under = |name, kernel: Option<&str>, cores| {
        let mut profile = SampledProfile::new(Format::PerfData, Unit::Nanoseconds);
        let dup_mmap = profile.functions.id(&crate::profiles::function("dup_mmap"));
        profile.contexts.sample(&[dup_mmap], Tally::of(1000, 1_000_000));
        profile.facts.kernel = kernel.map(str::to_owned);
        run(name, profile, cores)
    };
    let said = |base, scaled| {
        let comparison = compared(&[under("base", base, 1)], &[under("scaled", scaled, 2)]);
        let kernels = comparison.warnings.into_iter().filter_map(|warning| match warning {
            Warning::Kernels { base, scaled } => Some((base, scaled)),
            _ => None,
        });
        kernels.collect::<Vec<_>>()
    };
    let both = ("6.12.117".to_owned(), "6.12.117-kilocore".to_owned());
    assert_eq!(said(Some("6.12.117"), Some("6.12.117-kilocore")), [both]);
    assert_eq!(said(Some("6.12.117"), Some("6.12.117")), []);
    assert_eq!(said(None, Some("6.12.117")), []);
}

#[test]
fn bare_samples_become_time_by_their_rate() {
    let counted = |samples| {
        let mut profile = SampledProfile::new(Format::Folded, Unit::Samples);
        let main = profile.functions.id(&crate::profiles::function("main"));
        profile.contexts.sample(&[main], Tally::of(samples, samples));
        profile
    };
    let slow = Run { frequency: Some(100.0), ..run("slow", counted(100), 1) };
    let fast = Run { frequency: Some(1000.0), ..run("fast", counted(1000), 1) };
    let comparison = compared(std::slice::from_ref(&slow), &[fast]);
    assert_eq!(comparison.measure, Measure::Nanoseconds);
    assert_eq!(comparison.busy_loss().numerator, 0);
    let rates = |warning: &Warning| matches!(warning, Warning::Rates { .. });
    assert!(comparison.warnings.iter().any(rates));
    let bare = run("bare", counted(100), 1);
    let refused = compare(&[slow], &[bare], &Options::default()).unwrap_err();
    assert!(matches!(refused, CompareError::Units { .. }), "{refused}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let some = || profile(&[("main", 10, 10)]);
    let options = Options::default();
    let known = run("known", some(), 3);
    let unknown = Run { work: None, ..run("unknown", some(), 1) };
    let refused = compare(std::slice::from_ref(&known), &[unknown], &options).unwrap_err();
    assert!(matches!(refused, CompareError::WorkOfSome { .. }), "{refused}");
    let empty = run("empty", profile(&[]), 1);
    let refused = compare(&[empty], std::slice::from_ref(&known), &options).unwrap_err();
    assert_eq!(refused, CompareError::NoSamples { name: "empty".into() });
    let on = |cores| Run { cores: Some(cores), ..known.clone() };
    let refused = compare(&[on(1), on(2)], &[on(4)], &options).unwrap_err();
    assert!(matches!(refused, CompareError::Cores { one_cores: 1, other_cores: 2, .. }));
    assert_eq!(compare(&[], &[known], &options).unwrap_err(), CompareError::NoRuns);
}

#[test]
fn what_makes_a_comparison_doubtful_is_said() {
    let few = profile(&[("main", 5, 5), ("[unknown]@x", 10, 10), ("read@k", 5, 5)]);
    let few = run("few", few, 1);
    let mut other = run("other", profile(&[("main", 5000, 5000)]), 1);
    other.profile.facts.lost = 5000;
    other.profile.facts.event = Some("cycles:P".into());
    let mut few = Run { work: None, ..few };
    few.profile.facts.event = Some("cpu-clock".into());
    let other = Run { work: None, ..other };
    let said: Vec<String> =
        compared(&[few], &[other]).warnings.iter().map(ToString::to_string).collect();
    for part in [
        "assumed that every run did the same work",
        "does not say on how many cores",
        "different events, cpu-clock and cycles:P",
        "other has no samples of the kernel",
        "few has 20 samples",
        "50 % of few is in functions without names",
        "50 % of the samples of other were lost",
        "only time on processors",
    ] {
        assert!(said.iter().any(|warning| warning.contains(part)), "{part}: {said:#?}");
    }
}

/// Repeated runs show how much chance there is: what stands out between two single runs may not
/// between runs that differ as much among themselves.
#[test]
fn runs_that_differ_hide_what_even_ones_show() {
    let of = |times: [u64; 3]| {
        times.map(|time| run("a run", profile(&[("hot", 1_000_000, time), ("rest", 1000, 1)]), 1))
    };
    let marked = |base: [u64; 3], scaled: [u64; 3]| {
        let comparison = compared(&of(base), &of(scaled));
        assert_eq!(comparison.run_noise.source, NoiseSource::Measured(4));
        row(&comparison, "hot").exclusive_uncertainty.above_noise
    };
    assert!(marked([1000, 1001, 999], [1100, 1101, 1099]));
    assert!(!marked([1000, 1150, 850], [1100, 1250, 950]));
}

#[test]
fn losses_in_locks_are_told_apart() {
    let lock = "main;pthread_mutex_lock@/lib/libc.so.6";
    let futex = "main;___pthread_mutex_lock@/lib/libc.so.6;do_syscall_64@k;_raw_spin_lock@k";
    let kernel = "main;open64@/lib/libc.so.6;do_syscall_64@k;_raw_spin_lock@k";
    let stacks = [(lock, 100, 100), (futex, 100, 100), (kernel, 100, 100), ("main", 100, 100)];
    let grown = stacks.map(|(stack, samples, time)| (stack, samples, time * 3));
    let comparison =
        compared(&[run("base", profile(&stacks), 1)], &[run("scaled", profile(&grown), 1)]);
    assert_eq!(comparison.locks.user.per_unit(comparison.works), 400.0);
    assert_eq!(comparison.locks.kernel.per_unit(comparison.works), 200.0);
}

/// Seven samples against none come by chance once in 64 times; among ten functions nobody should
/// be surprised.
#[test]
fn few_samples_are_not_taken_for_many() {
    let others: Vec<String> = (0..10).map(|index| format!("main;f{index}")).collect();
    let marked = |new: u64| {
        let mut stacks: Vec<(&str, u64, u64)> =
            others.iter().map(|stack| (stack.as_str(), 1000, 1000)).collect();
        let base = profile(&stacks);
        stacks.push(("main;new", new, new));
        let comparison = compared(&[run("base", base, 1)], &[run("scaled", profile(&stacks), 1)]);
        row(&comparison, "new").exclusive_uncertainty.above_noise
    };
    assert!(!marked(7));
    assert!(marked(14));
}

/// Folded stacks mark the kernel's functions: those of the same name are others.
#[test]
fn the_kernels_namesakes_are_other_functions() {
    let folded = |user: u64, kernel: u64| {
        let mut profile = SampledProfile::new(Format::Folded, Unit::Nanoseconds);
        for (origin, time) in [(Origin::Unknown, user), (Origin::Kernel, kernel)] {
            let memcpy = Function { name: "memcpy".into(), object: String::new(), origin };
            let memcpy = profile.functions.id(&memcpy);
            profile.contexts.sample(&[memcpy], Tally::of(time, time));
        }
        profile
    };
    let base = run("base", folded(100, 200), 1);
    let comparison = compared(&[base], &[run("scaled", folded(150, 200), 1)]);
    let losses: Vec<f64> = comparison
        .functions
        .iter()
        .map(|row| row.exclusive.times().loss(comparison.works).per_unit(comparison.works))
        .collect();
    assert_eq!(losses, [50.0, 0.0]);
}
