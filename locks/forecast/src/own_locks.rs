//! Adds to a forecast what else the profile says of the program's own locks: where they are
//! acquired, and whether `run` replaces them.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Caller, Family, Lock, Process, Run};

use crate::forecast_lock::{AcquiredAt, ForecastLock, READ_WRITE_LOCK};
use crate::from_profile::{self, Profiled, taker_of};
use crate::workload::KeptLock;

/// The largest number of places that are listed: those with the longest waits.
const MOST_PLACES: usize = 8;

/// The process that a forecast is about.
pub(crate) fn subject(run: &Run) -> Option<&Process> {
    from_profile::subject(run).map(|index| &run.processes[index])
}

/// Completes what a forecast says of the program's locks. Locks that `run` leaves alone stay as
/// they are in the forecast too, whichever lock is chosen.
pub(crate) fn complete(profiled: &mut Profiled, run: &Run) {
    let Some(process) = subject(run) else { return };
    for (index, lock) in profiled.locks.iter_mut().enumerate() {
        let entries: Vec<&Lock> = process.locks.iter().filter(|own| is_of(own, lock)).collect();
        lock.acquired_at = acquired_at(entries.iter().flat_map(|own| &own.callers));
        lock.left_alone = entries.first().and_then(|own| left_alone(own));
        let kept = match (lock.left_alone, lock.family) {
            (Some(_), "spin") => Some(KeptLock::Spin),
            (Some(_), "mutex") => Some(KeptLock::Futex),
            _ => None,
        };
        let [well, badly] = &mut profiled.bounds;
        for workload in [&mut profiled.workload, well, badly] {
            if let Some(usage) = workload.locks.get_mut(index).filter(|_| kept.is_some()) {
                usage.kept = kept;
            }
        }
    }
}

/// Whether an entry of the profile is one of the locks that a forecast counts as `lock`: one of the
/// same kind, created at the same place.
fn is_of(own: &Lock, lock: &ForecastLock) -> bool {
    family(own.family) == lock.family
        && own.site.len() == lock.site.len()
        && own.site.iter().zip(&lock.site).all(|(frame, shown)| frame.to_string() == *shown)
}

fn family(family: Family) -> &'static str {
    match family {
        Family::Mutex => "mutex",
        Family::ReadWrite => "read-write",
        Family::Spin => "spin",
    }
}

/// Returns the kind of a lock that `run --lock` does not replace, or `None` if it does.
fn left_alone(lock: &Lock) -> Option<&'static str> {
    const MUTEXES: [(&str, &str); 7] = [
        ("recursive", "a recursive mutex"),
        ("errorcheck", "an error-checking mutex"),
        ("robust", "a robust mutex"),
        ("priority", "a mutex with priority inheritance or a ceiling"),
        ("prio-inherit", "a mutex with priority inheritance"),
        ("prio-protect", "a mutex with a priority ceiling"),
        ("pshared", "a mutex that processes share"),
    ];
    let has = |name: &str| lock.attributes.iter().any(|own| own == name);
    match lock.family {
        Family::ReadWrite if has("pshared") => Some("a read-write lock that processes share"),
        Family::ReadWrite => Some(READ_WRITE_LOCK),
        Family::Spin => Some("a spin lock"),
        Family::Mutex => MUTEXES.iter().find(|(name, _)| has(name)).map(|(_, kind)| *kind),
    }
}

/// Returns the places at which locks are acquired, those with the longest waits first. Callers with
/// the same text count as one place, which shows the call path of the first of them.
fn acquired_at<'a>(callers: impl Iterator<Item = &'a Caller>) -> Vec<AcquiredAt> {
    let mut places: Vec<AcquiredAt> = Vec::new();
    for caller in callers {
        let name = taker_of(&caller.site);
        let known = places.iter().position(|place| place.place == name);
        let index = known.unwrap_or_else(|| {
            places.push(AcquiredAt {
                place: name,
                site: caller.site.iter().map(ToString::to_string).collect(),
                acquisitions: 0,
                contended: 0,
                waited: Nanoseconds(0.0),
            });
            places.len() - 1
        });
        let place = &mut places[index];
        place.acquisitions += caller.acquisitions;
        place.contended += caller.contended;
        place.waited += caller.waited;
    }
    places.sort_by(|a, b| b.waited.total_cmp(&a.waited).then(b.acquisitions.cmp(&a.acquisitions)));
    places.truncate(MOST_PLACES);
    places
}

#[cfg(test)]
mod tests {
    use kilocore_figures::Nanoseconds;
    use kilocore_lock_profile::{Caller, Lock};

    use super::complete;
    use crate::from_profile::synthetic::{frame, mutex, profile_of, read_write, run};
    use crate::workload::KeptLock;

    fn completed(locks: Vec<Lock>) -> crate::from_profile::Profiled {
        let profile = profile_of(vec![run(locks, 10_000)]);
        let mut profiled = crate::from_profile(&profile).unwrap();
        complete(&mut profiled, &profile.runs[0]);
        profiled
    }

    #[test]
    fn locks_that_run_leaves_alone_stay_what_they_are() {
        let spin = Lock { family: kilocore_lock_profile::Family::Spin, ..mutex(3, "spins", 5_000) };
        let of = |attribute: &str| Lock {
            attributes: vec![attribute.to_owned()],
            ..mutex(4, attribute, 6_000)
        };
        let adaptive =
            Lock { attributes: vec!["adaptive".to_owned()], ..mutex(5, "adaptive_to_load", 6_000) };
        let all = ["recursive", "errorcheck", "robust", "priority", "pshared"];
        let mut locks = vec![mutex(1, "plain", 9_000), adaptive, spin];
        locks.push(read_write(2, "shared", 100, 8_000));
        locks.extend(all.map(of));
        let profiled = completed(locks);
        assert_eq!(profiled.locks.len(), 9);
        for (index, lock) in profiled.locks.iter().enumerate() {
            let replaced = lock.place.starts_with("plain") || lock.place.starts_with("adaptive");
            assert_eq!(lock.left_alone.is_none(), replaced, "{lock:?}");
            let kept = match (replaced, lock.family) {
                (false, "mutex") => Some(KeptLock::Futex),
                (false, "spin") => Some(KeptLock::Spin),
                _ => None,
            };
            assert_eq!(profiled.workload.locks[index].kept, kept, "{lock:?}");
            assert_eq!(profiled.bounds[1].locks[index].kept, kept, "{lock:?}");
        }
    }

    #[test]
    fn places_of_acquisition_are_taken_together_and_come_by_their_waits() {
        let caller = |function: &str, waited| Caller {
            site: vec![frame("pthread_mutex_lock", 1), frame(function, 2)],
            acquisitions: 10,
            contended: 5,
            waited: Nanoseconds(waited),
        };
        let with = |id, callers| Lock { callers, ..mutex(id, "make", 1_000) };
        let profiled = completed(vec![
            with(1, vec![caller("get", 5.0), caller("put", 7.0)]),
            with(2, vec![caller("get", 4.0)]),
        ]);
        let places = &profiled.locks[0].acquired_at;
        assert_eq!(places.len(), 2, "{places:?}");
        assert!(places[0].place.starts_with("get"), "{places:?}");
        assert_eq!((places[0].waited, places[0].acquisitions), (Nanoseconds(9.0), 20));
        assert!(places[1].place.starts_with("put"), "{places:?}");
    }
}
