//! Functions that are called when a lock has to be waited for, or when a goroutine parks.
//!
//! Some locks' waiters do not sleep on the lock's word. Goroutines park, and their thread goes on
//! with another one; waiters of parking_lot and absl sleep on words of their own. But all of them
//! call a slow path with the lock as an argument. Where such functions are in a program, their
//! calls are watched in some windows. A goroutine that called one waits until it is made ready,
//! by a function that has it as its argument.

use std::ops::Range;

use crate::word_names::Names;

use crate::registers::Registers;

/// What is known from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// The word of a lock that has to be waited for.
    Waits(u64),
    /// The running goroutine parks, with the lock of what it waits for in its hands.
    Parks(u64),
    /// A goroutine is made ready.
    Ready(u64),
}

/// Where the argument of a function leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Argument {
    /// In C and Rust, to a lock.
    Lock,
    /// In Go, to a lock's word, so many bytes further.
    Word(i64),
    /// To a semaphore of Go, which lies in its lock where the caller says.
    Semaphore,
    /// Go's park and ready.
    Park,
    Goroutine,
}

/// A function, by parts of its name as the linker knows it.
struct Function {
    parts: &'static [&'static str],
    argument: Argument,
}

const fn function(parts: &'static [&'static str], argument: Argument) -> Function {
    Function { parts, argument }
}

/// Goroutines park and are made ready in these.
const GO: [Function; 2] = [
    function(&["runtime.gopark"], Argument::Park),
    function(&["runtime.ready"], Argument::Goroutine),
];

/// Go's slow paths. In older versions, the last one is called for all.
const GO_LOCKS: [Function; 5] = [
    function(&["sync.(*Mutex).lockSlow"], Argument::Word(0)),
    function(&["internal/sync.(*Mutex).lockSlow"], Argument::Word(0)),
    // Readers and writers wait for semaphores before the count of readers.
    function(&["sync.runtime_SemacquireRWMutexR"], Argument::Word(4)),
    function(&["sync.runtime_SemacquireRWMutex"], Argument::Word(8)),
    function(&["sync.runtime_SemacquireMutex"], Argument::Semaphore),
];

/// Those of other languages.
const LOCKS: [Function; 6] = [
    function(&["11parking_lot9raw_mutex", "9lock_slow"], Argument::Lock),
    function(&["11parking_lot10raw_rwlock", "19lock_exclusive_slow"], Argument::Lock),
    function(&["11parking_lot10raw_rwlock", "16lock_shared_slow"], Argument::Lock),
    // Each may be inlined into its callers.
    function(&["_ZN4absl", "5Mutex8LockSlowE"], Argument::Lock),
    function(&["_ZN4absl", "5Mutex20LockSlowWithDeadlineE"], Argument::Lock),
    function(&["_ZN4absl", "5Mutex12LockSlowLoopE"], Argument::Lock),
];

/// The slow path of a lock in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlowPath {
    /// Where the function begins.
    pub(crate) address: u64,
    argument: Argument,
}

/// Those of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SlowPaths {
    /// What goroutines call whatever they wait for. Empty in other languages.
    goroutines: Vec<SlowPath>,
    locks: Vec<SlowPath>,
    /// The code of the C library's read-write locks.
    read_write: Vec<Range<u64>>,
    /// Code that is only run to wait for a lock on a core, in loops that do more than that.
    spinning: Vec<Range<u64>>,
}

/// The library of Java's virtual machine.
const JAVA: &str = "libjvm.so";
/// Its functions that spin for a lock, and look at other things meanwhile: the thread that spins for a Java monitor
/// looks whether it is to stop for the machine, and whether the holder runs.
const SPINNING: [&[&str]; 3] = [
    &["13ObjectMonitor", "7TrySpin"],
    // Older ones.
    &["13ObjectMonitor", "16TrySpin_VaryDuration"],
    &["SpinPause"],
];

/// How many words of a stack may lie between a system call and the C library's function for a lock.
const FRAME: usize = 32;

