//! The times of threads that do not exist: workers behind a lock, who wait for a flusher now and then.

use kilocore_lock_profile::ThreadTimes;
use kilocore_lock_profile::thread_account::{
    Account, Event, EventKind, Nanoseconds, Reason, Thread, ThreadId, Word, WordKind,
};

const PROCESS: u32 = 4711;
const WORKERS: u32 = 6;
const TURN: u64 = 100_000;
const TURNS: u64 = 240;
const MAIN: u32 = PROCESS;
const LOGGER: u32 = 4712;
const FLUSHER: u32 = 4713;
const READER: u32 = 4714;
const FIRST_WORKER: u32 = 4720;

fn word(address: u64) -> Word {
    Word { space: PROCESS, address }
}

/// The events of a window that begins at `begin`: workers take turns of a tenth of a millisecond with
/// the store's lock. In every third turn the holder waits for the flusher for the half of it.
fn events(begin: u64) -> Vec<(u64, u32, EventKind)> {
    let mut events = vec![
        (begin, MAIN, EventKind::Out(Reason::Futex(word(0x3000)))),
        (begin + 9, LOGGER, EventKind::Out(Reason::Io("write"))),
        (begin + TURN, READER, EventKind::Out(Reason::Sleep)),
    ];
    let worker = |turn: u64| FIRST_WORKER + (turn % u64::from(WORKERS)) as u32;
    for turn in 0..TURNS {
        let (at, me, next) = (begin + turn * TURN, worker(turn), worker(turn + 1));
        events.push((at, me, EventKind::Acquired(word(0x1000))));
        if turn % 3 == 0 {
            events.push((at + 20_000, me, EventKind::Out(Reason::Futex(word(0x2000)))));
            let by = Some(ThreadId(FLUSHER));
            events.push((at + 70_000, me, EventKind::Waking { by }));
            events.push((at + 75_000, me, EventKind::In));
        }
        events.push((at + 90_000, me, EventKind::Tick { kernel: turn % 5 == 0, spins: false }));
        events.push((at + TURN, me, EventKind::Released(word(0x1000))));
        events.push((at + TURN, next, EventKind::Waking { by: Some(ThreadId(me)) }));
        events.push((at + TURN, next, EventKind::In));
        events.push((at + TURN + 10_000, me, EventKind::Out(Reason::Futex(word(0x1000)))));
    }
    events
}

/// What the account says of three such windows.
pub(crate) fn times(worker_name: &str) -> ThreadTimes {
    let mut account = Account::new();
    for begin in [0, 1_000_000_000, 3_000_000_000] {
        account.begin_window(Nanoseconds(begin));
        for (at, thread, what) in events(begin) {
            account.take(&Event { at: Nanoseconds(at), thread: ThreadId(thread), what });
        }
        account.quiet(ThreadId(FLUSHER), None);
        account.end_window(Nanoseconds(begin + TURNS * TURN));
    }
    let thread = |id, name: String| Thread {
        id: ThreadId(id),
        process: PROCESS,
        name,
        function: None,
        main: id == MAIN,
    };
    let named = [(MAIN, "kvstore"), (LOGGER, "logger"), (FLUSHER, "flusher"), (READER, "reader")];
    let mut threads: Vec<Thread> =
        named.into_iter().map(|(id, name)| thread(id, name.to_owned())).collect();
    threads.extend((0..WORKERS).map(|n| thread(FIRST_WORKER + n, format!("{worker_name}-{n}"))));
    let kind = |word: Word| match word.address {
        0x1000 => WordKind::Lock,
        0x2000 => WordKind::Condition,
        _ => WordKind::Join,
    };
    let name = |word: Word| match word.address {
        0x1000 => "Store::put (store.cc:97)".to_owned(),
        0x2000 => "Flusher::wait (flusher.cc:31)".to_owned(),
        _ => String::new(),
    };
    account.finish(&threads, &kind, &name)
}
