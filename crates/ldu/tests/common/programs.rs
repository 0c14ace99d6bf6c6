//! The programs: each is right with a sound log and makes one kind of error visible. They are small
//! enough for loom; larger ones are in `larger.rs`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use kilocore_checking::{Threads, quarantine};
use kilocore_ldu::Limits;
use kilocore_platform::Platform;

use super::history::{History, Operation};
use super::subject::Subject;
use super::{MISSED, Probe, TORN};

/// A root of probes, whose history is written.
pub struct Site<P: Platform, S> {
    root: S,
    history: History<P>,
    freed: Arc<AtomicUsize>,
    made: AtomicUsize,
}

impl<P: Platform, S: Subject<P>> Site<P, S> {
    /// A root whose history is `recorded`, and at the end must be linearizable.
    pub fn new(domain: S::Domain, limits: Limits, recorded: bool) -> Arc<Self> {
        Arc::new(Self {
            root: S::new(domain, limits),
            history: History::new(recorded),
            freed: Arc::default(),
            made: AtomicUsize::new(0),
        })
    }

    pub fn object(&self, id: usize) -> S::Out {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.root.object(Probe::new(id, &self.freed))
    }

    pub fn insert(&self, object: S::Out) -> S::In {
        self.history.record(|| {
            let id = object.id;
            (Operation::Insert(id), self.root.insert(object))
        })
    }

    pub fn insert_from(&self, other: &Self, object: S::Out) -> S::In {
        self.history.record(|| {
            let id = object.id;
            (Operation::Insert(id), self.root.insert_from(&other.root, object))
        })
    }

    pub fn remove(&self, object: S::In) -> S::Out {
        self.history.record(|| {
            let id = object.id;
            (Operation::Remove(id), self.root.remove(object))
        })
    }

    pub fn insert_directly(&self, object: S::Out) -> S::In {
        self.history.record(|| {
            let id = object.id;
            (Operation::Insert(id), self.root.insert_directly(object))
        })
    }

    pub fn remove_directly(&self, object: S::In) -> S::Out {
        self.history.record(|| {
            let id = object.id;
            (Operation::Remove(id), self.root.remove_directly(object))
        })
    }

    pub fn read(&self) -> u64 {
        self.history.record(|| {
            let members = self.root.read();
            (Operation::Read(members), members)
        })
    }

    /// Reads, and expects an object that the caller owns to be where the caller has put it.
    pub fn look(&self, id: usize, inside: bool) {
        assert_eq!(self.read() >> id & 1 == 1, inside, "object {id}: {MISSED}");
    }

    pub fn synchronize(&self) {
        self.root.synchronize();
    }

    /// Ends the root, whose objects all were given up, and looks back at everything.
    pub fn finish(self: Arc<Self>) {
        let last = self.read();
        assert_eq!(last, 0, "an update was lost");
        let (made, freed) = self.end();
        assert_eq!(freed, made, "an object was not freed, or more than once");
    }

    /// Ends the root, and says how many objects it has made and how many of them were freed.
    pub fn end(self: Arc<Self>) -> (usize, usize) {
        self.history.assert_linearizable();
        let site = Arc::into_inner(self).expect("all threads have ended");
        site.root.end();
        (site.made.into_inner(), site.freed.load(Ordering::Relaxed))
    }
}

/// What another thread runs.
pub type Run = Box<dyn FnOnce() + Send>;

/// Runs `others` beside `own`, each on a thread of its own, and waits for all of them.
pub fn beside<P: Threads>(others: Vec<Run>, own: impl FnOnce()) {
    let threads: Vec<_> = others.into_iter().map(|run| P::spawn(run)).collect();
    own();
    threads.into_iter().for_each(P::join);
}

/// Tells the platform on which core the calling thread runs, by the thread's number.
pub type Place = fn(u32);

/// What a thread does with one object.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    Insert,
    Remove,
    InsertDirectly,
    RemoveDirectly,
    /// Reads, and expects the object where it must be.
    Look,
}
use Step::{Insert, InsertDirectly, Look, Remove, RemoveDirectly};

/// An object in the hands of its owner.
pub enum Token<P: Platform, S: Subject<P>> {
    Out(S::Out),
    In(S::In),
}

