//! The points of a subject that a process knows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::{Batch, Key, Store, Subject};

/// After so long, what was computed is written. A command that is ended loses no more than that.
const FLUSHED_AFTER: Duration = Duration::from_secs(1);

/// All points that a process knows, of each subject that it has asked for, and the folders in which they are kept.
#[derive(Debug)]
pub(crate) struct AllKept {
    /// The folders in which they are kept. All have what is computed; what one of them has is known.
    stores: Vec<Store>,
    subjects: Mutex<BTreeMap<Subject, Arc<Kept>>>,
    /// Why something could not be written to the first folder, what the system said first.
    unwritten: Mutex<Option<String>>,
}

impl AllKept {
    pub(crate) fn new(stores: Vec<Store>) -> Self {
        Self { stores, subjects: Mutex::default(), unwritten: Mutex::default() }
    }

    /// The points of a subject. They are read when they are first asked for.
    pub(crate) fn of(&self, subject: Subject) -> Arc<Kept> {
        let mut subjects = locked(&self.subjects);
        let read = || {
            let mut known = Batch::default();
            self.stores.iter().for_each(|store| known.append(store.read(&subject)));
            Arc::new(Kept::new(subject, known))
        };
        Arc::clone(subjects.entry(subject).or_insert_with(read))
    }

    /// Adds a point, and writes what was added if it is time to.
    pub(crate) fn insert(&self, kept: &Kept, key: Key, point: Box<[u8]>) {
        if let Some(batch) = kept.insert(key, point, Instant::now()) {
            self.write(&kept.subject, batch);
        }
    }

    /// Writes all that was added.
    pub(crate) fn flush(&self) {
        let subjects: Vec<Arc<Kept>> = locked(&self.subjects).values().cloned().collect();
        for kept in subjects {
            let batch = kept.take_added(Instant::now());
            self.write(&kept.subject, batch);
        }
    }

    /// Why something could not be written to the first folder, if so.
    pub(crate) fn unwritten(&self) -> Option<String> {
        locked(&self.unwritten).clone()
    }

    /// What cannot be written is computed again another time.
    fn write(&self, subject: &Subject, batch: Batch) {
        if batch.is_empty() {
            return;
        }
        for (index, store) in self.stores.iter().enumerate() {
            if let Err(error) = store.write(subject, batch.clone())
                && index == 0
            {
                locked(&self.unwritten).get_or_insert_with(|| error.to_string());
            }
        }
    }
}

impl Drop for AllKept {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The points of one subject.
#[derive(Debug)]
pub(crate) struct Kept {
    subject: Subject,
    points: Mutex<Points>,
}

#[derive(Debug)]
struct Points {
    known: Batch,
    /// Those that are not written yet. They are not among the others.
    added: Batch,
    /// When some were written last.
    flushed: Instant,
}

impl Kept {
    fn new(subject: Subject, known: Batch) -> Self {
        let points = Points { known, added: Batch::default(), flushed: Instant::now() };
        Self { subject, points: Mutex::new(points) }
    }

    /// The bytes of a point, if it is known.
    pub(crate) fn get(&self, key: &Key) -> Option<Box<[u8]>> {
        let points = locked(&self.points);
        points.known.get(key).or_else(|| points.added.get(key)).map(Into::into)
    }

    /// Adds a point. Returns what is to be written, if it is time to.
    fn insert(&self, key: Key, point: Box<[u8]>, now: Instant) -> Option<Batch> {
        let mut points = locked(&self.points);
        points.added.insert(key, point);
        let is_time = now.saturating_duration_since(points.flushed) >= FLUSHED_AFTER;
        is_time.then(|| points.take_added(now))
    }

    fn take_added(&self, now: Instant) -> Batch {
        locked(&self.points).take_added(now)
    }
}

impl Points {
    fn take_added(&mut self, now: Instant) -> Batch {
        self.flushed = now;
        let added = std::mem::take(&mut self.added);
        self.known.append(added.clone());
        added
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics while it holds points")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Version;

    #[test]
    fn what_was_added_is_written_after_a_second() {
        let subject = Subject::new("test", Version(Key::of(&1)), "shared");
        let kept = Kept::new(subject, Batch::default());
        let begun = Instant::now();
        let [a, b, c] = [1, 2, 3].map(|number| Key::of(&number));
        let point = |number: u8| vec![number].into_boxed_slice();
        assert_eq!(kept.insert(a, point(1), begun), None);
        let later = begun + FLUSHED_AFTER * 2;
        let batch = kept.insert(b, point(2), later).expect("it is time");
        assert_eq!(
            (batch.len(), batch.get(&a), batch.get(&b)),
            (2, Some(&[1][..]), Some(&[2][..]))
        );
        assert_eq!(kept.insert(c, point(3), later + FLUSHED_AFTER / 2), None);
        assert_eq!(kept.take_added(later).len(), 1);
        assert!(kept.take_added(later).is_empty());
        for (key, number) in [(a, 1), (b, 2), (c, 3)] {
            assert_eq!(kept.get(&key), Some(point(number)));
        }
    }
}