impl SlowPaths {
    /// Those of a process.
    pub(crate) fn of(names: &mut Names) -> Self {
        let is_go = names.is_go();
        let mut find = |functions: &[Function], exactly: bool| -> Vec<SlowPath> {
            let is = |function: &Function, name: &str| match exactly {
                true => function.parts == [name],
                false => function.parts.iter().all(|part| name.contains(part)),
            };
            let index = |name: &str| functions.iter().position(|function| is(function, name));
            names
                .functions(&index)
                .into_iter()
                .map(|(index, code)| SlowPath {
                    address: code.start,
                    argument: functions[index].argument,
                })
                .collect()
        };
        if is_go {
            Self { goroutines: find(&GO, true), locks: find(&GO_LOCKS, true), ..Self::default() }
        } else {
            let calls =
                ["rdlock", "wrlock", "timedrdlock", "timedwrlock", "clockrdlock", "clockwrlock"];
            let index = |name: &str| {
                let call = name.trim_start_matches('_').strip_prefix("pthread_rwlock_")?;
                calls.iter().position(|one| *one == call)
            };
            let locks = find(&LOCKS, false);
            let read_write = names.functions(&index).into_iter().map(|(_, code)| code).collect();
            let spins = |name: &str| {
                SPINNING.iter().any(|parts| parts.iter().all(|part| name.contains(part)))
            };
            let spinning = names.definitions(JAVA, &spins).into_values().collect();
            Self { goroutines: Vec::new(), locks, read_write, spinning }
        }
    }

    /// Whether goroutines run on whatever thread there is.
    pub(crate) fn has_goroutines(&self) -> bool {
        !self.goroutines.is_empty()
    }

    /// Whether a thread that sleeps in a futex waits for one of the C library's read-write locks.
    pub(crate) fn waits_for_read_write(&self, stack: &[u8]) -> bool {
        let words = stack
            .chunks_exact(8)
            .take(FRAME)
            .map(|word| word.iter().rev().fold(0, |address, byte| address << 8 | u64::from(*byte)));
        words.into_iter().any(|word| self.read_write.iter().any(|code| code.contains(&word)))
    }

    /// Whether a thread that runs there waits for a lock.
    pub(crate) fn spins_at(&self, address: u64) -> bool {
        self.spinning.iter().any(|code| code.contains(&address))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.goroutines.is_empty() && self.locks.is_empty()
    }

    /// At most so many of them, to be watched together. `chance` says which locks' have their turn.
    pub(crate) fn some(&self, most: usize, chance: u64) -> Vec<SlowPath> {
        let mut some = self.goroutines.clone();
        let mut locks = self.locks.clone();
        if !locks.is_empty() {
            let turn = chance as usize % locks.len();
            locks.rotate_left(turn);
        }
        some.extend(locks);
        some.truncate(most);
        some
    }
}

impl SlowPath {
    /// Whether what a call says depends on who called.
    pub(crate) fn needs_caller(self) -> bool {
        matches!(self.argument, Argument::Semaphore | Argument::Park)
    }

    /// What a call says, by the registers at its begin. `caller` is the name of the function that
    /// called.
    pub(crate) fn call(self, registers: &Registers, caller: &str) -> Call {
        let first = registers.first_of_go();
        let further = |offset| Call::Waits(first.wrapping_add_signed(offset));
        match self.argument {
            Argument::Lock => Call::Waits(registers.arguments()[0]),
            Argument::Word(offset) => further(offset),
            // The mutex's word is before its semaphore. Of a read-write lock, the count of readers
            // comes after both semaphores, of which the second is the readers'.
            Argument::Semaphore if caller.contains("RLock") => further(4),
            Argument::Semaphore if caller.contains("RWMutex") => further(8),
            Argument::Semaphore => further(-4),
            Argument::Park => Call::Parks(registers.second_of_go()),
            Argument::Goroutine => Call::Ready(first),
        }
    }
}
