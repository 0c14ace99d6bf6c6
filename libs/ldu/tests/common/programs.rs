//! The programs. Each one passes with a sound log and makes one kind of error visible. They are
//! small enough for loom. Larger ones are in `larger.rs`.

use std::sync::{Arc, Mutex};

use kilocore_checking::{Threads, quarantine};
use kilocore_ldu::Limits;
use kilocore_platform::Platform;

use super::TORN;
pub use super::site::{Site, Step, Token, follow};
use super::subject::Subject;

/// What another thread runs.
pub type Run = Box<dyn FnOnce() + Send>;

/// Runs `others` beside `own`, each on a thread of its own, and waits for all of them.
pub fn beside<P: Threads>(others: Vec<Run>, own: impl FnOnce()) {
    let threads: Vec<_> = others.into_iter().map(|run| P::spawn(run)).collect();
    own();
    threads.into_iter().for_each(P::join);
}

/// Tells the platform on which core the calling thread runs, given the thread's number.
pub type SetCore = fn(u32);

use Step::{Insert, Remove};

/// Runs each list of steps on a thread of its own, with an object of its own, while this thread
/// reads.
pub fn updates_and_reads<P: Threads, S: Subject<P>>(
    domain: S::Domain,
    lists: &'static [&'static [Step]],
    reads: u32,
    place: SetCore,
    recorded: bool,
) {
    quarantine::begin();
    let site = Site::<P, S>::new(domain, Limits::default(), recorded);
    let others = lists.iter().enumerate().map(|(id, steps)| {
        let site = Arc::clone(&site);
        Box::new(move || {
            place(id as u32 + 1);
            follow(&site, id, steps);
        }) as Run
    });
    beside::<P>(others.collect(), || {
        place(0);
        for _ in 0..reads {
            site.read();
        }
    });
    site.finish();
    quarantine::end();
}

/// One thread updates an object that another thread has inserted, and hands it back.
pub fn passed_on<P: Threads, S: Subject<P>>(domain: S::Domain, place: SetCore, recorded: bool) {
    quarantine::begin();
    let site = Site::<P, S>::new(domain, Limits::default(), recorded);
    place(0);
    let object = site.insert(site.object(0));
    let back = Arc::new(Mutex::new(None));
    let other = {
        let (site, back) = (Arc::clone(&site), Arc::clone(&back));
        move || {
            place(1);
            let object = site.remove(object);
            *back.lock().unwrap() = Some(site.insert(object));
        }
    };
    beside::<P>(vec![Box::new(other)], || {
        site.read();
    });
    let object = back.lock().unwrap().take().expect("the other thread has ended");
    drop(site.remove(object));
    site.finish();
    quarantine::end();
}

/// Two threads keep so much in the log that each update applies it, while this thread reads. Their
/// history would be too long to be searched.
pub fn crowded<P: Threads, S: Subject<P>>(domain: S::Domain, place: SetCore) {
    quarantine::begin();
    let limits = Limits { nodes: 0, age: None };
    let site = Site::<P, S>::new(domain, limits, false);
    let other = |index: u32| {
        let site = Arc::clone(&site);
        Box::new(move || {
            place(index);
            for id in 0..10 {
                let id = 10 * index as usize + id;
                follow(&site, id, &[Insert, Remove]);
            }
        }) as Run
    };
    beside::<P>(vec![other(1), other(2)], || {
        place(0);
        site.read();
    });
    site.finish();
    quarantine::end();
}

/// Two roots share slots. Each is updated by a thread of its own, while this thread reads both and
/// then ends one of them.
pub fn two_roots<P: Threads, S: Subject<P>>(domain: S::Domain, place: SetCore, recorded: bool) {
    quarantine::begin();
    let first = Site::<P, S>::new(domain.clone(), Limits::default(), recorded);
    let second = Site::<P, S>::new(domain, Limits::default(), recorded);
    let update = |site: &Arc<Site<P, S>>, index: u32| {
        let site = Arc::clone(site);
        Box::new(move || {
            place(index);
            follow(&site, 0, &[Insert, Remove]);
        }) as Run
    };
    beside::<P>(vec![update(&second, 1)], || {
        place(0);
        let object = first.insert(first.object(0));
        drop(first.remove(object));
        // The other thread may be moving the nodes that this thread has logged.
        first.finish();
        second.read();
    });
    second.finish();
    quarantine::end();
}

/// One object is in the log behind another one. The other one's node is a garbage log, which its
/// owner uses again while this thread reads.
pub fn behind_a_garbage_log<P: Threads, S: Subject<P>>(domain: S::Domain) {
    quarantine::begin();
    let site = Site::<P, S>::new(domain, Limits::default(), false);
    let other = {
        let site = Arc::clone(&site);
        move || {
            let behind = site.insert(site.object(0));
            let before = site.insert(site.object(1));
            let before = site.insert(site.remove(before));
            site.look(0, true);
            drop(site.remove(before));
            drop(site.remove(behind));
        }
    };
    beside::<P>(vec![Box::new(other)], || {
        site.read();
    });
    site.finish();
    quarantine::end();
}