impl<P: Platform, S: Subject<P>> Token<P, S> {
    pub fn new(site: &Site<P, S>, id: usize) -> Self {
        Self::Out(site.object(id))
    }

    /// Takes a step; one that does not fit where the object is, is none.
    #[must_use]
    pub fn step(self, site: &Site<P, S>, step: Step) -> Self {
        match (step, self) {
            (Insert, Self::Out(object)) => Self::In(site.insert(object)),
            (Remove, Self::In(object)) => Self::Out(site.remove(object)),
            (InsertDirectly, Self::Out(object)) => Self::In(site.insert_directly(object)),
            (RemoveDirectly, Self::In(object)) => Self::Out(site.remove_directly(object)),
            (Look, token) => {
                match &token {
                    Self::Out(object) => site.look(object.id, false),
                    Self::In(object) => site.look(object.id, true),
                }
                token
            }
            (_, token) => token,
        }
    }

    #[must_use]
    pub fn follow(self, site: &Site<P, S>, steps: &[Step]) -> Self {
        steps.iter().fold(self, |token, &step| token.step(site, step))
    }

    /// Takes the object out and gives it up.
    pub fn give_up(self, site: &Site<P, S>) {
        drop(self.step(site, Remove));
    }
}

/// Puts an object in and takes it out, over and over as `steps` say, and gives it up.
pub fn follow<P: Platform, S: Subject<P>>(site: &Site<P, S>, id: usize, steps: &[Step]) {
    Token::new(site, id).follow(site, steps).give_up(site);
}

/// Each list of steps on a thread and with an object of its own, while this thread reads.
pub fn updates_and_reads<P: Threads, S: Subject<P>>(
    domain: S::Domain,
    lists: &'static [&'static [Step]],
    reads: u32,
    place: Place,
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

/// One thread updates an object that another inserted, and hands it back.
pub fn passed_on<P: Threads, S: Subject<P>>(domain: S::Domain, place: Place, recorded: bool) {
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

/// Two threads that keep so much in the log that each update applies it, while this one reads. Their
/// history would be too long to be searched.
pub fn crowded<P: Threads, S: Subject<P>>(domain: S::Domain, place: Place) {
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

/// Two roots that share slots, each updated by a thread of its own, while this thread reads both and
/// then ends one of them.
pub fn two_roots<P: Threads, S: Subject<P>>(domain: S::Domain, place: Place, recorded: bool) {
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
        // The other thread may just be moving what this one has logged.
        first.finish();
        second.read();
    });
    second.finish();
    quarantine::end();
}

/// One object lies in the log behind another one, whose node is a garbage log that its owner uses
/// again while this thread reads.
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

/// A thread puts two objects in and takes them out in the opposite order, so that the second is never
/// in without the first, while this one reads. Both lie in the log as garbage, the first before the
/// second.
pub fn one_within_the_other<P: Threads, S: Subject<P>>(domain: S::Domain, place: Place) {
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

/// An object that lies where its owner can leave it for when all threads have ended.
struct Kept<P: Platform, S: Subject<P>>(Arc<Site<P, S>>, Arc<Mutex<Option<Token<P, S>>>>);

impl<P: Platform, S: Subject<P>> Kept<P, S> {
    fn new(site: &Arc<Site<P, S>>, id: usize) -> Self {
        let object = Some(Token::new(site, id));
        Self(Arc::clone(site), Arc::new(Mutex::new(object)))
    }

    /// What a thread does with it.
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

/// A thread follows the steps with an object that is not given up until the end, while this one
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

/// Two roots that share slots, each with a thread that follows steps with an object of its own, which
/// is not given up until the end.
pub fn kept_in_two<P: Threads, S: Subject<P>>(
    domain: S::Domain,
    steps: [&'static [Step]; 2],
    place: Place,
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

/// An object goes from one root to another, while its first root is read.
pub fn moved<P: Threads, S: Subject<P>>(domain: S::Domain) {
    quarantine::begin();
    let first = Site::<P, S>::new(domain.clone(), Limits::default(), false);
    let second = Site::<P, S>::new(domain, Limits::default(), false);
    let other = {
        let (first, second) = (Arc::clone(&first), Arc::clone(&second));
        move || {
            let object = first.insert(second.object(0));
            // A pair that cancels leaves a garbage log behind.
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

/// A root ends when its only object has gone to another one that shares its slots and that another
/// thread updates.
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
