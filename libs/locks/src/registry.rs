//! What is known about each lock, and the macro that turns a list of lines into the registry.
//!
//! # How to add a lock
//! Say the lock is called *example*.
//!
//! 1. Write `example.rs` beside this file. It opens with what the lock is, where it comes from and where
//!    it departs from its source. Take `ticket.rs` as the pattern: a struct generic over `P: Platform`,
//!    an `INFO` constant, and `unsafe impl RawLock<P>` with a `SAFETY` comment that argues. The
//!    documentation of `RawLock` says what you promise. The lock takes at most 16 bytes, and all zeros
//!    is a free lock. Any thread may release it. A release touches nothing after the store that lets
//!    the next holder in. A lock that needs more memory is the `Body` of an `Inflatable`, which keeps
//!    the first two promises for it; take `partitioned.rs` as the
//!    pattern. The field `waiting` of `INFO` tells forecasts which locks do alike.
//!
//!    ```text
//!    pub struct Example<P: Platform> {
//!        word: P::U32,
//!    }
//!
//!    pub(crate) const INFO: LockInfo = LockInfo {
//!        name: "example",
//!        title: "…",
//!        source: "…",
//!        best_at: "…",
//!        worst_at: "…",
//!        waiting: Waiting::SpinUnordered,
//!        aliases: &[],
//!    };
//!    ```
//!
//! 2. Add a line to the list `locks!` in `lib.rs`: the name of the file, the lock, and
//!    whatever else of the file is public.
//!
//!    ```text
//!    example => Example;
//!    ```
//!
//! 3. That is all. `cargo test -p kilocore-locks` now model-checks the lock, and `cargo bench -p
//!    kilocore-locks` compares it with the others. `kilocore-lab lock --lock example …` simulates
//!    it, `kilocore list locks` lists it, and `kilocore run --lock example -- …` puts it under programs.
//!    Format the file with `rustfmt --edition 2024`, as `cargo fmt` does not see into the list.
//!    Wait with `P::wait_until` or `P::park`, and never with a loop of your own around a load: these
//!    two calls make waiting cheap to simulate.
//!
//! 4. Show that the check can fail. In `tests/planted.rs`, take the call that your lock
//!    depends on most, and let it lose its effect or tear it in two. If an error takes more than one
//!    call, write a broken twin of the lock (`broken*.rs`).
//!
//! 5. `make weaken` weakens each of your orderings in turn. If no check notices that an ordering was
//!    weakened, there are two ways out. Either make the ordering weaker in the source, or put a comment
//!    right above the call. The comment begins with `Argued:` and says what would go wrong and why loom
//!    does not see it. Commit `docs/evidence/orderings`.

use kilocore_platform::Platform;

use crate::{LockId, RawRwLock, RwLockId, RwLockVisitor};

/// What one needs to know about a lock to choose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockInfo {
    /// The name of the lock on the command line.
    pub name: &'static str,
    /// What kind of lock it is, in a few words.
    pub title: &'static str,
    /// The paper or program that it comes from.
    pub source: &'static str,
    /// Where it does well.
    pub best_at: &'static str,
    /// Where it does badly.
    pub worst_at: &'static str,
    /// How its waiters wait.
    pub waiting: Waiting,
    /// Its names in published data sets.
    pub aliases: &'static [&'static str],
}

/// How the waiters of a lock wait.
///
/// Programs perform about the same under locks whose waiters wait in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Waiting {
    /// All waiters watch one word. The first to try after it became free acquires the lock.
    SpinUnordered,
    /// Waiters sleep, at once or after a while. The first to try acquires the lock.
    SleepUnordered,
    /// All waiters watch one word until it is their turn.
    SpinInTurn,
    /// Waiters whose turn is near watch one word. The others rest at low power or sleep.
    RestInTurn,
    /// Waiters stand in one queue or several. Each word is watched by one waiter or by few.
    SpinInQueue,
    /// Waiters stand in one queue or several, and sleep after a while.
    ParkInQueue,
}

impl Waiting {
    /// Whether waiters give up their core after a while, so that the holder gets one.
    #[must_use]
    pub const fn sleeps(self) -> bool {
        match self {
            Self::SleepUnordered | Self::RestInTurn | Self::ParkInQueue => true,
            Self::SpinUnordered | Self::SpinInTurn | Self::SpinInQueue => false,
        }
    }

    /// Whether a release hands the lock to a waiter that is determined in advance and that may not
    /// be running. If it does not, a waiter that has lost its core delays nobody.
    #[must_use]
    pub const fn hands_over(self) -> bool {
        !matches!(self, Self::SpinUnordered | Self::SleepUnordered)
    }
}

