//! What safe code may not do panics.

use kilocore_ldu::{Detached, Scheme};
use kilocore_platform::Native;
use kilocore_rivals::conformance::{Counts, Item, Multiset};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

fn panics(act: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err()
}

fn item(counts: &Arc<Counts>) -> Item<Native> {
    Item::new(1, 1, counts)
}

fn removing_from_another_root<S: Scheme<Native>>() {
    let counts = Arc::default();
    let scheme = S::new(2);
    let mut thread = scheme.thread();
    let one = scheme.root(Multiset::default());
    let object = scheme.insert(&one, Detached::new(item(&counts)), &mut thread);
    // A root that is dropped with an object inside is not taken for a younger one.
    drop(one);
    let other = scheme.root(Multiset::default());
    assert!(panics(|| drop(scheme.remove(&other, object, &mut thread))));
}

fn inserting_elsewhere<S: Scheme<Native>>() {
    let counts = Arc::default();
    let scheme = S::new(2);
    let mut thread = scheme.thread();
    let roots = [scheme.root(Multiset::default()), scheme.root(Multiset::default())];
    let object = scheme.insert(&roots[0], Detached::new(item(&counts)), &mut thread);
    scheme.synchronize(&roots[0], &mut thread);
    let object = scheme.remove(&roots[0], object, &mut thread);
    let unsettled = !object.is_settled();
    let name = S::name();
    // An adaptive log has none yet.
    let logs = ["oplog", "ldu-global", "ldu-per-core"].contains(&name);
    assert_eq!(unsettled, logs || name.starts_with("harris"), "{name}");
    // A list links it anew; a log might apply the two in the wrong order.
    let refused = panics(|| drop(scheme.insert(&roots[1], object, &mut thread)));
    assert_eq!(refused, logs, "{name}");
}

fn a_thread_of_another_scheme<S: Scheme<Native>>() {
    let counts = Arc::default();
    let (one, other) = (S::new(2), S::new(2));
    let mut thread = other.thread();
    let root = one.root(Multiset::default());
    let name = S::name();
    let refused = panics(|| {
        let object = one.insert(&root, Detached::new(item(&counts)), &mut thread);
        drop(one.remove(&root, object, &mut thread));
    });
    // The others' threads bring nothing along that could be the wrong one.
    assert_eq!(refused, name == "flat-combining" || name.starts_with("harris"), "{name}");
}

#[test]
fn a_locked_structure_refuses_to_insert_beside_an_object_of_another_root() {
    use kilocore_rivals::Locked;
    let counts = Arc::default();
    let scheme = <Locked<Native> as Scheme<Native>>::new(2);
    let roots: [_; 2] = std::array::from_fn(|_| scheme.root(Multiset::default()));
    let near = scheme.insert(&roots[0], Detached::new(item(&counts)), &mut ());
    let object = Detached::new(item(&counts));
    assert!(panics(|| drop(scheme.insert_near(&roots[1], object, &near, &mut ()))));
    drop(scheme.remove(&roots[0], near, &mut ()));
}

mod removing_from_another_root {
    for_every_scheme! { kilocore_platform::Native, S => super::removing_from_another_root::<S>() }
}

mod inserting_elsewhere {
    for_every_scheme! { kilocore_platform::Native, S => super::inserting_elsewhere::<S>() }
}

mod a_thread_of_another_scheme {
    for_every_scheme! { kilocore_platform::Native, S => super::a_thread_of_another_scheme::<S>() }
}
