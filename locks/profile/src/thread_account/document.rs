//! From the account's books to the document: roles, words, edges, ranking, coverage.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;

use crate::{
    Activities, Bottleneck, KernelLockWaits, RoleTimes, RoleWait, SpinPlace, ThreadTimes,
    TimesCoverage, WaitEdge, WaitedFor, WaitedWord, WordKind,
};

use crate::thread_account::book::{AccountTotals, Sums, Waited, part};
use crate::thread_account::findings::{self, OneThread};
use crate::thread_account::graph::{Graph, Weight, graph};
use crate::thread_account::kept::{Activity, WordIndex};
use crate::thread_account::roles::Roles;
use crate::thread_account::{Thread, Word};

/// Words beyond these, which threads waited for longest, are summed up by kind.
const MOST_WORDS: usize = 256;

/// The document of all that was seen.
pub(crate) fn of(
    book: &AccountTotals,
    threads: &[Thread],
    kind_of: &dyn Fn(Word) -> WordKind,
    name_of: &dyn Fn(Word) -> String,
) -> ThreadTimes {
    let seen = book.threads.iter().filter(|thread| thread.seen).map(|thread| thread.id);
    let roles = Roles::new(threads, seen);
    let parties: Vec<WaitedFor> = book
        .threads
        .iter()
        .map(|thread| roles.of(thread.id).map_or(WaitedFor::Outside, WaitedFor::Role))
        .collect();
    let kinds: Vec<WordKind> = book.words.iter().map(|&word| kind_of(word)).collect();
    let (words, place_of) = words(book, &kinds, name_of);
    let single = each_thread(book, &roles, &kinds, &place_of);
    let graph = graph(book.windows.kept(), &parties, &kinds);
    let mut times = ThreadTimes {
        observed: book.observed,
        windows: book.window_count,
        roles: role_times(book, &roles, &single),
        words,
        kernel_locks: kernel_locks(book),
        spins: spins(book),
        edges: edges(&graph, &place_of),
        ranking: ranking(&graph),
        ..ThreadTimes::default()
    };
    times.coverage = coverage(&times.total(), &graph, book);
    times.findings = findings::findings(&times, &single, book.cores);
    times
}

/// The kernel's locks, the one with the longest waits first.
fn kernel_locks(book: &AccountTotals) -> Vec<KernelLockWaits> {
    let mut waits = book.kernel_locks.clone().unwrap_or_default();
    waits.sort_by(|a, b| b.waited.cmp(&a.waited).then_with(|| a.cmp(b)));
    waits.truncate(MOST_WORDS);
    waits
}

/// Where threads spun, the place with the most samples first.
fn spins(book: &AccountTotals) -> Vec<SpinPlace> {
    let mut places = book.spins.clone();
    places.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.function.cmp(&b.function)));
    places.truncate(MOST_WORDS);
    places
}

/// The words in the order of the document, and the place in it of each word of the book.
fn words(
    book: &AccountTotals,
    kinds: &[WordKind],
    name_of: &dyn Fn(Word) -> String,
) -> (Vec<WaitedWord>, Vec<u32>) {
    let mut sums = vec![WaitedWord::default(); book.words.len()];
    for (&(_, word), waited) in &book.waited {
        let sum = &mut sums[word.get()];
        sum.waited = sum.waited.saturating_add(waited.waited);
        sum.count += waited.count;
        sum.threads += 1;
    }
    let mut order: Vec<usize> = (0..sums.len()).filter(|&index| sums[index].threads > 0).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(sums[index].waited), book.words[index]));
    let mut place_of = vec![0; book.words.len()];
    let mut words: Vec<WaitedWord> = Vec::new();
    let mut others: BTreeMap<WordKind, usize> = BTreeMap::new();
    for (rank, &index) in order.iter().enumerate() {
        let (word, kind, sum) = (book.words[index], kinds[index], &sums[index]);
        let mut fresh = || {
            let (id, process, address) = (words.len() as u32, word.space, word.address);
            let name = name_of(word);
            words.push(WaitedWord { id, process, address, kind, name, ..WaitedWord::default() });
            words.len() - 1
        };
        let place =
            if rank < MOST_WORDS { fresh() } else { *others.entry(kind).or_insert_with(fresh) };
        let entry = &mut words[place];
        entry.waited = entry.waited.saturating_add(sum.waited);
        entry.count += sum.count;
        entry.threads += sum.threads;
        entry.words += 1;
        place_of[index] = place as u32;
    }
    in_order(words, &mut place_of)
}

