//! Programs whose reads are under way while an update returns. A log that only promises linearizable
//! operations fails them.

use std::sync::Arc;

use kilocore_checking::{Threads, quarantine};
use kilocore_ldu::Limits;
use kilocore_platform::{Atomic, Ordering};

use super::programs::{Site, Step, Token, beside};
use super::subject::Inside;
use super::{IN_HAND, UNSEEN};

/// What has happened to the object before.
#[derive(Debug, Clone, Copy)]
pub enum Before {
    /// Nothing.
    New,
    /// A removal has cancelled its insertion, so that its node is in the log.
    Cancelled,
    /// It was put in and taken out.
    TakenOut,
}

impl Before {
    pub const ALL: [Self; 3] = [Self::New, Self::Cancelled, Self::TakenOut];

    fn steps(self) -> &'static [Step] {
        match self {
            Self::New => &[],
            Self::Cancelled => &[Step::Insert, Step::Remove],
            Self::TakenOut => &[Step::InsertDirectly, Step::Remove],
        }
    }
}

/// What a third thread does meanwhile.
#[derive(Debug, Clone, Copy)]
enum Beside {
    Nothing,
    /// It takes an object out, directly.
    Removal,
    /// It puts an object in and takes it out, whose insertion was cancelled before, so that its node is in the log.
    Updates,
}

/// A thread inserts its object and says so. A read that is under way, and hears it, has seen the object.
pub fn inserted<P: Threads, S: Inside<P>>(domain: S::Domain, limits: Limits, before: Before) {
    updated::<P, S>(
        domain,
        limits,
        before,
        &[Step::Insert],
        Beside::Nothing,
        |members, has_returned| {
            assert!(members == 1 || !has_returned, "{UNSEEN}");
        },
    );
}

/// The same while a third thread takes another object out, directly.
pub fn inserted_beside_a_removal<P: Threads, S: Inside<P>>(domain: S::Domain, limits: Limits) {
    updated::<P, S>(domain, limits, Before::New, &[Step::Insert], Beside::Removal, at_least_one);
}

/// The same while a third thread uses a node that a full log may lose.
pub fn inserted_into_a_full_log<P: Threads, S: Inside<P>>(domain: S::Domain, limits: Limits) {
    updated::<P, S>(domain, limits, Before::New, &[Step::Insert], Beside::Updates, at_least_one);
}

fn at_least_one(members: u64, has_returned: bool) {
    assert!(members >= 1 || !has_returned, "{UNSEEN}");
}

/// A thread inserts its object, removes it and says so. A read that is under way, and hears it, has not
/// seen the object.
pub fn removed<P: Threads, S: Inside<P>>(domain: S::Domain, limits: Limits, before: Before) {
    updated::<P, S>(
        domain,
        limits,
        before,
        &[Step::Insert, Step::Remove],
        Beside::Nothing,
        |members, has_returned| {
            assert!(members == 0 || !has_returned, "{IN_HAND}");
        },
    );
}

fn updated<P: Threads, S: Inside<P>>(
    domain: S::Domain,
    limits: Limits,
    before: Before,
    steps: &'static [Step],
    third: Beside,
    check: fn(u64, bool),
) {
    quarantine::begin();
    let site = Site::<P, S>::new(domain, limits, false);
    let object = Token::new(&site, 0).follow(&site, before.steps());
    let returned = Arc::new(P::U32::new(0));
    let back = Arc::new(std::sync::Mutex::new(None));
    let other = {
        let (site, returned, back) = (Arc::clone(&site), Arc::clone(&returned), Arc::clone(&back));
        move || {
            let object = object.follow(&site, steps);
            // Relaxed: the promise needs no more than that the read comes to know.
            returned.store(1, Ordering::Relaxed);
            *back.lock().unwrap() = Some(object);
        }
    };
    let mut others: Vec<Box<dyn FnOnce() + Send>> = vec![Box::new(other)];
    let others_back = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (steps_before, steps): (_, &[Step]) = match third {
        Beside::Nothing => (None, &[]),
        Beside::Removal => (Some(&[Step::InsertDirectly][..]), &[Step::Remove]),
        Beside::Updates => (Some(&[Step::Insert, Step::Remove][..]), &[Step::Insert, Step::Remove]),
    };
    if let Some(steps_before) = steps_before {
        let (site, back) = (Arc::clone(&site), Arc::clone(&others_back));
        let object = Token::new(&site, 1).follow(&site, steps_before);
        others.push(Box::new(move || {
            let object = object.follow(&site, steps);
            back.lock().unwrap().push(object);
        }));
    }
    let mut found = (0, false);
    beside::<P>(others, || {
        found = site.inside(|members| (members, returned.load(Ordering::Relaxed) == 1));
    });
    let object = back.lock().unwrap().take().expect("the other thread has ended");
    object.give_up(&site);
    for object in others_back.lock().unwrap().drain(..) {
        object.give_up(&site);
    }
    site.finish();
    quarantine::end();
    // Last: a panic that unwinds through a root with objects would apply its log.
    check(found.0, found.1);
}
