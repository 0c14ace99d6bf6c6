//! Tests what safe code can do with a log. This file contains no `unsafe`. `make soak` runs it
//! under AddressSanitizer, which would notice if an object were used after it was freed.
#![forbid(unsafe_code)]

use std::sync::mpsc;
use std::thread;

use kilocore_ldu::adapters::{Member, Set};
use kilocore_ldu::{Adaptive, Always, Global, Ldu, Limits, PerCore, Policy, Queue, Slots};
use kilocore_locks::{CentralRw, NoSharing, RawRwLock, Rwsem, Ticket};
use kilocore_platform::Native;

/// The members have memory of their own. So using a freed member also uses that freed memory.
type Text = Box<str>;
type Root<Q, L, D> = Ldu<Native, Set<Native, Text>, Q, L, D>;

const WORKERS: usize = 4;
const ROUNDS: usize = 500;

fn text(worker: usize, round: usize) -> Text {
    format!("{worker}/{round}").into()
}

/// Workers insert and remove objects in all ways, and use each other's objects as far as the types
/// allow that, while other threads read and flush.
fn come_and_go<Q, L, D>(domain: Q::Domain)
where
    Q: Queue<Native>,
    L: RawRwLock<Native, Reader = ()>,
    D: Policy<Native>,
{
    let root: Root<Q, L, D> = Ldu::with(Set::default(), domain, Limits { nodes: 16, age: None });
    thread::scope(|scope| {
        let (hand_on, handed_on) = mpsc::channel();
        for worker in 0..WORKERS {
            let (root, hand_on) = (&root, hand_on.clone());
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let value = text(worker, round);
                    let inside = root.insert(root.object(Member::new(value.clone())));
                    assert!(root.read(|set| set.contains(&value)));
                    let mut outside = match round % 3 {
                        0 => root.remove(inside),
                        1 => root.remove_directly(root.insert(root.remove(inside))),
                        _ => root.remove(root.insert_directly(root.remove(inside))),
                    };
                    assert!(!root.read(|set| set.contains(&value)));
                    let settled = outside.hook().is_settled();
                    assert!(!settled || outside.get_mut().is_some(), "settled is settled");
                    match round % 4 {
                        0 => drop(outside),
                        1 => hand_on.send(outside).expect("somebody takes it"),
                        2 => match outside.into_inner() {
                            Ok(member) => assert_eq!(member.value, value),
                            Err(outside) => assert_eq!(outside.value, value),
                        },
                        _ => drop(root.remove(root.insert(outside))),
                    }
                }
            });
        }
        drop(hand_on);
        scope.spawn(|| handed_on.into_iter().for_each(drop));
        scope.spawn(|| (0..ROUNDS).filter(|_| root.flush()).for_each(|_| root.synchronize()));
    });
    assert_eq!(root.read(Set::len), 0);
    assert!(root.counts().logged >= root.counts().applied);
}

#[test]
fn objects_come_and_go() {
    come_and_go::<Global<Native>, Rwsem<Native>, Always>(());
    come_and_go::<Global<Native>, CentralRw<Native>, Adaptive<Native>>(());
    come_and_go::<Global<Native>, NoSharing<Native, Ticket<Native>>, Always>(());
    come_and_go::<PerCore<Native>, Rwsem<Native>, Always>(Slots::new(2, 4));
}

#[test]
fn objects_outlive_their_root() {
    let root: Ldu<Native, Set<Native, Text>> = Ldu::new(Set::default());
    let inside = root.insert(root.object(Member::new(text(0, 0))));
    let outside = root.remove(root.insert(root.object(Member::new(text(0, 1)))));
    drop(root);
    assert!(outside.is_settled(), "the root's end has settled it");
    assert_eq!((&*inside.value, &*outside.value), ("0/0", "0/1"));
    let other: Ldu<Native, Set<Native, Text>> = Ldu::new(Set::default());
    let Err(refused) = other.try_remove(inside) else { panic!("it is another root's") };
    assert_eq!(&*refused.0.value, "0/0");
    let moved = other.insert(outside);
    assert_eq!(other.read(Set::len), 1);
    drop(other.remove(moved));
}

#[test]
fn an_object_goes_to_another_root_when_it_is_settled() {
    let [one, other]: [Ldu<Native, Set<Native, Text>>; 2] =
        [0, 1].map(|_| Ldu::new(Set::default()));
    let outside = one.remove(one.insert(one.object(Member::new(text(0, 0)))));
    let Err(refused) = other.try_insert(outside) else { panic!("it is in a queue") };
    one.synchronize();
    let inside = other.insert(refused.0);
    assert_eq!((one.read(Set::len), other.read(Set::len)), (0, 1));
    drop(other.remove(inside));
}
