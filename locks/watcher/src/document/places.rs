//! Places in the program, by the stacks of those who waited or wrote there.

use std::collections::BTreeSet;

use crate::word_names::{Names, own_frame, waiter};
use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Caller, Frame};

use crate::ledger::{Scene, Waits};

/// How many callers of a place are kept, and how many places of a lock.
const DEPTH: usize = 8;
const PLACES: usize = 12;

/// The part of a stack that belongs to the program: from the caller of the library on.
pub(super) fn own_part(frames: &[Frame]) -> Vec<Frame> {
    let own = waiter(frames).map_or_else(|| own_frame(frames), |waiter| waiter.own);
    let own = if own >= frames.len() { 0 } else { own };
    frames[own..].iter().take(DEPTH).cloned().collect()
}

/// The frames of a scene, the innermost first.
pub(crate) fn frames(names: &mut Names, scene: &Scene) -> Vec<Frame> {
    let registers = (scene.registers.ip(), scene.registers.sp(), scene.registers.bp());
    match scene.at_entry {
        true => names.stack_at_entry(registers, &scene.stack),
        false => names.stack(registers, &scene.stack),
    }
}

/// The stacks of scenes, with the time that was waited at each.
pub(super) fn stacks(names: &mut Names, scenes: &[Scene]) -> Vec<(Nanoseconds<f64>, Vec<Frame>)> {
    scenes.iter().map(|scene| (scene.waited, frames(names, scene))).collect()
}

/// A place, with the time that was waited there and the number of stacks.
struct WaitSite {
    waited: Nanoseconds<f64>,
    count: f64,
    site: Vec<Frame>,
}

/// The places that stacks lead to, in the order in which they come.
fn places<'a>(stacks: impl Iterator<Item = &'a (Nanoseconds<f64>, Vec<Frame>)>) -> Vec<WaitSite> {
    let mut places: Vec<WaitSite> = Vec::new();
    for (waited, frames) in stacks {
        let site = own_part(frames);
        match places.iter_mut().find(|place| place.site == site) {
            Some(place) => {
                place.waited += *waited;
                place.count += 1.0;
            }
            None => places.push(WaitSite { waited: *waited, count: 1.0, site }),
        }
    }
    places
}

/// Where a lock is taken, by the stacks of those who waited: so many waits in all, of `waited`
/// together.
pub(super) fn callers(
    waiting: &[(Nanoseconds<f64>, Vec<Frame>)],
    waits: f64,
    waited: Nanoseconds<f64>,
) -> Vec<Caller> {
    let mut places = places(waiting.iter());
    let time = places.iter().map(|place| place.waited).sum::<Nanoseconds<f64>>();
    let time = time.max(Nanoseconds(1.0));
    let all = places.iter().map(|place| place.count).sum::<f64>().max(1.0);
    places.sort_by(|a, b| b.waited.total_cmp(&a.waited));
    let of = |place: WaitSite| Caller {
        site: place.site,
        acquisitions: (waits * place.count / all).round() as u64,
        contended: (waits * place.count / all).round() as u64,
        waited: waited * place.waited.0 / time.0,
    };
    places.into_iter().take(PLACES).map(of).collect()
}

/// Where the lock is given back, by the stacks of those who wrote to its word. `releases` are the
/// places in the code that do.
pub(super) fn release_places(
    releases: &BTreeSet<u64>,
    waits: &Waits,
    names: &mut Names,
) -> Vec<Caller> {
    let writers: Vec<Scene> = waits
        .writers
        .iter()
        .filter(|scene| releases.contains(&scene.registers.ip()))
        .cloned()
        .collect();
    let mut places = places(stacks(names, &writers).iter());
    places.sort_by(|a, b| b.count.total_cmp(&a.count));
    let of = |place: WaitSite| Caller {
        site: place.site,
        acquisitions: place.count as u64,
        contended: 0,
        waited: Nanoseconds(0.0),
    };
    places.into_iter().take(PLACES).map(of).collect()
}