/// A thread inserts two objects and removes them in the opposite order, while this thread reads. So
/// the second object is never in without the first. Both are in the log as garbage, the first
/// before the second.
pub fn one_within_the_other<P: Threads, S: Subject<P>>(domain: S::Domain, place: SetCore) {
    quarantine::begin();
    let site = Site::<P, S>::new(domain, Limits::default(), false);
    let [second, first] = [1, 0].map(|id| site.insert(site.object(id)));
    let [second, first] = [second, first].map(|object| site.remove(object));
    let other = {
        let site = Arc::clone(&site);
        move || {
            place(1);
            let first = site.insert(first);
            let second = site.insert(second);
            drop(site.remove(second));
            drop(site.remove(first));
        }
    };
    beside::<P>(vec![Box::new(other)], || {
        place(0);
        assert_ne!(site.read(), 1 << 1, "{TORN}");
    });
    site.finish();
    quarantine::end();
}

/// A thread inserts a new object and then one that is in the log as garbage, while this thread
/// reads. So the second object is never in without the first. A synchronization that comes too
/// early for the push of the first must not apply the second, although it finds the second in what
/// it has taken.
pub fn a_push_before_a_garbage_log<P: Threads, S: Subject<P>>(domain: S::Domain, place: SetCore) {
    quarantine::begin();
    place(0);
    let site = Site::<P, S>::new(domain, Limits::default(), false);
    let second = site.remove(site.insert(site.object(1)));
    let other = {
        let site = Arc::clone(&site);
        move || {
            place(1);
            let first = site.insert(site.object(0));
            let second = site.insert(second);
            drop(site.remove(second));
            drop(site.remove(first));
        }
    };
    beside::<P>(vec![Box::new(other)], || {
        assert_ne!(site.read(), 1 << 1, "{TORN}");
    });
    site.finish();
    quarantine::end();
}

/// An object in a place where its owner can leave it until all threads have ended.
struct Kept<P: Platform, S: Subject<P>>(Arc<Site<P, S>>, Arc<Mutex<Option<Token<P, S>>>>);

impl<P: Platform, S: Subject<P>> Kept<P, S> {
    fn new(site: &Arc<Site<P, S>>, id: usize) -> Self {
        let object = Some(Token::new(site, id));
        Self(Arc::clone(site), Arc::new(Mutex::new(object)))
    }

    /// Does a thread's steps with the object.
    fn run(&self, steps: &'static [Step]) -> impl FnOnce() + use<P, S> {
        let (site, place) = (Arc::clone(&self.0), Arc::clone(&self.1));
        move || {
            let object = place.lock().unwrap().take().expect("it was laid there");
            let object = object.follow(&site, steps);
            *place.lock().unwrap() = Some(object);
        }
    }

    fn give_up(self) {
        let object = self.1.lock().unwrap().take().expect("its thread has ended");
        object.give_up(&self.0);
    }
}

/// A thread follows the steps with an object that is not given up until the end, while this thread
/// reads.
pub fn kept<P: Threads, S: Subject<P>>(domain: S::Domain, steps: &'static [Step]) {
    quarantine::begin();
    let site = Site::<P, S>::new(domain, Limits::default(), false);
    let object = Kept::new(&site, 0);
    beside::<P>(vec![Box::new(object.run(steps))], || {
        site.read();
    });
    object.give_up();
    site.finish();
    quarantine::end();
}

/// Two roots share slots. For each root, a thread follows steps with an object of its own, which is
/// not given up until the end.
pub fn kept_in_two<P: Threads, S: Subject<P>>(
    domain: S::Domain,
    steps: [&'static [Step]; 2],
    place: SetCore,
) {
    quarantine::begin();
    let new = |_| Site::<P, S>::new(domain.clone(), Limits::default(), false);
    let sites = [0, 1].map(new);
    let objects = [0, 1].map(|index| Kept::new(&sites[index], index));
    let [own, other] = [0, 1].map(|index| {
        let run = objects[index].run(steps[index]);
        move || {
            place(index as u32);
            run();
        }
    });
    beside::<P>(vec![Box::new(other)], own);
    objects.into_iter().for_each(Kept::give_up);
    sites.into_iter().for_each(Site::finish);
    quarantine::end();
}

/// An object moves from one root to another, while its first root is read.
pub fn moved<P: Threads, S: Subject<P>>(domain: S::Domain) {
    quarantine::begin();
    let first = Site::<P, S>::new(domain.clone(), Limits::default(), false);
    let second = Site::<P, S>::new(domain, Limits::default(), false);
    let other = {
        let (first, second) = (Arc::clone(&first), Arc::clone(&second));
        move || {
            let object = first.insert(second.object(0));
            // A pair of updates that cancel each other leaves a garbage log.
            let object = first.remove(object);
            let object = second.insert_from(&first, object);
            second.look(0, true);
            drop(second.remove(object));
        }
    };
    beside::<P>(vec![Box::new(other)], || {
        first.read();
    });
    first.finish();
    second.finish();
    quarantine::end();
}

/// A root ends after its only object has moved to another root. The other root shares its slots,
/// and another thread updates it.
pub fn outlived<P: Threads, S: Subject<P>>(domain: S::Domain) {
    quarantine::begin();
    let second = Site::<P, S>::new(domain.clone(), Limits::default(), false);
    let other = {
        let second = Arc::clone(&second);
        move || follow(&second, 1, &[Insert])
    };
    beside::<P>(vec![Box::new(other)], || {
        let first = Site::<P, S>::new(domain, Limits::default(), false);
        let object = first.insert(second.object(0));
        let object = first.remove(object);
        assert_eq!(first.end(), (0, 0), "a root has freed what it has not made");
        follow(&second, 2, &[Insert]);
        let object = second.insert(object);
        second.look(0, true);
        drop(second.remove(object));
    });
    second.finish();
    quarantine::end();
}
