//! The programs: each is right with a sound log and makes one kind of error visible.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use kilocore_checking::{Threads, quarantine};
use kilocore_ldu::{In, Ldu, Limits, Out, Queue};
use kilocore_locks::RawRwLock;
use kilocore_platform::Platform;

use super::history::{History, Operation};
use super::{Census, Probe};

/// A root of probes, whose history is written.
pub struct Site<P: Platform, Q: Queue<P>, L: RawRwLock<P>> {
    root: Ldu<P, Census, Q, L>,
    history: History<P>,
    freed: Arc<AtomicUsize>,
    made: AtomicUsize,
}

impl<P: Platform, Q: Queue<P>, L: RawRwLock<P>> Site<P, Q, L> {
    /// A root whose history is `recorded`, and at the end must be linearizable.
    pub fn new(domain: Q::Domain, limits: Limits, recorded: bool) -> Arc<Self> {
        Arc::new(Self {
            root: Ldu::with(Census::default(), domain, limits),
            history: History::new(recorded),
            freed: Arc::default(),
            made: AtomicUsize::new(0),
        })
    }

    pub fn object(&self, id: usize) -> Out<P, Census> {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.root.object(Probe::new(id, &self.freed))
    }

    pub fn insert(&self, object: Out<P, Census>) -> In<P, Census> {
        self.history.record(|| {
            let id = object.id;
            (Operation::Insert(id), self.root.insert(object))
        })
    }

    pub fn remove(&self, object: In<P, Census>) -> Out<P, Census> {
        self.history.record(|| {
            let id = object.id;
            (Operation::Remove(id), self.root.remove(object))
        })
    }

    pub fn insert_directly(&self, object: Out<P, Census>) -> In<P, Census> {
        self.history.record(|| {
            let id = object.id;
            (Operation::Insert(id), self.root.insert_directly(object))
        })
    }

    pub fn remove_directly(&self, object: In<P, Census>) -> Out<P, Census> {
        self.history.record(|| {
            let id = object.id;
            (Operation::Remove(id), self.root.remove_directly(object))
        })
    }

    pub fn read(&self) -> u64 {
        self.history.record(|| {
            let members = self.root.read(|census| census.members);
            (Operation::Read(members), members)
        })
    }

    pub fn synchronize(&self) {
        self.root.synchronize();
    }

    /// Ends the root, whose objects all were given up, and looks back at everything.
    pub fn finish(self: Arc<Self>) {
        let last = self.read();
        assert_eq!(last, 0, "an update was lost");
        self.history.assert_linearizable();
        let site = Arc::into_inner(self).expect("all threads have ended");
        drop(site.root);
        let (made, freed) = (site.made.into_inner(), site.freed.load(Ordering::Relaxed));
        assert_eq!(freed, made, "an object was not freed, or more than once");
    }
}

/// Runs `others` beside `own`, each on a core of its own, and waits for all of them.
fn beside<P: Threads>(others: Vec<Box<dyn FnOnce() + Send>>, own: impl FnOnce()) {
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
}
use Step::{Insert, InsertDirectly, Remove, RemoveDirectly};

/// Puts an object in and takes it out, over and over as `steps` say, and gives it up.
fn follow<P: Platform, Q: Queue<P>, L: RawRwLock<P>>(
    site: &Site<P, Q, L>,
    id: usize,
    steps: &[Step],
) {
    let mut out = Some(site.object(id));
    let mut inside = None;
    for step in steps {
        match step {
            Insert => inside = out.take().map(|object| site.insert(object)),
            Remove => out = inside.take().map(|object| site.remove(object)),
            InsertDirectly => inside = out.take().map(|object| site.insert_directly(object)),
            RemoveDirectly => out = inside.take().map(|object| site.remove_directly(object)),
        }
    }
    if let Some(object) = inside.take() {
        out = Some(site.remove(object));
    }
    drop(out);
}

/// Each list of steps on a thread and with an object of its own, while this thread reads.
pub fn updates_and_reads<P, Q, L>(
    domain: Q::Domain,
    lists: &'static [&'static [Step]],
    reads: u32,
    place: Place,
    recorded: bool,
) where
    P: Threads,
    Q: Queue<P>,
    L: RawRwLock<P>,
{
    quarantine::begin();
    let site = Site::<P, Q, L>::new(domain, Limits::default(), recorded);
    let others = lists.iter().enumerate().map(|(id, steps)| {
        let site = Arc::clone(&site);
        Box::new(move || {
            place(id as u32 + 1);
            follow(&site, id, steps);
        }) as Box<dyn FnOnce() + Send>
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
pub fn passed_on<P, Q, L>(domain: Q::Domain, place: Place, recorded: bool)
where
    P: Threads,
    Q: Queue<P>,
    L: RawRwLock<P>,
{
    quarantine::begin();
    let site = Site::<P, Q, L>::new(domain, Limits::default(), recorded);
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
pub fn crowded<P, Q, L>(domain: Q::Domain, place: Place)
where
    P: Threads,
    Q: Queue<P>,
    L: RawRwLock<P>,
{
    quarantine::begin();
    let limits = Limits { nodes: 0, age: None };
    let site = Site::<P, Q, L>::new(domain, limits, false);
    let other = |index: u32| {
        let site = Arc::clone(&site);
        Box::new(move || {
            place(index);
            for id in 0..10 {
                let id = 10 * index as usize + id;
                follow(&site, id, &[Insert, Remove]);
            }
        }) as Box<dyn FnOnce() + Send>
    };
    beside::<P>(vec![other(1), other(2)], || {
        place(0);
        site.root.read(|census| census.members);
    });
    site.finish();
    quarantine::end();
}

/// Two roots that share slots, each updated by a thread of its own, while this thread reads both and
/// then ends one of them.
pub fn two_roots<P, Q, L>(domain: Q::Domain, place: Place, recorded: bool)
where
    P: Threads,
    Q: Queue<P>,
    L: RawRwLock<P>,
{
    quarantine::begin();
    let first = Site::<P, Q, L>::new(domain.clone(), Limits::default(), recorded);
    let second = Site::<P, Q, L>::new(domain, Limits::default(), recorded);
    let update = |site: &Arc<Site<P, Q, L>>, index: u32| {
        let site = Arc::clone(site);
        Box::new(move || {
            place(index);
            follow(&site, 0, &[Insert, Remove]);
        }) as Box<dyn FnOnce() + Send>
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
