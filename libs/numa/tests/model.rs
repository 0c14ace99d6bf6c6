//! Any sequence of calls does what it does to plain data, on any number of nodes.

use kilocore_numa::{Nodes, ReadGuard, ReplicatedOn};
use kilocore_platform::{Native, NodeId};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Call {
    Push(u8),
    Pop,
    Store(Vec<u8>),
    /// The change panics at the copy with this number, if there is one.
    PanicAt(usize, u8),
    /// Guards are kept from here to the next call that changes something.
    Hold,
    Read,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        any::<u8>().prop_map(Call::Push),
        Just(Call::Pop),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(Call::Store),
        (0..6_usize, any::<u8>()).prop_map(|(at, value)| Call::PanicAt(at, value)),
        Just(Call::Hold),
        Just(Call::Read),
    ];
    prop::collection::vec(call, 1..40)
}

type Data = ReplicatedOn<Native, Vec<u8>>;

/// Applies a change that panics at copy `at`, counted in the order in which they are changed. `first` is the number
/// of those that are changed before anybody sees it, and changes if the others are now hidden. Returns whether
/// the change should have taken effect.
fn panic_at(data: &Data, at: usize, value: u8, first: &mut usize) -> bool {
    let mut calls = 0;
    let change = |copy: &mut Vec<u8>| {
        copy.push(value);
        calls += 1;
        assert!(calls - 1 != at, "as planned");
    };
    let update = std::panic::AssertUnwindSafe(|| data.update(change));
    let panicked = std::panic::catch_unwind(update).is_err();
    let copies = data.copies();
    assert_eq!(panicked, at < copies);
    if !panicked {
        *first = copies / 2;
        true
    } else if at < *first {
        false
    } else {
        *first = copies - *first;
        true
    }
}

fn compare(nodes: &[u32], calls: Vec<Call>) {
    let data = Data::on(&Nodes::new(nodes.iter().copied().map(NodeId)), Vec::new());
    let mut model: Vec<u8> = Vec::new();
    let mut held: Vec<ReadGuard<'_, Native, Vec<u8>>> = Vec::new();
    let mut first = data.copies() / 2;
    for call in calls {
        if !matches!(call, Call::Hold | Call::Read) {
            held.clear();
        }
        match call.clone() {
            Call::Push(value) => {
                model.push(value);
                let length = data.update(|copy| {
                    copy.push(value);
                    copy.len()
                });
                assert_eq!(length, model.len());
            }
            Call::Pop => assert_eq!(data.update(Vec::pop), model.pop()),
            Call::Store(value) => {
                model.clone_from(&value);
                data.store(value);
            }
            Call::PanicAt(at, value) => {
                if panic_at(&data, at, value, &mut first) {
                    model.push(value);
                }
            }
            Call::Hold => held.push(data.read()),
            Call::Read => {}
        }
        if matches!(call, Call::Push(_) | Call::Pop | Call::Store(_)) {
            first = data.copies() / 2;
        }
        assert_eq!(*data.read(), model);
        held.iter().for_each(|guard| assert_eq!(**guard, model));
    }
    drop(held);
    // Each copy that an update sees is what it should be.
    data.update(|copy| assert_eq!(*copy, model));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn calls_do_what_they_do_to_plain_data(
        nodes in prop::collection::vec(0..5_u32, 1..6),
        calls in calls(),
    ) {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        let compared = std::panic::catch_unwind(|| compare(&nodes, calls));
        std::panic::set_hook(hook);
        if let Err(payload) = compared {
            std::panic::resume_unwind(payload);
        }
    }
}
