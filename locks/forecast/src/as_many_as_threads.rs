//! Locks of which there may be as many as threads.
//!
//! Some programs make a lock for each frame, worker or queue that a thread has, and all threads take all of them.
//! Others make a fixed number. A profile with one number of threads does not tell which it is where there are about as
//! many locks as threads. A forecast keeps their number. Where that is what limits the program in it, the other
//! assumption is tried as well.

use std::borrow::Cow;

use crate::candidate::{Candidate, simulate_these};
use crate::question::{Question, TODAY};
use crate::{Curve, ForecastLock, PointError, Profiled, TriedLock, Workload, curve_on};

/// How many times as many locks as threads there may be, or threads as locks, until their numbers have nothing to do
/// with each other.
const ABOUT_AS_MANY: u64 = 2;

/// The program as it is, if the number of its locks grows with that of its threads.
pub(crate) struct AsManyAsThreads {
    pub(crate) curve: Curve,
    /// The place where most used of these locks are made, and how many they are.
    pub(crate) place: String,
    pub(crate) locks: u32,
}

/// Whether that many locks made at one place, of which each is taken by several threads, may be one for each thread.
fn may_follow(lock: &ForecastLock, workload: &Workload, index: usize, threads: u64) -> bool {
    let count = u64::from(lock.instances);
    let several = count >= 2 && !workload.locks[index].per_thread;
    several && count * ABOUT_AS_MANY >= threads && count <= threads * ABOUT_AS_MANY
}

/// Simulates the program on that assumption. Returns `None` if it has no such locks.
///
/// # Errors
/// [`PointError`] if the machine does not have the cores.
pub(crate) fn simulated(
    profiled: &Profiled,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Option<AsManyAsThreads>, PointError> {
    let following: Vec<usize> = (0..profiled.locks.len())
        .filter(|&index| {
            may_follow(&profiled.locks[index], &profiled.workload, index, profiled.threads)
        })
        .collect();
    let most_used = following.iter().map(|&index| &profiled.locks[index]);
    let most_used = most_used.max_by_key(|lock| lock.acquisitions + lock.shared_acquisitions);
    let Some(most_used) = most_used else { return Ok(None) };
    let threads = u32::try_from(profiled.threads).unwrap_or(u32::MAX).max(1);
    // Another workload for each number of cores, and so a candidate.
    let workload_on = |cores: &u32| {
        let mut workload = profiled.workload.clone();
        for &index in &following {
            let lock = &mut workload.locks[index];
            *lock = lock.split(cores.div_ceil(threads)).unwrap_or(*lock);
        }
        workload
    };
    let workloads: Vec<Workload> = question.cores.iter().map(workload_on).collect();
    let under =
        |workload| Candidate::new(TriedLock::Mutex(TODAY), [0; 3].map(|_| Cow::Borrowed(workload)));
    let mut candidates: Vec<Candidate<'_>> = workloads.iter().map(under).collect();
    let wanted = question.cores.iter().enumerate().map(|(of, &cores)| (of, (cores, 0))).collect();
    let mut all: Vec<&mut Candidate<'_>> = candidates.iter_mut().collect();
    simulate_these(&mut all, wanted, question, progress)?;
    let on = |(candidate, &cores): (&Candidate<'_>, &u32)| candidate.point(cores);
    let points = candidates.iter().zip(&question.cores).filter_map(on).collect();
    Ok(Some(AsManyAsThreads {
        curve: curve_on(question.machine, TODAY.name(), points),
        place: most_used.place.clone(),
        locks: most_used.instances,
    }))
}
