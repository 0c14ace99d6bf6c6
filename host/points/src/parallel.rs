//! Independent computations at once, on all cores that this process may use.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `run` for each index below the number of `costs`, the costliest first and of equals the last, on at most so
/// many threads. Returns the results in order. Calls `on_done` after each of them, from any thread.
///
/// # Panics
/// If `run` panics.
pub(crate) fn in_parallel<T: Send>(
    costs: &[f64],
    most_threads: NonZero<usize>,
    run: &(dyn Fn(usize) -> T + Sync),
    on_done: &(dyn Fn() + Sync),
) -> Vec<T> {
    let mut order: Vec<usize> = (0..costs.len()).rev().collect();
    order.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]));
    let workers = most_threads.get().min(order.len());
    let taken = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = costs.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(&index) = order.get(taken.fetch_add(1, Ordering::Relaxed)) {
            let result = run(index);
            *results[index].lock().expect("no worker panics while it stores a result") =
                Some(result);
            on_done();
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

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::in_parallel;

    const TWO: NonZero<usize> = NonZero::new(2).unwrap();

    #[test]
    fn results_are_in_order_and_each_is_told_of() {
        let done = AtomicUsize::new(0);
        let on_done = || {
            done.fetch_add(1, Ordering::Relaxed);
        };
        let results = in_parallel(&[1.0, f64::NAN, 3.0, -1.0], TWO, &|index| index * 10, &on_done);
        assert_eq!(results, [0, 10, 20, 30]);
        assert_eq!(done.into_inner(), 4);
        assert!(in_parallel(&[], TWO, &|index| index, &|| ()).is_empty());
    }

    #[test]
    fn the_costliest_are_begun_first_and_of_equals_the_last() {
        // Only what the first worker takes is certain: the costliest of all.
        let begun = Mutex::new(Vec::new());
        in_parallel(&[2.0, 5.0, 1.0, 5.0], TWO, &|index| begun.lock().unwrap().push(index), &|| ());
        let begun = begun.into_inner().unwrap();
        assert_eq!(begun.len(), 4);
        assert!(begun[..2].contains(&3) || begun[..2].contains(&1), "{begun:?}");
    }
}
