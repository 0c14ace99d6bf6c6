//! One thread, whose searches are compared with a model.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use kilocore_ldu::{Attached, Detached, Scheme};
use kilocore_platform::Platform;

use super::Random;
use super::items::{Counts, Item, Multiset};

/// How many objects there are at a time.
const OBJECTS: usize = 16;
/// The number of cores between which the thread is moved.
const CORES: usize = 4;
/// The number of different keys.
const KEYS: usize = 64;

/// How often rare things happened, so that a test can check that they happened at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Insertions into a root other than the one that the object was in before.
    pub moves: usize,
    /// Items whose key was changed.
    pub changes: usize,
    /// Items that searches found.
    pub found: usize,
}

/// An object, and the root that it is in or, if it is in none, was in last.
enum Place<P: Platform, S: Scheme<P>> {
    In(usize, Attached<S::Hook, Item<P>>),
    Out(Option<usize>, Detached<S::Hook, Item<P>>),
}

struct Alone<P: Platform, S: Scheme<P>> {
    random: Random,
    thread: S::Thread,
    places: Vec<Option<Place<P, S>>>,
    roots: [S::Root<Multiset<P>>; 2],
    scheme: S,
    counts: Arc<Counts>,
    next_id: usize,
    place: fn(usize),
    tally: Tally,
}

/// Performs `operations` random operations on two roots, and checks each search. Before each
/// operation, `place` moves the thread to a core, on platforms where that is possible.
///
/// # Panics
/// If the scheme is wrong.
pub fn alone<P: Platform, S: Scheme<P>>(operations: usize, seed: u64, place: fn(usize)) -> Tally {
    let scheme = S::new(CORES as u32);
    let mut alone = Alone::<P, S> {
        random: Random::new(seed),
        thread: scheme.thread(),
        places: (0..OBJECTS).map(|_| None).collect(),
        roots: [scheme.root(Multiset::default()), scheme.root(Multiset::default())],
        scheme,
        counts: Arc::default(),
        next_id: 0,
        place,
        tally: Tally::default(),
    };
    for _ in 0..operations {
        alone.step();
    }
    alone.finish()
}

impl<P: Platform, S: Scheme<P>> Alone<P, S> {
    fn step(&mut self) {
        (self.place)(self.random.below(CORES));
        match self.random.below(64) {
            0..4 => self.search(),
            4 => {
                let root = self.random.below(2);
                self.scheme.synchronize(&self.roots[root], &mut self.thread);
            }
            5 => self.empty(),
            _ => self.update(),
        }
    }

    fn update(&mut self) {
        let which = self.random.below(OBJECTS);
        let place = match self.places[which].take() {
            None => self.make(),
            Some(Place::In(root, object)) => {
                let object = self.scheme.remove(&self.roots[root], object, &mut self.thread);
                Some(Place::Out(Some(root), object))
            }
            Some(Place::Out(last, object)) => self.use_detached(last, object),
        };
        self.places[which] = place;
    }

    fn make(&mut self) -> Option<Place<P, S>> {
        self.next_id += 1;
        let key = self.random.below(KEYS) as u64;
        Some(Place::Out(None, Detached::new(Item::new(self.next_id, key, &self.counts))))
    }

    fn use_detached(
        &mut self,
        last: Option<usize>,
        mut object: Detached<S::Hook, Item<P>>,
    ) -> Option<Place<P, S>> {
        match self.random.below(16) {
            0 => {
                self.scheme.release(object, &mut self.thread);
                return None;
            }
            1 => {
                drop(object);
                return None;
            }
            2 => match object.into_inner() {
                Ok(item) => {
                    drop(item);
                    return None;
                }
                Err(same) => object = same,
            },
            3..8 => {
                if let Some(item) = object.get_mut() {
                    item.set_key(self.random.below(KEYS) as u64);
                    self.tally.changes += 1;
                }
            }
            _ => (),
        }
        let root = match last {
            Some(last) if !object.is_settled() => last,
            _ => self.random.below(2),
        };
        self.tally.moves += usize::from(last.is_some_and(|last| last != root));
        Some(Place::In(root, self.insert(root, object)))
    }

    /// Inserts an object, in one of the three ways that a scheme has.
    fn insert(
        &mut self,
        root: usize,
        object: Detached<S::Hook, Item<P>>,
    ) -> Attached<S::Hook, Item<P>> {
        let (way, at, thread) = (self.random.below(4), &self.roots[root], &mut self.thread);
        let near = self.places.iter().flatten().find_map(|place| match place {
            Place::In(of, near) if *of == root => Some(near),
            _ => None,
        });
        match (way, near) {
            (0, Some(near)) => self.scheme.insert_near(at, object, near, thread),
            (1, _) => {
                let mut objects = self.scheme.insert_all(at, Vec::from([object]), thread);
                objects.pop().expect("as many come back as went in")
            }
            _ => self.scheme.insert(at, object, thread),
        }
    }

    /// Removes all objects from a root at once. Then inserts them again at once, or leaves them
    /// out.
    fn empty(&mut self) {
        let root = self.random.below(2);
        let (mut numbers, mut objects) = (Vec::new(), Vec::new());
        for (number, place) in self.places.iter_mut().enumerate() {
            if let Some(Place::In(of, object)) =
                place.take_if(|p| matches!(p, Place::In(of, _) if *of == root))
            {
                debug_assert_eq!(of, root);
                numbers.push(number);
                objects.push(object);
            }
        }
        let (at, thread) = (&self.roots[root], &mut self.thread);
        let objects = self.scheme.remove_all(at, objects, thread);
        assert_eq!(objects.len(), numbers.len(), "as many come back as went in");
        let places: Vec<Place<P, S>> = if self.random.below(2) == 0 {
            objects.into_iter().map(|object| Place::Out(Some(root), object)).collect()
        } else {
            let objects = self.scheme.insert_all(at, objects, thread);
            objects.into_iter().map(|object| Place::In(root, object)).collect()
        };
        for (number, place) in numbers.into_iter().zip(places) {
            self.places[number] = Some(place);
        }
    }

    fn search(&mut self) {
        let root = self.random.below(2);
        let start = self.random.below(KEYS) as u64;
        let query = start..=start + self.random.below(KEYS) as u64;
        let expected: BTreeSet<usize> = (self.places.iter().flatten())
            .filter_map(|place| match place {
                Place::In(at, object) if *at == root => Some(&**object),
                _ => None,
            })
            .filter(|item| query.contains(&item.key()))
            .map(|item| item.id)
            .collect();
        let mut found = BTreeSet::new();
        let mut show = |item: &Item<P>| assert!(found.insert(item.id), "found twice");
        self.scheme.search(&self.roots[root], &query, &mut show, &mut self.thread);
        assert_eq!(found, expected, "a search of {query:?}");
        self.tally.found += found.len();
    }

    fn finish(mut self) -> Tally {
        for place in core::mem::take(&mut self.places).into_iter().flatten() {
            let object = match place {
                Place::In(root, object) => {
                    self.scheme.remove(&self.roots[root], object, &mut self.thread)
                }
                Place::Out(_, object) => object,
            };
            self.scheme.release(object, &mut self.thread);
        }
        let Self { thread, roots, scheme, counts, tally, .. } = self;
        drop(roots);
        drop(thread);
        drop(scheme);
        counts.expect_all_dropped();
        tally
    }
}
