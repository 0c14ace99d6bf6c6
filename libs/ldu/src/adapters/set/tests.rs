//! Tests of a hash set with equal, colliding and changing values, and with corrupted links.

use core::sync::atomic::{AtomicU64, Ordering};

use kilocore_platform::Native;

use super::*;

fn members(values: impl Iterator<Item = u64>) -> Vec<Member<Native, u64>> {
    values.map(Member::new).collect()
}

fn set_of<T: Hash + Eq + Send + Sync>(
    buckets: usize,
    members: &[Member<Native, T>],
) -> Set<Native, T> {
    let mut set = Set::with_buckets(buckets);
    for member in members {
        // SAFETY: each member is inserted once, and outlives the set in all tests.
        unsafe { set.insert(member) };
    }
    set
}

#[test]
fn equal_members_are_several() {
    let members = members([7, 8, 7, 7].into_iter());
    let mut set = set_of(1, &members);
    assert_eq!([6, 7, 8].map(|value| set.count(&value)), [0, 3, 1]);
    for left in (0..3).rev() {
        // SAFETY: indices 3, 2 and 0 are members that hold 7 and are in.
        unsafe { set.remove(&members[[0, 2, 3][left]]) };
        assert_eq!((set.count(&7), set.len()), (left, left + 1));
        assert_eq!(set.contains(&7), left > 0);
        assert_eq!(set.validate(), Ok(()));
    }
}

#[test]
fn buckets_double_and_keep_what_is_in() {
    let members = members(0..1000);
    let set = set_of(1, &members);
    assert_eq!((set.len(), set.buckets()), (1000, 1024));
    assert_eq!(set.validate(), Ok(()));
    assert!((0..1000).all(|value| set.count(&value) == 1));
    assert!((1000..2000).all(|value| !set.contains(&value)));
}

#[test]
fn a_number_of_buckets_is_rounded_up() {
    for (asked, given) in [(0, 1), (1, 1), (3, 4), (64, 64)] {
        assert_eq!(Set::<Native, u64>::with_buckets(asked).buckets(), given);
    }
}

#[test]
#[should_panic(expected = "memory")]
fn too_many_buckets_are_refused() {
    let _ = Set::<Native, u64>::with_buckets(usize::MAX);
}

#[test]
fn validate_sees_corrupt_links() {
    let members = members([1, 1, 1].into_iter());
    let mut set = set_of(4, &members);
    let middle = Link::to(&members[1]);

    let before = set.links(middle).before;
    set.change(middle, |links| links.before = None);
    assert_eq!(set.validate(), Err(Invalid::BackLink));
    set.change(middle, |links| links.before = before);

    let hash = set.links(middle).hash;
    set.change(middle, |links| links.hash ^= 1);
    assert_eq!(set.validate(), Err(Invalid::Bucket));
    set.change(middle, |links| links.hash = hash ^ 1 << 63);
    assert_eq!(set.validate(), Err(Invalid::Hash));
    set.change(middle, |links| links.hash = hash);

    let next = set.links(middle).next;
    set.change(middle, |links| links.next = None);
    assert_eq!(set.validate(), Err(Invalid::Count { reached: 2, said: 3 }));
    set.change(middle, |links| links.next = next);
    assert_eq!(set.validate(), Ok(()));
}

/// A value that changes while it is in the set is no longer found. But its chain stays intact, and
/// it can be removed.
#[test]
fn a_changed_value_does_no_harm() {
    #[derive(Debug)]
    struct Changing(AtomicU64);
    impl Hash for Changing {
        fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
            self.0.load(Ordering::Relaxed).hash(state);
        }
    }
    impl PartialEq for Changing {
        fn eq(&self, other: &Self) -> bool {
            self.0.load(Ordering::Relaxed) == other.0.load(Ordering::Relaxed)
        }
    }
    impl Eq for Changing {}

    let members: Vec<_> =
        (0..64).map(|value| Member::new(Changing(AtomicU64::new(value)))).collect();
    let mut set = set_of(1, &members);
    members[5].value.0.store(1 << 40, Ordering::Relaxed);
    assert_eq!(set.validate(), Err(Invalid::Hash));
    // SAFETY: the member is in the set.
    unsafe { set.remove(&members[5]) };
    assert_eq!(set.validate(), Ok(()));
    assert_eq!(set.len(), 63);
}

/// A search compares the values, and not only their hashes.
#[test]
fn values_of_one_hash_are_told_apart() {
    #[derive(PartialEq, Eq)]
    struct Colliding(u64);
    impl Hash for Colliding {
        fn hash<H: core::hash::Hasher>(&self, _: &mut H) {}
    }

    let members: Vec<_> = (0..8).map(|value| Member::new(Colliding(value / 2))).collect();
    let set = set_of(1, &members);
    assert_eq!([0, 3, 4].map(|value| set.count(&Colliding(value))), [2, 2, 0]);
    assert!(!set.contains(&Colliding(4)));
    assert_eq!(set.validate(), Ok(()));
}
