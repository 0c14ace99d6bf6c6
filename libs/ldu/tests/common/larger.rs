//! Programs that are too large for loom.

use std::sync::{Arc, Mutex};

use kilocore_checking::{Threads, quarantine};
use kilocore_ldu::Limits;

use super::programs::{Run, SetCore, Site, Step, Token, beside};
use super::subject::Subject;

/// What threads do to one root.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// For each updating thread: how many objects it has, and the steps that it takes with them. It
    /// takes each step with one object after the other.
    pub updaters: &'static [(usize, &'static [Step])],
    /// How often each reading thread reads.
    pub readers: &'static [u32],
    pub limits: Limits,
    pub place: SetCore,
    pub recorded: bool,
}

/// Readers and updaters, each on a thread of its own.
pub fn mixed<P: Threads, S: Subject<P>>(domain: S::Domain, work: &Work) {
    quarantine::begin();
    let Work { updaters, readers, limits, place, recorded } = *work;
    let site = Site::<P, S>::new(domain, limits, recorded);
    let mut others: Vec<Run> = Vec::new();
    let mut id = 0;
    for &(objects, steps) in updaters {
        let (site, first, index) = (Arc::clone(&site), id, others.len() as u32 + 1);
        id += objects;
        others.push(Box::new(move || {
            place(index);
            let own = (first..first + objects).map(|id| Token::new(&site, id)).collect();
            let own = steps.iter().fold(own, |own: Vec<_>, &step| {
                own.into_iter().map(|object| object.step(&site, step)).collect()
            });
            own.into_iter().for_each(|object| object.give_up(&site));
        }));
    }
    for &reads in readers {
        let (site, index) = (Arc::clone(&site), others.len() as u32 + 1);
        others.push(Box::new(move || {
            place(index);
            for _ in 0..reads {
                site.read();
            }
        }));
    }
    beside::<P>(others, || place(0));
    site.finish();
    quarantine::end();
}

/// Some objects lie in a pile. Each thread takes an object from the pile, updates it, and puts it
/// back, `turns` times. So an object's updates come from all threads and cores. The pile is ordered
/// by a mutex that the checker does not see. So this is only for shuttle, which needs no orderings.
pub fn handed_around<P: Threads, S: Subject<P>>(
    domain: S::Domain,
    threads: u32,
    turns: u32,
    limits: Limits,
    place: SetCore,
    recorded: bool,
) {
    quarantine::begin();
    let site = Site::<P, S>::new(domain, limits, recorded);
    // There are fewer objects than threads, so that another thread soon takes an object.
    let objects = (1..threads as usize).map(|id| Token::new(&site, id)).collect::<Vec<_>>();
    let heap = Arc::new(Mutex::new(objects));
    let others = (1..=threads).map(|index| {
        let (site, heap) = (Arc::clone(&site), Arc::clone(&heap));
        Box::new(move || {
            place(index);
            for _ in 0..turns {
                let taken = heap.lock().unwrap().pop();
                let turned = match taken {
                    Some(object @ Token::Out(_)) => object.step(&site, Step::Insert),
                    Some(object @ Token::In(_)) => object.step(&site, Step::Remove),
                    None => {
                        site.read();
                        continue;
                    }
                };
                let turned = if recorded { turned } else { turned.step(&site, Step::Look) };
                // The object goes under the pile, so that the others come first.
                heap.lock().unwrap().insert(0, turned);
            }
        }) as Run
    });
    beside::<P>(others.collect(), || {
        place(0);
        site.read();
    });
    let left = std::mem::take(&mut *heap.lock().unwrap());
    left.into_iter().for_each(|object| object.give_up(&site));
    site.finish();
    quarantine::end();
}

/// There are some roots that share slots, and as many threads. Each thread takes the same steps in
/// each root, and each begins with a different root. One of this thread's objects moves through all
/// roots, and one more root ends meanwhile.
pub fn several_roots<P: Threads, S: Subject<P>>(
    domain: S::Domain,
    roots: usize,
    steps: &'static [Step],
    limits: Limits,
    place: SetCore,
) {
    quarantine::begin();
    let new = || Site::<P, S>::new(domain.clone(), limits, false);
    let sites: Vec<_> = (0..roots).map(|_| new()).collect();
    let others = (0..roots).map(|index| {
        let sites = sites.clone();
        Box::new(move || {
            place(index as u32 + 1);
            let own = (0..roots).map(|turn| &sites[(index + turn) % roots]);
            let mut own: Vec<_> = own.map(|site| (site, Token::new(site, index))).collect();
            for &step in steps {
                own = own.into_iter().map(|(site, it)| (site, it.step(site, step))).collect();
            }
            own.into_iter().for_each(|(site, object)| object.give_up(site));
        }) as Run
    });
    beside::<P>(others.collect(), || {
        place(0);
        let short = new();
        let mut object = short.remove(short.insert(sites[0].object(roots)));
        short.end();
        for (index, site) in sites.iter().enumerate() {
            let inside = match index {
                0 => site.insert(object),
                _ => site.insert_from(&sites[index - 1], object),
            };
            site.look(roots, true);
            object = site.remove(inside);
        }
        drop(object);
    });
    // The roots end from the last on, where an object of the first may still be waiting to be
    // freed.
    sites.into_iter().rev().for_each(Site::finish);
    quarantine::end();
}
