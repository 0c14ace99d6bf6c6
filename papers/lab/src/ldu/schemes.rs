//! The schemes that are compared, by name.

use std::fmt;
use std::str::FromStr;

use kilocore_ldu::{Adaptive, Deferred, Global, PerCore, Prompt, Scheme};
use kilocore_locks::{Mcs, NoSharing, ReadersAlone, Rwsem};
use kilocore_machine::names::{UnknownName, find};
use kilocore_rivals::{FlatCombining, Harris, Locked, OpLog, Ordered, Stock, Unordered};
use kilocore_sim::Sim;

/// Something to do with the types of a scheme: one for files and one for anonymous memory.
pub(crate) trait SchemeVisitor {
    type Output;
    fn visit<F: Scheme<Sim>, A: Scheme<Sim>>(self) -> Self::Output;
}

/// The semaphore of the paper's kernel, Linux 3.19, in which writers that spin yield to each other.
pub(crate) type Lock = Rwsem<Sim, 0, true>;
type Semaphore = Locked<Sim, Lock, Stock>;
type Mutex = Locked<Sim, NoSharing<Sim, Mcs<Sim>>>;
type OrderedList = Harris<Sim, Ordered>;
type UnorderedList = Harris<Sim, Unordered>;
type Logs = OpLog<Sim, Lock>;
type Combining = FlatCombining<Sim, NoSharing<Sim, Mcs<Sim>>>;
type LduGlobal = Deferred<Sim, Global<Sim>, Lock>;
type LduAlone = Deferred<Sim, Global<Sim>, ReadersAlone<Lock>>;
type LduPerCore = Deferred<Sim, PerCore<Sim>, Lock>;
type LduPrompt = Prompt<Sim, Lock>;
type LduAdaptive = Deferred<Sim, Global<Sim>, Lock, Adaptive<Sim>>;

/// Generates the registry of schemes.
macro_rules! schemes {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $title:literal: $files:ty, $anonymous:ty;)*) => {
        /// How the reverse mapping is shared between cores.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SchemeId {
            $($(#[$doc])* $id,)*
        }

        impl SchemeId {
            /// All schemes, in the order of the variants.
            pub const ALL: &'static [SchemeId] = &[$(SchemeId::$id),*];

            /// Its name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$id => $name,)*
                }
            }

            /// What it is, in a few words.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$id => $title,)*
                }
            }

            /// Calls the visitor with the types of the scheme.
            pub(crate) fn visit<V: SchemeVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$id => visitor.visit::<$files, $anonymous>(),)*
                }
            }
        }
    };
}

schemes! {
    /// The kernel as it is: read-write semaphores.
    Stock = "stock", "read-write semaphores, as in the kernel": Semaphore, Semaphore;
    /// A lock that readers do not share.
    Mutex = "mutex", "MCS locks, which readers do not share": Mutex, Mutex;
    /// Harris's lists, ordered by pages.
    HarrisOrdered = "harris-ordered", "lock-free lists, ordered": OrderedList, OrderedList;
    /// Harris's lists, with the newest entry first.
    HarrisUnordered = "harris-unordered", "lock-free lists, newest first": UnorderedList, UnorderedList;
    /// Logs on each core, ordered by the time stamps of a clock.
    OpLog = "oplog", "logs on each core, ordered by a clock": Logs, Logs;
    /// One thread applies what the others publish.
    FlatCombining = "flat-combining", "one thread applies what all have published": Combining, Combining;
    /// Logs with one queue for each root.
    LduGlobal = "ldu-global", "deferred-update logs with global queues": LduGlobal, LduGlobal;
    /// Logs as in the paper, where readers exclude each other.
    LduExclusive = "ldu-exclusive", "deferred-update logs whose readers exclude each other, as in the paper": LduAlone, LduAlone;
    /// Logs of insertions alone, so that a removal takes an object out at once.
    LduPrompt = "ldu-prompt", "logs of insertions, which removals cancel or follow under the semaphore": LduPrompt, LduPrompt;
    /// Logs with queues on each core.
    LduPerCore = "ldu-per-core", "deferred-update logs with per-core queues": LduPerCore, LduPerCore;
    /// The paper's combination of logs for files and unordered lists for anonymous memory.
    LduCombined = "ldu-combined", "logs for files, unordered lists for anonymous memory": LduGlobal, UnorderedList;
    /// Logs only where they are faster than the semaphore.
    LduAdaptive = "ldu-adaptive", "logs where they are faster, else the semaphore": LduAdaptive, LduAdaptive;
}

impl FromStr for SchemeId {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("scheme", name, Self::ALL.iter().map(|scheme| (scheme.name(), *scheme)))
    }
}

impl fmt::Display for SchemeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
