//! Independent simulations at once, on all cores of the host.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `run` for each index below `count`, on all cores of the host, the last index first. Returns
/// the results in order. Calls `progress` after each of them, from any thread.
///
/// # Panics
/// If `run` panics.
pub fn in_parallel<T: Send>(
    count: usize,
    run: &(dyn Fn(usize) -> T + Sync),
    progress: &(dyn Fn() + Sync),
) -> Vec<T> {
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(count);
    let left = AtomicUsize::new(count);
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let work = || {
        let take = |left: usize| left.checked_sub(1);
        while let Ok(before) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            let result = run(before - 1);
            *results[before - 1].lock().expect("no worker panics while it stores a result") =
                Some(result);
            progress();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    results
        .into_iter()
        .map(|slot| {
            let stored = slot.into_inner().expect("no worker panics while it stores a result");
            stored.expect("every job was taken")
        })
        .collect()
}
