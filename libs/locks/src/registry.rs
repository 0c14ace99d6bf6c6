//! What is known of each lock, and what makes a list of lines into their registry.

use core::fmt;
use core::str::FromStr;

use crate::LockId;

/// What is worth knowing of a lock before choosing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockInfo {
    /// The name by which the command line knows it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Where it comes from.
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
/// Programs do much the same under locks whose waiters wait in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Waiting {
    /// All watch one word, and whoever comes first when it is free takes the lock.
    SpinUnordered,
    /// They fall asleep, at once or after a while, and whoever comes first takes the lock.
    SleepUnordered,
    /// All watch one word for their turn.
    SpinInTurn,
    /// Those whose turn is near watch one word for it; the others rest at low power or sleep.
    RestInTurn,
    /// They stand in a queue or several, each or a few watching a word of their own.
    SpinInQueue,
    /// They stand in a queue or several, and fall asleep after a while.
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

    /// Whether the lock is handed to a waiter that was settled before, and that may not be running.
    /// Where it is not, a waiter that lost its core keeps up nobody.
    #[must_use]
    pub const fn hands_over(self) -> bool {
        !matches!(self, Self::SpinUnordered | Self::SleepUnordered)
    }
}

/// Declares the files of the locks, and writes the enum and its tables, from one line for each lock.
macro_rules! locks {
    ($($module:ident => $lock:ident $(, $part:ident)*;)*) => {
        $(
            mod $module;
            pub use $module::{$lock $(, $part)*};
        )*

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

            /// What is known of it.
            #[must_use]
            pub const fn info(self) -> &'static LockInfo {
                match self { $(LockId::$lock => &$module::INFO,)* }
            }

            /// Runs `visitor` with the lock's type.
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

impl LockId {
    /// The name by which the command line knows the lock.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.info().name
    }
}

impl fmt::Display for LockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No lock has the name that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownLock;

impl fmt::Display for UnknownLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown lock; known are ")?;
        for (i, lock) in LockId::ALL.iter().enumerate() {
            write!(f, "{}{lock}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownLock {}

impl FromStr for LockId {
    type Err = UnknownLock;

    fn from_str(name: &str) -> Result<Self, UnknownLock> {
        LockId::ALL
            .iter()
            .copied()
            .find(|lock| lock.name() == name)
            .or_else(|| {
                LockId::ALL.iter().copied().find(|lock| lock.info().aliases.contains(&name))
            })
            .ok_or(UnknownLock)
    }
}
