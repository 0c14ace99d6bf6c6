//! Groups of locks that are created at the same place in the program.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Frame, Histogram, Lock};

use super::unequal;

/// If one thread makes at least this share of a lock's uses, the lock is considered its own.
const ITS_OWN: f64 = 0.9;

/// The place of what nobody was seen to create or take.
pub(crate) const UNKNOWN_PLACE: &str = "an unknown place";

/// Whether a part is nearly the whole.
fn nearly(part: u64, whole: u64) -> bool {
    part as f64 >= ITS_OWN * whole as f64
}

/// Locks of a process that are created at the same place.
pub(super) struct Group<'a> {
    pub(super) locks: Vec<&'a Lock>,
    /// How many exclusive acquisitions all its locks had.
    pub(super) exclusive: u64,
    /// How many shared acquisitions its read-write locks had.
    pub(super) shared: u64,
    /// Times that the holder ran, of exclusive holds.
    pub(super) hold: Histogram,
    /// Times that the holder ran, of shared holds.
    pub(super) read_hold: Histogram,
    /// Sleep in exclusive holds.
    pub(super) hold_asleep: Nanoseconds<f64>,
    /// Sleep in shared holds.
    pub(super) read_asleep: Nanoseconds<f64>,
    /// Waits of both modes.
    pub(super) wait: Histogram,
    /// Acquisitions that had to wait.
    pub(super) contended: u64,
}

impl<'a> Group<'a> {
    /// Between what the mean hold lies, if all locks were watched in windows.
    pub(super) fn hold_range(&self) -> Option<[Nanoseconds<f64>; 2]> {
        let (mut range, mut uses) = ([Nanoseconds(0.0); 2], 0.0);
        for lock in &self.locks {
            let known = lock.precision.as_ref()?.hold.as_ref()?;
            let weight = lock.uses() as f64;
            range[0] += known.low * weight;
            range[1] += known.high * weight;
            uses += weight;
        }
        (uses > 0.0).then(|| range.map(|end| end / uses))
    }

    pub(super) fn new(locks: Vec<&'a Lock>) -> Self {
        let mut group = Self {
            exclusive: 0,
            shared: 0,
            hold: Histogram::default(),
            read_hold: Histogram::default(),
            hold_asleep: Nanoseconds(0.0),
            read_asleep: Nanoseconds(0.0),
            wait: Histogram::default(),
            contended: 0,
            locks: Vec::new(),
        };
        for lock in &locks {
            group.exclusive += lock.acquisitions;
            group.contended += lock.contended;
            group.hold.merge(&lock.hold);
            group.hold_asleep += lock.hold_asleep;
            group.wait.merge(&lock.wait);
            if let Some(read) = &lock.read {
                group.shared += read.acquisitions;
                group.contended += read.contended;
                group.read_hold.merge(&read.hold);
                group.read_asleep += read.hold_asleep;
                group.wait.merge(&read.wait);
            }
        }
        group.locks = locks;
        group
    }

    pub(super) fn uses(&self) -> u64 {
        self.exclusive + self.shared
    }

    /// The share of the uses that are shared or, if `shared` is false, exclusive.
    pub(super) fn mode_share(&self, shared: bool) -> f64 {
        let uses = if shared { self.shared } else { self.exclusive };
        uses as f64 / (self.uses() as f64).max(1.0)
    }

    pub(super) fn held(&self) -> Nanoseconds<f64> {
        self.hold.sum + self.read_hold.sum
    }

    /// The number of equally used locks with which two random uses would meet at the same lock just
    /// as often.
    pub(super) fn effective_instances(&self) -> u32 {
        unequal::count(&self.locks.iter().map(|lock| lock.uses() as f64).collect::<Vec<_>>())
    }

    /// Whether nearly all uses are of locks that belong to one thread each: every thread has its
    /// own, or a single thread alone takes the lock while other threads do other things.
    ///
    /// `busiest` is the thread that does nearly all the work of the program, if there is one. Its
    /// locks do not count: if there were more threads like it, they would share these locks.
    pub(super) fn per_thread(&self, busiest: Option<u32>) -> bool {
        let owned = self.owned();
        let by_others = owned.iter().filter(|(thread, _)| Some(**thread) != busiest);
        nearly(by_others.map(|(_, uses)| uses).sum(), self.uses())
    }

    /// For each thread, the uses of the locks that hardly any other thread takes.
    fn owned(&self) -> BTreeMap<u32, u64> {
        let mut owned = BTreeMap::new();
        for (thread, lock) in self.with_owners() {
            *owned.entry(thread).or_insert(0) += lock.uses();
        }
        owned
    }

