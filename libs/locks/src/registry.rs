//! The list of locks: one line each.

use core::fmt;
use core::str::FromStr;

use kilocore_platform::Platform;

use crate::LockVisitor;

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
    /// Its names in published data sets.
    pub aliases: &'static [&'static str],
}

/// Writes the enum and its tables from one line per lock.
macro_rules! registry {
    ($($(#[$doc:meta])* $variant:ident => $module:ident;)*) => {
        /// A lock algorithm, by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum LockId {
            $($(#[$doc])* $variant,)*
        }

        impl LockId {
            /// All locks, in the order in which they are listed.
            pub const ALL: &'static [LockId] = &[$(LockId::$variant),*];

            /// What is known of it.
            #[must_use]
            pub const fn info(self) -> &'static LockInfo {
                match self { $(LockId::$variant => &crate::$module::INFO,)* }
            }

            /// Runs `visitor` with the lock's type.
            #[inline(always)]
            pub fn visit<P: Platform, V: LockVisitor<P>>(self, visitor: V) -> V::Output {
                match self {
                    $(LockId::$variant => visitor.visit::<crate::$module::$variant<P>>(),)*
                }
            }
        }
    };
}

registry! {
    /// [`Tas`](crate::Tas)
    Tas => tas;
    /// [`Ttas`](crate::Ttas)
    Ttas => ttas;
    /// [`Backoff`](crate::Backoff)
    Backoff => backoff;
    /// [`Ticket`](crate::Ticket)
    Ticket => ticket;
    /// [`TicketBackoff`](crate::TicketBackoff)
    TicketBackoff => ticket_backoff;
    /// [`Partitioned`](crate::Partitioned)
    Partitioned => partitioned;
    /// [`Alock`](crate::Alock)
    Alock => alock;
    /// [`Mcs`](crate::Mcs)
    Mcs => mcs;
    /// [`Clh`](crate::Clh)
    Clh => clh;
    /// [`McsPark`](crate::McsPark)
    McsPark => mcs_park;
    /// [`ClhPark`](crate::ClhPark)
    ClhPark => clh_park;
    /// [`McsTp`](crate::McsTp)
    McsTp => mcs_tp;
    /// [`Futex`](crate::Futex)
    Futex => futex;
    /// [`Adaptive`](crate::Adaptive)
    Adaptive => adaptive;
    /// [`Mutexee`](crate::Mutexee)
    Mutexee => mutexee;
    /// [`Cna`](crate::Cna)
    Cna => cna;
    /// [`CBoMcs`](crate::CBoMcs)
    CBoMcs => c_bo_mcs;
    /// [`CBoMcsPark`](crate::CBoMcsPark)
    CBoMcsPark => c_bo_mcs_park;
    /// [`CTktTkt`](crate::CTktTkt)
    CTktTkt => c_tkt_tkt;
    /// [`CPtlTkt`](crate::CPtlTkt)
    CPtlTkt => c_ptl_tkt;
    /// [`Hmcs`](crate::Hmcs)
    Hmcs => hmcs;
    /// [`Ahmcs`](crate::Ahmcs)
    Ahmcs => ahmcs;
    /// [`Hticket`](crate::Hticket)
    Hticket => hticket;
    /// [`Malthusian`](crate::Malthusian)
    Malthusian => malthusian;
    /// [`MalthusianSpin`](crate::MalthusianSpin)
    MalthusianSpin => malthusian_spin;
    /// [`Requester`](crate::Requester)
    Requester => requester;
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
        f.write_str("no such lock; the locks are:")?;
        for lock in LockId::ALL {
            write!(f, " {lock}")?;
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