/// Sums of others may be longer than what has an entry of its own, so the entries are sorted again.
fn in_order(mut words: Vec<WaitedWord>, place_of: &mut [u32]) -> (Vec<WaitedWord>, Vec<u32>) {
    words.sort_by_key(|word| (std::cmp::Reverse(word.waited), word.id));
    let mut new_id = vec![0; words.len()];
    for (place, word) in words.iter_mut().enumerate() {
        new_id[word.id as usize] = place as u32;
        word.id = place as u32;
        if word.words > 1 {
            (word.process, word.address) = (0, 0);
            word.name.clear();
        }
    }
    for place in place_of.iter_mut() {
        *place = new_id.get(*place as usize).copied().unwrap_or(0);
    }
    (words, place_of.to_vec())
}

/// What each thread did, in the order of their numbers.
fn each_thread(
    book: &AccountTotals,
    roles: &Roles,
    kinds: &[WordKind],
    place_of: &[u32],
) -> Vec<OneThread> {
    let mut single: Vec<OneThread> =
        roles.threads().map(|(id, role)| OneThread { id, role, ..OneThread::default() }).collect();
    let place = |id| single.binary_search_by_key(&id, |thread: &OneThread| thread.id).ok();
    let places: Vec<Option<usize>> = book.threads.iter().map(|thread| place(thread.id)).collect();
    for (watched, place) in book.threads.iter().zip(&places) {
        if let Some(place) = *place {
            single[place].times = simple(&watched.sums);
        }
    }
    for (&(thread, word), waited) in &book.waited {
        let Some(place) = places[thread.get()] else { continue };
        let one = &mut single[place];
        let activity = of_kind(&mut one.times, kinds[word.get()]);
        *activity = activity.saturating_add(waited.waited);
        let wait = one.waits.entry(place_of[word.get()]).or_default();
        wait.count += waited.count;
        wait.waited = wait.waited.saturating_add(waited.waited);
    }
    for one in &mut single {
        one.times.absent = book.observed.saturating_sub(one.times.present());
    }
    single
}

/// Everything but waits at futex words. Of time on a core, only spinning is told apart yet.
fn simple(sums: &Sums) -> Activities {
    let spinning = sums.spinning();
    Activities {
        undivided: sums.running.saturating_sub(spinning),
        spinning,
        ready: sums.ready,
        ends: sums.ends,
        sleep: sums.sleep,
        io: sums.io,
        kernel_locks: sums.kernel_locks,
        page_faults: sums.page_faults,
        other: sums.other,
        unknown: sums.unknown,
        ..Activities::default()
    }
}

/// The activity of waiting for a word of that kind.
fn of_kind(times: &mut Activities, kind: WordKind) -> &mut Nanoseconds {
    match kind {
        WordKind::Lock | WordKind::ReadWriteLock | WordKind::GlobalInterpreterLock => {
            &mut times.locks
        }
        WordKind::Condition => &mut times.work,
        WordKind::Barrier => &mut times.barriers,
        WordKind::Join => &mut times.ends,
        WordKind::Idle => &mut times.idle,
        WordKind::Unknown => &mut times.unclassified,
    }
}

fn role_times(book: &AccountTotals, roles: &Roles, single: &[OneThread]) -> Vec<RoleTimes> {
    let of_key = |(id, key): (usize, &crate::thread_account::roles::Key)| RoleTimes {
        id: id as u32,
        process: key.process,
        name: key.name.clone(),
        main: !key.not_main,
        ..RoleTimes::default()
    };
    let mut all: Vec<RoleTimes> = roles.keys.iter().enumerate().map(of_key).collect();
    let mut waits: Vec<BTreeMap<u32, Waited>> = vec![BTreeMap::new(); all.len()];
    for one in single {
        let role = &mut all[one.role as usize];
        role.threads += 1;
        role.busiest = role.busiest.max(one.times.computing());
        role.times += one.times;
        for (&word, waited) in &one.waits {
            let sum = waits[one.role as usize].entry(word).or_default();
            sum.count += waited.count;
            sum.waited = sum.waited.saturating_add(waited.waited);
        }
    }
    let mut ticks = vec![(0_u64, 0_u64, 0_u64); all.len()];
    for watched in &book.threads {
        if let Some(role) = roles.of(watched.id) {
            let ticks = &mut ticks[role as usize];
            ticks.0 += watched.sums.user_ticks;
            ticks.1 += watched.sums.spin_ticks;
            ticks.2 += watched.sums.kernel_ticks;
        }
    }
    for ((role, waits), ticks) in all.iter_mut().zip(waits).zip(ticks) {
        divide(&mut role.times, ticks);
        role.waits = waits
            .into_iter()
            .map(|(word, Waited { count, waited })| RoleWait { word, waited, count })
            .collect();
        role.waits.sort_by_key(|wait| (std::cmp::Reverse(wait.waited), wait.word));
    }
    all
}

