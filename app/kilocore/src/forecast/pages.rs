//! Forecasts from a trace of pages: how long each policy of a page pool would take on a machine.

use std::path::Path;

use super::usual_machine;
use crate::failure::Failure;
use crate::page_pool::PagePool;
use crate::simulate;

/// Simulates what the trace asks for, under each policy.
pub(super) fn forecast(
    trace: &Path,
    machine: Option<&str>,
    pool: &PagePool,
    json: bool,
) -> Result<(), Failure> {
    // The machine itself, if it is not named, is found here for its name.
    let usual;
    let machine = match machine {
        Some(name) => name,
        None => {
            usual = usual_machine::or_usual(None)?;
            &usual.name
        }
    };
    let &PagePool { other_pages, used_before_release, .. } = pool;
    let program = simulate::pages::Program { other_pages, used_before_release };
    simulate::pages::replayed_on(trace, machine, &pool.policies(), program, json).map(drop)
}
