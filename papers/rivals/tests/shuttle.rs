//! Each rival under shuttle, whose threads change their cores as they go.
//!
//! The epochs of crossbeam are not scheduled by shuttle; the lists that they protect are.

use crate::common;

use std::sync::Arc;

use common::{LoggedTightly, on_shuttle, place_on_shuttle, small};
use kilocore_checking::explore_part;
use kilocore_ldu::{Detached, Scheme};
use kilocore_platform::Shuttle;
use kilocore_rivals::conformance::{Counts, Item, Job, Multiset, alone, together};

/// Schedules of each kind.
const SCHEDULES: usize = 4_000;

for_every_scheme! { Shuttle, S => {
    explore_part(|| together::<Shuttle, S>(small(2, 10, 1), on_shuttle), SCHEDULES, 3);
    explore_part(|| together::<Shuttle, S>(small(3, 8, 2), on_shuttle), SCHEDULES, 4);
} }

mod on_changing_cores {
    use super::*;

    for_every_scheme! { Shuttle, S => {
        explore_part(|| { alone::<Shuttle, S>(2_000, 1, place_on_shuttle); }, 1, 1);
        explore_part(|| { alone::<Shuttle, S>(2_000, 2, place_on_shuttle); }, 1, 1);
    } }
}

/// A root's log is merged, one entry is added meanwhile and set aside for another root, and whoever
/// merges has that in hand: whoever added it searches.
#[test]
fn an_entry_in_hand_is_not_missed() {
    type S = LoggedTightly<Shuttle>;
    explore_part(
        || {
            let counts: Arc<Counts> = Arc::default();
            let scheme = Arc::new(S::new(2));
            let root = Arc::new(scheme.root(Multiset::<Shuttle>::default()));
            let merge: Job = {
                let (scheme, root) = (Arc::clone(&scheme), Arc::clone(&root));
                Box::new(move || scheme.synchronize(&root, &mut ()))
            };
            let add: Job = {
                let (scheme, root, counts) =
                    (Arc::clone(&scheme), Arc::clone(&root), Arc::clone(&counts));
                Box::new(move || {
                    let insert = |root, id| {
                        scheme.insert(root, Detached::new(Item::new(id, 1, &counts)), &mut ())
                    };
                    let other_root = scheme.root(Multiset::<Shuttle>::default());
                    let (object, other) = (insert(&root, 1), insert(&other_root, 2));
                    let mut found = 0;
                    scheme.search(&root, &(1..=1), &mut |_| found += 1, &mut ());
                    assert_eq!(found, 1);
                    drop(scheme.remove(&root, object, &mut ()));
                    drop(scheme.remove(&other_root, other, &mut ()));
                })
            };
            on_shuttle(vec![merge, add]);
            drop(root);
            counts.expect_all_dropped();
        },
        10_000,
        4,
    );
}