/// Divides the time on a core as the samples of the whole role do: a single thread has few.
fn divide(times: &mut Activities, (user, spinning, kernel): (u64, u64, u64)) {
    let running = times.undivided.saturating_add(times.spinning);
    if user + spinning + kernel == 0 {
        return;
    }
    times.spinning = part(running, spinning, user + spinning + kernel);
    let others = running.saturating_sub(times.spinning);
    times.user = part(others, user, user + kernel);
    times.kernel = others.saturating_sub(times.user);
    times.undivided = Nanoseconds(0);
}

/// The edges by places in the document.
fn edges(graph: &Graph, place_of: &[u32]) -> Vec<WaitEdge> {
    let mut sums: BTreeMap<(u32, WaitedFor, u32), Weight> = BTreeMap::new();
    for (&(from, to, WordIndex(word)), weight) in &graph.edges {
        let sum = sums.entry((from, to, place_of[word as usize])).or_default();
        sum.direct = sum.direct.saturating_add(weight.direct);
        sum.in_all = sum.in_all.saturating_add(weight.in_all);
    }
    let edge =
        |((from, to, word), Weight { direct, in_all })| WaitEdge { from, to, word, direct, in_all };
    let mut edges: Vec<WaitEdge> = sums.into_iter().map(edge).collect();
    edges.sort_by_key(|edge| (std::cmp::Reverse(edge.in_all), edge.from, edge.to, edge.word));
    edges
}

fn ranking(graph: &Graph) -> Vec<Bottleneck> {
    let all: f64 = graph.ends.values().map(|time| time.0 as f64).sum();
    let mut of_role: BTreeMap<u32, Bottleneck> = BTreeMap::new();
    for (&(party, doing), &time) in &graph.ends {
        let WaitedFor::Role(role) = party else { continue };
        let one = of_role.entry(role).or_default();
        one.role = role;
        one.waited_for = one.waited_for.saturating_add(time);
        match doing {
            Activity::Computing => one.computing = time,
            Activity::Ready => one.ready = time,
            Activity::Asleep => one.asleep = time,
            Activity::Unknown => {}
        }
    }
    let mut ranking: Vec<Bottleneck> = of_role.into_values().collect();
    for one in &mut ranking {
        one.score = one.waited_for.0 as f64 / all;
    }
    ranking.sort_by_key(|one| (std::cmp::Reverse(one.waited_for), one.role));
    ranking
}

fn coverage(total: &Activities, graph: &Graph, book: &AccountTotals) -> TimesCoverage {
    let present = total.present();
    let to_unknown = graph.edges.iter().filter(|((_, to, _), _)| *to == WaitedFor::Unknown);
    let to_unknown = Nanoseconds::saturating_sum(to_unknown.map(|(_, weight)| weight.direct));
    let all = Nanoseconds::saturating_sum(graph.edges.values().map(|weight| weight.direct));
    let ticks = |sums: &Sums| sums.user_ticks + sums.spin_ticks + sums.kernel_ticks > 0;
    TimesCoverage {
        unknown_share: total.unknown.share_of(present),
        unclassified_share: total.unclassified.share_of(present),
        unknown_target_share: to_unknown.share_of(all),
        wakings_seen: book.wakings_unseen == 0 || book.wakings > book.wakings_unseen,
        kernel_locks_seen: book.kernel_locks.is_some(),
        ticks_seen: book.threads.iter().any(|thread| ticks(&thread.sums)),
        graph_time: graph.time,
    }
}
