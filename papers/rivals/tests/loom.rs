//! The lists under loom, which knows of orderings that are too weak.
//!
//! The epochs of crossbeam are no part of what is explored. Flat combining and the logs rely on
//! sequentially consistent loads, which loom takes for weaker ones; shuttle explores those.

use std::sync::Arc;

use kilocore_checking::is_thorough;
use kilocore_ldu::{Attached, Detached, Scheme};
use kilocore_platform::Loom;
use kilocore_rivals::conformance::{Counts, Item, Multiset};
use kilocore_rivals::{Harris, Ordered, Unordered};

type Token<S> = Attached<<S as Scheme<Loom>>::Hook, Item<Loom>>;

/// What the threads of a program share.
struct Shared<S: Scheme<Loom>> {
    root: S::Root<Multiset<Loom>>,
    scheme: S,
    counts: Arc<Counts>,
}

impl<S: Scheme<Loom>> Shared<S> {
    fn insert(&self, id: usize, thread: &mut S::Thread) -> Token<S> {
        let object = Detached::new(Item::new(id, 4 * id as u64, &self.counts));
        self.scheme.insert(&self.root, object, thread)
    }

    fn remove(&self, object: Token<S>, thread: &mut S::Thread) {
        let object = self.scheme.remove(&self.root, object, thread);
        self.scheme.release(object, thread);
    }

    fn ids(&self, thread: &mut S::Thread) -> Vec<usize> {
        let mut ids = Vec::new();
        let mut show = |item: &Item<Loom>| ids.push(item.id);
        self.scheme.search(&self.root, &(0..=99), &mut show, thread);
        ids
    }
}

/// Runs `two` in a thread and `one` in another, each with one of two neighbours in a list; if
/// `watched`, while a third one looks.
fn explore<S: Scheme<Loom>>(
    watched: bool,
    one: fn(&Shared<S>, Token<S>, &mut S::Thread),
    two: fn(&Shared<S>, Token<S>, &mut S::Thread),
) {
    let mut model = loom::model::Builder::new();
    // Three threads with two preemptions take half a minute.
    let of_three = if is_thorough() { 2 } else { 1 };
    model.preemption_bound = Some(if watched { of_three } else { 3 });
    model.check(move || {
        let scheme = S::new(2);
        let root = scheme.root(Multiset::default());
        let shared = Arc::new(Shared { root, scheme, counts: Arc::default() });
        let mut thread = shared.scheme.thread();
        let (first, second) = (shared.insert(1, &mut thread), shared.insert(2, &mut thread));
        let other = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || {
                let mut thread = shared.scheme.thread();
                two(&shared, second, &mut thread);
            })
        };
        let watcher = watched.then(|| {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || drop(shared.ids(&mut shared.scheme.thread())))
        });
        one(&shared, first, &mut thread);
        other.join().unwrap();
        watcher.into_iter().for_each(|watcher| watcher.join().unwrap());
        assert!(shared.ids(&mut thread).is_empty());
        drop(thread);
        let Shared { root, scheme, counts } = Arc::into_inner(shared).unwrap();
        drop(root);
        drop(scheme);
        counts.expect_all_dropped();
    });
}

fn remove<S: Scheme<Loom>>(shared: &Shared<S>, object: Token<S>, thread: &mut S::Thread) {
    shared.remove(object, thread);
}

fn look_and_remove<S: Scheme<Loom>>(shared: &Shared<S>, object: Token<S>, thread: &mut S::Thread) {
    assert!(shared.ids(thread).contains(&object.id));
    shared.remove(object, thread);
}

fn insert_another<S: Scheme<Loom>>(shared: &Shared<S>, object: Token<S>, thread: &mut S::Thread) {
    let another = shared.insert(3, thread);
    assert!(shared.ids(thread).contains(&3));
    shared.remove(another, thread);
    shared.remove(object, thread);
}

fn insert_again<S: Scheme<Loom>>(shared: &Shared<S>, object: Token<S>, thread: &mut S::Thread) {
    let object = shared.scheme.remove(&shared.root, object, thread);
    let object = shared.scheme.insert(&shared.root, object, thread);
    shared.remove(object, thread);
}

macro_rules! explored {
    ($name:ident, $watched:expr, $one:ident, $two:ident) => {
        #[test]
        fn $name() {
            explore::<Harris<Loom, Ordered>>($watched, $one, $two);
            explore::<Harris<Loom, Unordered>>($watched, $one, $two);
        }
    };
}

explored!(two_neighbours_are_removed, false, remove, remove);
explored!(somebody_looks, false, look_and_remove, remove);
explored!(somebody_inserts, false, remove, insert_another);
explored!(somebody_looks_at_what_is_inserted_again, false, look_and_remove, insert_again);
explored!(a_third_one_looks_at_what_is_inserted, true, insert_another, remove);
explored!(a_third_one_looks_at_what_is_inserted_again, true, insert_again, remove);