    /// The locks that hardly any other than one thread takes, with that thread.
    fn with_owners(&self) -> impl Iterator<Item = (u32, &'a Lock)> + '_ {
        let owner =
            |lock: &'a Lock| Some(lock.mostly_by.filter(|most| most.share >= ITS_OWN)?.thread);
        self.locks.iter().filter_map(move |&lock| Some((owner(lock)?, lock)))
    }

    /// Returns the thread that makes nearly all the uses of all groups' locks, if there is one and it holds locks
    /// for most of the time for which any are held. A thread that takes many locks for a moment, while it
    /// begins, does not do nearly all the work.
    pub(super) fn busiest(groups: &[Self]) -> Option<u32> {
        /// The share of the time for which locks are held.
        const MOST: f64 = 0.5;
        let mut owned = BTreeMap::new();
        for (thread, uses) in groups.iter().flat_map(Self::owned) {
            *owned.entry(thread).or_insert(0) += uses;
        }
        let all = groups.iter().map(Self::uses).sum();
        let (busiest, _) = owned.into_iter().find(|(_, uses)| nearly(*uses, all))?;
        let of_busiest =
            groups.iter().flat_map(Self::with_owners).filter(|(thread, _)| *thread == busiest);
        let held: Nanoseconds<f64> = of_busiest.map(|(_, lock)| lock.held()).sum();
        let all: Nanoseconds<f64> =
            groups.iter().flat_map(|group| &group.locks).map(|lock| lock.held()).sum();
        (held >= all * MOST).then_some(busiest)
    }

    /// The place in the program where the locks are created or first taken.
    pub(super) fn place(&self) -> String {
        place_of(&self.locks[0].site)
    }
}

/// Names the innermost caller that does more than create or take a lock, and the function through
/// which it does that: the place to look for in the program's source.
#[must_use]
pub fn place_of(site: &[Frame]) -> String {
    let innermost = site.first().map_or_else(|| UNKNOWN_PLACE.to_owned(), Frame::to_string);
    match site.iter().find(|frame| !frame.function.is_empty() && !wraps_a_lock(frame)) {
        Some(frame) if site.first().is_some_and(wraps_a_lock) => {
            format!("{frame}, through {innermost}")
        }
        _ => innermost,
    }
}

/// Names the place where a lock is taken and waited for longest, or else where it was made.
pub(crate) fn wanted_at(lock: &Lock) -> String {
    lock.callers.first().map_or_else(|| place_of(&lock.site), |caller| taker_of(&caller.site))
}

/// Names the innermost caller that does more than take a lock. The types of its parameters are left
/// out, so that the name is short enough to stand in a list.
#[must_use]
pub fn taker_of(site: &[Frame]) -> String {
    let does_more =
        |frame: &&Frame| !frame.function.is_empty() && !wraps_a_lock(frame) && !only_sleeps(frame);
    site.iter().find(does_more).or(site.first()).map_or_else(
        || UNKNOWN_PLACE.to_owned(),
        |frame| {
            let function = without_parameters(&frame.function).to_owned();
            Frame { function, ..frame.clone() }.to_string()
        },
    )
}

/// Returns a demangled name up to its list of parameters, if it has one: `db::accept` for
/// `db::accept(char const*)`.
fn without_parameters(name: &str) -> &str {
    let signature = name.strip_suffix(" const").unwrap_or(name);
    let mut open = 0;
    for (index, c) in signature.char_indices().rev() {
        match c {
            ')' => open += 1,
            '(' => open -= 1,
            _ => {}
        }
        if open == 0 {
            let is_list = c == '(' && index > 0 && !signature[..index].ends_with("operator");
            return if is_list { &signature[..index] } else { name };
        }
    }
    name
}

/// Whether a function is how any lock's waiters sleep: the C library's way into the kernel, and what C++'s library
/// has around it for atomic words.
fn only_sleeps(frame: &Frame) -> bool {
    const BEGINS: [&str; 4] = ["std::__detail::", "std::__atomic_", "std::atomic<", "std::atomic_"];
    frame.function == "syscall" || BEGINS.iter().any(|begin| frame.function.starts_with(begin))
}

/// Whether a function only creates or takes locks, judged by the words of its name. Examples are
/// `std::mutex::lock`, `g_mutex_init`, `RWLock::RWLock()` and `PyThread_allocate_lock`.
fn wraps_a_lock(frame: &Frame) -> bool {
    const WORDS: [&str; 9] =
        ["mutex", "lock", "rwlock", "spinlock", "rwl", "mtx", "lck", "wrlock", "rdlock"];
    let name = frame.function.split('(').next().unwrap_or_default();
    let mut word = String::new();
    let mut before_lower = false;
    // A word begins at an upper-case letter only if a lower-case one precedes it, so `RWLock` is
    // one word.
    for c in name.chars().chain(std::iter::once(' ')) {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && before_lower);
        if begins {
            if WORDS.contains(&word.to_lowercase().as_str()) {
                return true;
            }
            word.clear();
        }
        if c.is_alphanumeric() {
            word.push(c);
        }
        before_lower = c.is_lowercase();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{taker_of, without_parameters};
    use crate::from_profile::synthetic::frame;

    #[test]
    fn parameters_are_left_out_and_nothing_else() {
        for (name, short) in [
            ("db::accept(char const*, unsigned long)", "db::accept"),
            ("db::size() const", "db::size"),
            ("run(void (*)(int))", "run"),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
            ("less::operator()(int) const", "less::operator()"),
            ("plain_c", "plain_c"),
            ("less::operator()", "less::operator()"),
        ] {
            assert_eq!(without_parameters(name), short);
        }
    }

    #[test]
    fn who_takes_a_lock_is_not_what_wraps_it() {
        let site = [frame("std::mutex::lock()", 1), frame("get(int)", 2), frame("main", 3)];
        assert!(taker_of(&site).starts_with("get in "), "{}", taker_of(&site));
        assert!(taker_of(&site[..1]).starts_with("std::mutex::lock in "));
        assert_eq!(taker_of(&[]), "an unknown place");
        let atomic = ["syscall", "std::__detail::__platform_wait<int>(int const*, int)", "work"];
        let site: Vec<_> = atomic.iter().zip(1..).map(|(name, at)| frame(name, at)).collect();
        assert!(taker_of(&site).starts_with("work in "), "{}", taker_of(&site));
    }
}
