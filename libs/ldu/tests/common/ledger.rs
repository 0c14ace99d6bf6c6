//! A structure whose items contain data that is ordered only by the log. The owner of an object
//! writes the data before it inserts the object, and the structure reads the data. The owner writes
//! it again when the object is settled.

use std::marker::PhantomData;
use std::sync::Arc;

use kilocore_checking::{Threads, quarantine};
use kilocore_ldu::{Ldu, Limits, Policy, PromptLdu, Queue, Structure};
use kilocore_locks::RawRwLock;
use kilocore_platform::{Platform, SharedCell};

/// The sum of the entries that are in.
pub struct Ledger<P> {
    sum: u64,
    platform: PhantomData<fn() -> P>,
}

fn amount<P: Platform>(entry: &P::Cell<u64>) -> u64 {
    // SAFETY: nobody writes it while the object may be in the structure, if the log is right.
    entry.with(|amount| unsafe { *amount })
}

impl<P: Platform> Structure for Ledger<P> {
    type Item = P::Cell<u64>;

    unsafe fn insert(&mut self, entry: &P::Cell<u64>) {
        self.sum += amount::<P>(entry);
    }
    unsafe fn remove(&mut self, entry: &P::Cell<u64>) {
        self.sum -= amount::<P>(entry);
    }
}

/// A thread inserts an entry, removes it, changes it if it may, and does so again. This thread
/// reads.
pub fn entries<P: Threads, Q: Queue<P>, L: RawRwLock<P, Reader = ()>, D: Policy<P>>(
    domain: Q::Domain,
) {
    quarantine::begin();
    let ledger = Ledger { sum: 0, platform: PhantomData };
    let root = Arc::new(Ldu::<P, Ledger<P>, Q, L, D>::with(ledger, domain, Limits::default()));
    let other = {
        let root = Arc::clone(&root);
        move || {
            let mut entry = root.remove(root.insert(root.object(P::Cell::new(1))));
            if let Some(amount) = entry.get_mut() {
                // SAFETY: `get_mut` has returned the entry, so no other thread uses it.
                amount.with_mut(|amount| unsafe { *amount = 2 });
            }
            drop(root.remove(root.insert(entry)));
        }
    };
    let other = P::spawn(other);
    let sum = root.read(|ledger| ledger.sum);
    assert!(sum <= 2, "a sum of {sum} was never there");
    P::join(other);
    assert_eq!(root.read(|ledger| ledger.sum), 0, "an update was lost");
    drop(root);
    quarantine::end();
}

/// Does the same with a log of insertions.
pub fn entries_of_prompt<P: Threads, L: RawRwLock<P, Reader = ()>>() {
    quarantine::begin();
    let ledger = Ledger { sum: 0, platform: PhantomData };
    let root = Arc::new(PromptLdu::<P, Ledger<P>, L>::new(ledger));
    let other = {
        let root = Arc::clone(&root);
        move || {
            let (mut entry, _) = root.remove(root.insert(root.object(P::Cell::new(1))));
            // No read is using it: neither the token nor the log is asked.
            // SAFETY: the removal has returned.
            entry.with_mut(|amount| unsafe { *amount = 2 });
            if let Some(amount) = entry.get_mut() {
                // SAFETY: `get_mut` has returned the entry, so no other thread uses it.
                amount.with_mut(|amount| unsafe { *amount = 3 });
            }
            drop(root.remove(root.insert(entry)));
        }
    };
    let other = P::spawn(other);
    let sum = root.read(|ledger| ledger.sum);
    assert!(sum <= 3, "a sum of {sum} was never there");
    P::join(other);
    assert_eq!(root.read(|ledger| ledger.sum), 0, "an update was lost");
    drop(root);
    quarantine::end();
}
