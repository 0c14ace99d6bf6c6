//! A random search that a seed determines, so that what it finds is found again.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} is {value}, which is no number")))
}

/// Tries so many cases from a seed that `KILOCORE_SEARCH_SEED` replaces. Returns a case that fails, as text, after
/// so many attempts to make it smaller.
fn find<C: Debug>(
    cases: u32,
    smaller: u32,
    strategy: &impl Strategy<Value = C>,
    check: impl Fn(&C) -> Result<(), String>,
) -> Option<String> {
    let seed = number("KILOCORE_SEARCH_SEED").unwrap_or(0x5eed);
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: smaller, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let found = TestRunner::new_with_rng(config, random).run(strategy, |case| {
        // What panics fails, too, and is then made smaller as any other.
        let result = catch_unwind(AssertUnwindSafe(|| check(&case)));
        let result = result.unwrap_or_else(|_| Err("it panicked".into()));
        result.map_err(TestCaseError::fail)
    });
    match found {
        Ok(()) => None,
        Err(TestError::Fail(why, case)) => {
            Some(format!("{why}\nseed {seed}, of at most {cases} cases, made smaller: {case:#?}"))
        }
        Err(TestError::Abort(why)) => panic!("the search gave up: {why}"),
    }
}

/// Tries so many cases, or `KILOCORE_SEARCH_CASES`. Panics with the smallest that fails.
pub(crate) fn find_nothing<C: Debug>(
    cases: u32,
    strategy: &impl Strategy<Value = C>,
    check: impl Fn(&C) -> Result<(), String>,
) {
    let cases = number("KILOCORE_SEARCH_CASES").map_or(cases, |cases| cases as u32);
    if let Some(found) = find(cases, 20_000, strategy, check) {
        panic!("{found}");
    }
}

/// Panics if none of so many cases fails: an error was planted, so the search has to find it.
pub(crate) fn find_something<C: Debug>(
    cases: u32,
    strategy: &impl Strategy<Value = C>,
    check: impl Fn(&C) -> Result<(), String>,
) {
    assert!(find(cases, 0, strategy, check).is_some(), "none of {cases} cases found it");
}
