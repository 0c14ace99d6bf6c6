//! What is known about each lock, and the macro that turns a list of lines into the registry.

use crate::{LockId, RwLockId};

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

/// Declares the modules of the locks, and writes the enum and its tables, from one line for each
/// lock.
macro_rules! locks {
    ($($module:ident => $lock:ident $(, $part:ident)*;)*) => {
        $(
            mod $module;
            pub use $module::{$lock $(, $part)*};
        )*

        $(
            #[cfg(feature = "native")]
            keeps_thread!($lock<kilocore_platform::Native>);
        )*

        /// The locks with data. They are public as a part of `sync`.
        #[cfg(feature = "lock_api")]
        mod with_data {
            $(
                #[doc = concat!("[`", stringify!($lock), "`](crate::", stringify!($lock), ")")]
                /// with data.
                pub mod $module {
                    crate::sync::mutex_types!(crate::$lock<kilocore_platform::Native>);
                }
            )*
        }

        /// A lock algorithm, by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum LockId {
            $(
                #[doc = concat!("[`", stringify!($lock), "`](crate::", stringify!($lock), ")")]
                $lock,
            )*
        }

        impl LockId {
            /// All locks, in the order in which they are listed.
            pub const ALL: &'static [LockId] = &[$(LockId::$lock),*];

            /// Returns what is known about the lock.
            #[must_use]
            pub const fn info(self) -> &'static LockInfo {
                match self { $(LockId::$lock => &$module::INFO,)* }
            }

            /// Runs `visitor` with the type of the lock.
            #[inline(always)]
            pub fn visit<P: kilocore_platform::Platform, V: LockVisitor<P>>(
                self,
                visitor: V,
            ) -> V::Output {
                match self {
                    $(LockId::$lock => visitor.visit::<$lock<P>>(),)*
                }
            }
        }
    };
}

/// Declares the modules of the read-write locks, and writes the enum and its tables, from one line
/// for each lock.
macro_rules! rw_locks {
    ($($module:ident => $lock:ident;)*) => {
        $(
            mod $module;
            pub use $module::$lock;
        )*

        /// The read-write locks with data. They are public as a part of `sync`.
        #[cfg(feature = "lock_api")]
        mod rw_with_data {
            $(
                #[doc = concat!("[`", stringify!($lock), "`](crate::", stringify!($lock), ")")]
                /// with data.
                pub mod $module {
                    crate::sync::rw_lock_types!(crate::$lock<kilocore_platform::Native>);
                }
            )*
        }

        /// A read-write lock algorithm, by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum RwLockId {
            $(
                #[doc = concat!("[`", stringify!($lock), "`](crate::", stringify!($lock), ")")]
                $lock,
            )*
        }

        impl RwLockId {
            /// All read-write locks, in the order in which they are listed.
            pub const ALL: &'static [RwLockId] = &[$(RwLockId::$lock),*];

            /// Returns what is known about the lock.
            #[must_use]
            pub const fn info(self) -> &'static LockInfo {
                match self { $(RwLockId::$lock => &$module::INFO,)* }
            }

            /// Whether the last user may destroy the lock as soon as it has left it; see
            /// [`RawRwLock::HOLDER_MAY_DESTROY`]. Locks under unmodified programs need this.
            #[must_use]
            pub const fn holder_may_destroy<P: kilocore_platform::Platform>(self) -> bool {
                match self { $(RwLockId::$lock => <$lock<P> as RawRwLock<P>>::HOLDER_MAY_DESTROY,)* }
            }

            /// Runs `visitor` with the type of the lock.
            #[inline(always)]
            pub fn visit<P: kilocore_platform::Platform, V: RwLockVisitor<P>>(
                self,
                visitor: V,
            ) -> V::Output {
                match self {
                    $(RwLockId::$lock => visitor.visit::<$lock<P>>(),)*
                }
            }
        }
    };
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
                let locks = || $id::ALL.iter().copied();
                locks()
                    .find(|lock| lock.name() == name)
                    .or_else(|| locks().find(|lock| lock.info().aliases.contains(&name)))
                    .ok_or($unknown)
            }
        }
    };
}

known_by_name!(LockId, UnknownLock, "lock");
known_by_name!(RwLockId, UnknownRwLock, "read-write lock");
