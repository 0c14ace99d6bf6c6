//! Which points become a task.

use std::time::Duration;

use crate::state::State;
use crate::work_list::Bundle;

/// The least that a task is to take: it takes a batch system a second or more to start one.
const SHORTEST: Duration = Duration::from_mins(1);

/// Takes what nobody was given, for as many tasks as there is room for among the most that the batch system has at a time.
/// Each is to take at most so long, as far as is known.
///
/// A task gets its share of what is left among all, not among those that there is room for now. So tasks become shorter
/// towards the end, and the last ones end at about the same time. There is none while there is room for less than a quarter of
/// all: what is learned until then serves those that come later.
pub(crate) fn hand_out(
    state: &mut State,
    room: usize,
    most_tasks: usize,
    most_time: Duration,
) -> Vec<Vec<Bundle>> {
    if room < most_tasks.div_ceil(4) {
        return Vec::new();
    }
    let each = u32::try_from(most_tasks.max(1)).unwrap_or(u32::MAX);
    let length = (state.time_guessed() / each).min(most_time).max(SHORTEST.min(most_time));
    let mut tasks = Vec::new();
    while tasks.len() < room {
        let (mut bundles, mut time) = (Vec::new(), Duration::ZERO);
        while time < length {
            let Some(bundle) = state.next_bundle(most_tasks) else { break };
            time = time.saturating_add(state.time_of(&bundle));
            bundles.push(bundle);
        }
        if bundles.is_empty() {
            break;
        }
        tasks.push(bundles);
    }
    tasks
}