/// Declares the modules of the locks of one kind, and writes the enum of their names and its tables,
/// from one line for each lock.
macro_rules! registry {
    (
        $(#[$doc:meta])*
        $id:ident, visited by $visitor:ident, with data in $with_data:ident by $types:ident:
        $($module:ident => $lock:ident $(, $part:ident)*;)*
    ) => {
        $(
            mod $module;
            pub use $module::{$lock $(, $part)*};
        )*

        /// The locks with data. They are public as a part of `sync`.
        #[cfg(feature = "lock_api")]
        mod $with_data {
            $(
                #[doc = concat!("[`", stringify!($lock), "`](crate::", stringify!($lock), ")")]
                /// with the data that it protects, behind the interface of `lock_api`.
                pub mod $module {
                    crate::sync::$types!(crate::$lock<kilocore_platform::Native>);
                }
            )*
        }

        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $id {
            $(
                #[doc = concat!("[`", stringify!($lock), "`](crate::", stringify!($lock), ")")]
                $lock,
            )*
        }

        impl $id {
            /// All of them, in the order in which they are listed.
            pub const ALL: &'static [$id] = &[$($id::$lock),*];

            /// Returns what is known about the lock.
            #[must_use]
            pub const fn info(self) -> &'static LockInfo {
                match self { $($id::$lock => &$module::INFO,)* }
            }

            /// Runs `visitor` with the type of the lock.
            #[inline(always)]
            pub fn visit<P: kilocore_platform::Platform, V: $visitor<P>>(
                self,
                visitor: V,
            ) -> V::Output {
                match self {
                    $($id::$lock => visitor.visit::<$lock<P>>(),)*
                }
            }
        }
    };
}

/// Declares the mutual-exclusion locks.
macro_rules! locks {
    ($($module:ident => $lock:ident $(, $part:ident)*;)*) => {
        registry! {
            /// A lock algorithm, by name.
            LockId, visited by LockVisitor, with data in with_data by mutex_types:
            $($module => $lock $(, $part)*;)*
        }

        $(
            #[cfg(feature = "native")]
            keeps_thread!($lock<kilocore_platform::Native>);
        )*
    };
}

/// Declares the read-write locks.
macro_rules! rw_locks {
    ($($lines:tt)*) => {
        registry! {
            /// A read-write lock algorithm, by name.
            RwLockId, visited by RwLockVisitor, with data in rw_with_data by rw_lock_types:
            $($lines)*
        }
    };
}

impl RwLockId {
    /// Returns the locks that can be put under a program that knows nothing of them: it may free a
    /// lock as soon as the last user has left it; see
    /// [`RawRwLock::HOLDER_MAY_DESTROY`].
    pub fn for_programs<P: Platform>() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|lock| lock.is_for_programs::<P>())
    }

    /// Returns whether the lock is one of [`for_programs`](Self::for_programs).
    #[must_use]
    pub fn is_for_programs<P: Platform>(self) -> bool {
        struct Ask;
        impl<P: Platform> RwLockVisitor<P> for Ask {
            type Output = bool;
            fn visit<L: RawRwLock<P>>(self) -> bool {
                L::HOLDER_MAY_DESTROY
            }
        }
        self.visit::<P, _>(Ask)
    }

    /// Returns whether a writer that waits never keeps a reader out; see
    /// [`RawRwLock::READERS_PASS_WRITERS`].
    #[must_use]
    pub fn readers_pass_writers<P: Platform>(self) -> bool {
        struct Ask;
        impl<P: Platform> RwLockVisitor<P> for Ask {
            type Output = bool;
            fn visit<L: RawRwLock<P>>(self) -> bool {
                L::READERS_PASS_WRITERS
            }
        }
        self.visit::<P, _>(Ask)
    }
}

/// Writes what makes a registry's enum known by name: its name, its text, and the error for a name
/// that nothing has.
macro_rules! known_by_name {
    ($id:ident, $unknown:ident, $what:literal) => {
        impl $id {
            /// Returns the name of the lock on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                self.info().name
            }

            /// Returns the lock that has this name, or else the one that is also called so.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                let locks = || $id::ALL.iter().copied();
                locks()
                    .find(|lock| lock.name() == name)
                    .or_else(|| locks().find(|lock| lock.info().aliases.contains(&name)))
            }
        }

        impl core::fmt::Display for $id {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }

        #[doc = concat!("The error for a name that no ", $what, " has.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $unknown;

        impl core::fmt::Display for $unknown {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!("unknown ", $what, "; known are "))?;
                for (i, lock) in $id::ALL.iter().enumerate() {
                    write!(f, "{}{lock}", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }

        impl core::error::Error for $unknown {}

        impl core::str::FromStr for $id {
            type Err = $unknown;

            fn from_str(name: &str) -> Result<Self, $unknown> {
                Self::named(name).ok_or($unknown)
            }
        }
    };
}

known_by_name!(LockId, UnknownLock, "lock");
known_by_name!(RwLockId, UnknownRwLock, "read-write lock");
