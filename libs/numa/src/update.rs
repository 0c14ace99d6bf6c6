//! How writers change all copies.
//!
//! # The steps
//! 1. Hide one side, and wait until nobody reads it. Readers whose node has no copy on the other side use
//!    a neighbour's.
//! 2. Change the copies of the hidden side. Readers still see the old value, all of them.
//! 3. Show this side and hide the other, in one step. From here on, all readers see the new value.
//! 4. Wait until nobody reads the old side, and change its copies, too.
//! 5. Show both.
//!
//! On a machine with one node, the second copy is there for this only. It stays hidden after the last step, so
//! that the next update begins with the second one. It waits for readers once.
//!
//! # If a change panics
//! Then the side that it was changing stays hidden. Nobody sees half of a change, and nobody has to wait. The next
//! writer replaces the copies of that side by clones of those that are shown, and goes on from there.

use core::mem;

use kilocore_locks::RawLock;
use kilocore_platform::{Platform, SharedCell};

use crate::ReplicatedOn;
use crate::side::{Side, Sides};

impl<P: Platform, T: Clone> ReplicatedOn<P, T> {
    /// Changes all copies by calling `change` for each, and returns what it has returned for the first of them.
    ///
    /// `change` must do the same to each copy. If it does not, because it draws random numbers for example,
    /// then readers see one result or another. That is not unsafe, but seldom wanted. Whatever is computed only
    /// once should be computed before, and moved or cloned into the copies.
    ///
    /// Readers see the change all at once, on all nodes. It waits for the readers that came before the change.
    /// Updates take place one after the other. What a copy allocates is allocated on its node.
    ///
    /// # Panics
    /// If `change` panics, or the clone that repairs what an earlier panic has left. No reader ever sees
    /// a copy in which `change` has panicked:
    ///
    /// * If it panics for one of the copies that are changed first, the update has no effect.
    /// * If it panics for a later one, which it should not, as it has been through with others, then the update
    ///   has taken effect nevertheless.
    ///
    /// In both cases some nodes read a neighbour's copy until the next update has repaired theirs;
    /// `update(|_| ())` does that.
    ///
    /// # Deadlocks
    /// It waits for ever if the calling thread has a [guard](crate::ReadGuard) of the same data, or is within
    /// another update of it. Note that in `data.store(data.read().clone())` the guard is there until the store
    /// returns. Reading within an update is possible.
    pub fn update<R>(&self, mut change: impl FnMut(&mut T) -> R) -> R {
        let turn = Turn::begin(self);
        turn.repair();
        let mut first = None;
        turn.change(|_, copy| {
            let result = change(copy);
            first.get_or_insert(result);
        });
        first.expect("there is a copy")
    }

    /// Replaces all copies by clones of `value`.
    ///
    /// The clones are made before the first copy is replaced, and the old copies dropped after the last one was.
    /// Otherwise it is an [update](Self::update), and waits for the same.
    ///
    /// # Panics
    /// If cloning panics, in which case it has no effect, or if dropping an old copy does.
    pub fn store(&self, value: T) {
        let mut clones = self.clones(value);
        let turn = Turn::begin(self);
        turn.change(|number, copy| mem::swap(copy, &mut clones[number]));
    }
}

/// The turn of a writer, which ends when it is dropped.
struct Turn<'a, P: Platform, T>(&'a ReplicatedOn<P, T>);

impl<'a, P: Platform, T> Turn<'a, P, T> {
    fn begin(data: &'a ReplicatedOn<P, T>) -> Self {
        data.writers.lock.acquire(&mut ());
        Self(data)
    }

    /// Takes all steps. `change` gets the number of each copy.
    fn change(&self, mut change: impl FnMut(usize, &mut T)) {
        let data = self.0;
        let shown = data.shown_by_writers();
        let first = if shown == Sides::BOTH {
            data.show(Sides::only(Side::Even));
            self.wait_for_readers_of(Side::Odd);
            Side::Odd
        } else {
            // It was hidden by an earlier writer, who has waited for its readers.
            shown.nearest(Side::Odd).other()
        };
        self.change_side(first, &mut change);
        data.show(Sides::only(first));
        self.wait_for_readers_of(first.other());
        self.change_side(first.other(), &mut change);
        if data.copies[0].node != data.copies[1].node {
            data.show(Sides::BOTH);
        }
    }

    fn wait_for_readers_of(&self, side: Side) {
        for place in &self.0.head.places {
            place.seat.wait_for_readers_of(side);
        }
    }

    /// Changes the copies of a side that is hidden and that nobody reads.
    fn change_side(&self, side: Side, change: &mut impl FnMut(usize, &mut T)) {
        self.set_unfinished(true);
        for number in side.copies(self.0.copies.len()) {
            let copy = &self.0.copies[number];
            // SAFETY: nobody reads the side or can come to do so, since it is hidden, and this is the only
            // writer.
            copy.on_its_node(|| change(number, unsafe { &mut *copy.pointer().as_ref().get() }));
        }
        self.set_unfinished(false);
    }

    /// Makes the hidden copies what those are that are shown, if somebody has panicked while changing them.
    fn repair(&self)
    where
        T: Clone,
    {
        // SAFETY: writers take turns.
        if !self.0.writers.unfinished.with(|unfinished| unsafe { *unfinished }) {
            return;
        }
        let copies = &self.0.copies;
        // Nobody panics while both are shown.
        let hidden = self.0.shown_by_writers().nearest(Side::Odd).other();
        self.change_side(hidden, &mut |number, copy| {
            let intact = copies[hidden.other().stand_in(number, copies.len())].pointer();
            // SAFETY: it is of the side that is shown, which nobody changes now.
            *copy = unsafe { &*intact.as_ref().get() }.clone();
        });
    }

    fn set_unfinished(&self, now: bool) {
        // SAFETY: writers take turns.
        self.0.writers.unfinished.with_mut(|unfinished| unsafe { *unfinished = now });
    }
}

impl<P: Platform, T> Drop for Turn<'_, P, T> {
    fn drop(&mut self) {
        // SAFETY: acquired in `begin`.
        unsafe { self.0.writers.lock.release(&mut ()) };
    }
}
