//! Threads that wait for ever, in words.

use kilocore_emulation_orders::StuckThread;

use crate::chain::caller;
use crate::names::Names;

/// So many threads are named.
const MOST: usize = 8;

/// Where these threads wait, to be added to a sentence: those that wait at the same place together.
pub(crate) fn said(stuck: &[StuckThread], names: &mut Names<'_>) -> String {
    let named = stuck.iter().take(MOST);
    let mut places: Vec<(String, Vec<String>)> = Vec::new();
    for StuckThread { thread, calls } in named {
        let (place, thread) = (caller(calls, names), (thread + 1).to_string());
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, threads)) => threads.push(thread),
            None => places.push((place, vec![thread])),
        }
    }
    let said = |(place, threads): &(String, Vec<String>)| match threads.as_slice() {
        [one] => format!("thread {one} in {place}"),
        _ => format!("threads {} in {place}", threads.join(", ")),
    };
    let mut said: Vec<String> = places.iter().map(said).collect();
    let others = stuck.len().saturating_sub(MOST);
    said.extend((others > 0).then(|| format!("{others} others")));
    if said.is_empty() { String::new() } else { format!(": {}", said.join("; ")) }
}

#[cfg(test)]
mod tests {
    use kilocore_emulation_orders::StuckThread;

    use super::{MOST, said};
    use crate::names::{Names, Symbols};

    #[test]
    fn those_at_the_same_place_are_named_together_and_many_are_counted() {
        let stuck = |calls: &[u64]| {
            let one = |(thread, &call): (usize, &u64)| StuckThread {
                thread: thread as u64,
                calls: vec![call],
            };
            let all: Vec<_> = calls.iter().enumerate().map(one).collect();
            said(&all, &mut Names::new(&[], &mut Symbols::default()))
        };
        assert_eq!(stuck(&[]), "");
        assert_eq!(stuck(&[1]), ": thread 1 in code at 0x1");
        assert_eq!(stuck(&[1, 2, 1]), ": threads 1, 3 in code at 0x1; thread 2 in code at 0x2");
        assert!(stuck(&[1; MOST + 3]).ends_with("; 3 others"));
    }
}
