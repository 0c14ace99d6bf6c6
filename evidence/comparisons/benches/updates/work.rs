//! What subjects are made to do.

use std::hint::black_box;
use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use kilocore_hardware::{affinity, confine};

use crate::subject::Subject;

/// Exchanges that are timed for one figure.
const EXCHANGES: u32 = 20_000;
/// Pairs, of an insertion and a removal of the same object, that are timed for one figure.
const PAIRS: u32 = 50_000;
/// Objects of all threads together; half of them are in.
const OBJECTS: usize = 2000;

/// How long one thread's mix goes on for a figure, and that of two, in nanoseconds.
const ALONE: f64 = 2e6;
const TOGETHER: f64 = 6e6;

/// The processor time of the calling thread, in nanoseconds.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live timespec for the kernel to fill in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Keeps the calling thread on a processor of its own, if the program may use as many: two threads
/// that begin on one may stay there for longer than a figure takes.
fn stay_apart(number: usize) {
    let Ok(all) = affinity(0) else { return };
    if let Some(cpu) = all.iter().nth(number) {
        // Wherever it stays if this fails, it counts its own processor time.
        let _ = confine([cpu]);
    }
}

/// Nanoseconds per exchange of a word that nobody else wants.
#[inline(never)]
pub(crate) fn exchange() -> f64 {
    let word = AtomicU64::new(0);
    let start = processor_time();
    for turn in 0..EXCHANGES {
        black_box(black_box(&word).swap(turn.into(), Ordering::AcqRel));
    }
    (processor_time() - start) / f64::from(EXCHANGES)
}

/// One object goes in and out.
pub(crate) struct Pairs<S: Subject> {
    /// The object, while it is out and nobody runs.
    item: Mutex<Option<S::Out>>,
    subject: S,
}

impl<S: Subject> Pairs<S> {
    pub(crate) fn new(subject: S) -> Self {
        Self { item: Mutex::new(Some(subject.item(1))), subject }
    }

    /// Returns the nanoseconds of processor time that an insertion and the removal after it take,
    /// on average over [`PAIRS`].
    pub(crate) fn run(&self) -> f64 {
        let mut item = self.item.lock().expect("nobody panicked");
        let mut out = item.take().expect("it was put back");
        let mut thread = self.subject.thread(0);
        (out, _) = repeat(&self.subject, out, PAIRS / 10, &mut thread);
        let (out, took) = repeat(&self.subject, out, PAIRS, &mut thread);
        *item = Some(out);
        took / f64::from(PAIRS)
    }
}

#[inline(never)]
fn repeat<S: Subject>(
    subject: &S,
    mut out: S::Out,
    pairs: u32,
    thread: &mut S::Thread,
) -> (S::Out, f64) {
    let start = processor_time();
    for _ in 0..pairs {
        let item = black_box(subject).insert(out, thread);
        out = black_box(subject).remove(item, thread);
    }
    let took = processor_time() - start;
    (out, took)
}

/// Threads change and search a structure.
pub(crate) struct Mix<S: Subject> {
    members: Vec<Mutex<Member<S>>>,
    updates_per_search: usize,
    subject: S,
}

/// The objects of one thread, in the order in which it uses them.
struct Member<S: Subject> {
    number: usize,
    items: Vec<(u64, Held<S>)>,
    /// Updates before the next search.
    until_search: usize,
}

enum Held<S: Subject> {
    In(S::In),
    Out(S::Out),
    /// An update of the object is under way.
    Neither,
}

impl<S: Subject> Mix<S> {
    /// Its members are `threads`. Half of the objects are in.
    pub(crate) fn new(subject: S, threads: usize, updates_per_search: usize) -> Self {
        let member = |number| Mutex::new(Member::new(&subject, number, threads));
        Self { members: (0..threads).map(member).collect(), updates_per_search, subject }
    }

    /// Nanoseconds per operation of the only thread, or operations per microsecond of all.
    pub(crate) fn run(&self) -> f64 {
        let members = self.members.len();
        if members == 1 {
            return self.rate(&self.members[0], ALONE, processor_time, || ()).recip();
        }
        let (absent, busy) = (AtomicUsize::new(members), AtomicUsize::new(members));
        let epoch = Instant::now();
        let push = |(number, member)| {
            stay_apart(number);
            let rate = self.rate(
                member,
                TOGETHER,
                || epoch.elapsed().as_nanos() as f64,
                || {
                    // No barrier that sleeps: being woken takes longer than the work.
                    absent.fetch_sub(1, Ordering::Relaxed);
                    while absent.load(Ordering::Relaxed) > 0 {
                        std::thread::yield_now();
                    }
                },
            );
            busy.fetch_sub(1, Ordering::Relaxed);
            let mut thread = self.subject.thread(number);
            while busy.load(Ordering::Relaxed) > 0 {
                self.subject.idle(&mut thread);
            }
            rate
        };
        let rates: f64 = std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .members
                .iter()
                .enumerate()
                .map(|each| scope.spawn(move || push(each)))
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
        });
        rates * 1000.0
    }

    /// Operations per nanosecond of `clock` by one member that works for some `time`, after all
    /// `meet`.
    fn rate(
        &self,
        member: &Mutex<Member<S>>,
        time: f64,
        clock: impl Fn() -> f64,
        meet: impl FnOnce(),
    ) -> f64 {
        let mut member = member.lock().expect("nobody panicked");
        let mut thread = self.subject.thread(member.number);
        // Brings back what others have driven out of the caches.
        self.step(&mut member, &mut thread);
        meet();
        let (start, mut updates, mut took) = (clock(), 0, 0.0);
        while took < time {
            updates += self.step(&mut member, &mut thread);
            took = clock() - start;
        }
        let searches = updates / self.updates_per_search;
        (updates + searches) as f64 / took
    }

    /// Updates each object once, and says how many these are.
    #[inline(never)]
    fn step(&self, member: &mut Member<S>, thread: &mut S::Thread) -> usize {
        let Member { items, until_search, .. } = member;
        let (count, subject) = (items.len(), black_box(&self.subject));
        for next in 0..count {
            let held = &mut items[next].1;
            *held = match mem::replace(held, Held::Neither) {
                Held::In(item) => Held::Out(subject.remove(item, thread)),
                Held::Out(item) => Held::In(subject.insert(item, thread)),
                Held::Neither => unreachable!("nothing is under way"),
            };
            if *until_search <= 1 {
                *until_search = self.updates_per_search;
                // One that was not touched lately.
                let sought = items[(next + count / 2) % count].0;
                black_box(subject.search(sought, thread));
            } else {
                *until_search -= 1;
            }
        }
        count
    }
}

impl<S: Subject> Member<S> {
    fn new(subject: &S, number: usize, threads: usize) -> Self {
        let mut thread = subject.thread(number);
        let mut items: Vec<_> = (number..OBJECTS)
            .step_by(threads)
            .map(|object| (object as u64, Held::Out(subject.item(object as u64))))
            .collect();
        shuffle(&mut items);
        for (_, held) in items.iter_mut().step_by(2) {
            if let Held::Out(item) = mem::replace(held, Held::Neither) {
                *held = Held::In(subject.insert(item, &mut thread));
            }
        }
        Self { number, items, until_search: 0 }
    }
}

/// The same order each time, by the generator of Lehmer with the constants of Park and Miller.
fn shuffle<T>(items: &mut [T]) {
    let mut state: u64 = 1;
    for last in (1..items.len()).rev() {
        state = state * 48271 % 0x7FFF_FFFF;
        items.swap(last, (state % (last as u64 + 1)) as usize);
    }
}
