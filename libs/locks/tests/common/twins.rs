//! What the tests with broken twins share: how a twin is caught, and why.
#![allow(unused_macros, unused_imports)]

use kilocore_locks::RawLock;
use kilocore_platform::{Platform, Shuttle};

use super::{explore, explore_part, programs, verdict};

/// What shuttle says when all threads that are left sleep: a wake-up was lost.
pub const LOST_WAKE_UP: &[&str] = &["deadlock"];
/// What is said when two are inside: by the cell, if their accesses overlap, or by the count at
/// the end, if each looks before either adds.
pub const RACE: &[&str] = &["race", "an increment was lost"];

pub fn assert_caught<L: RawLock<Shuttle>>(how: &[&str]) {
    assert_caught_in(|| programs::exclusion::<Shuttle, L>(3, 2, programs::all_together), how);
}

pub fn assert_caught_in(program: impl Fn() + Copy + Send + Sync + 'static, how: &[&str]) {
    let message = verdict(|| {
        explore(program, 5_000, 3);
    })
    .expect_err("shuttle finds nothing wrong with the broken twin");
    assert!(how.iter().any(|how| message.contains(how)), "caught for another reason: {message}");
}

/// Implements what the programs below do not use.
macro_rules! rest_of_the_lock {
    () => {
        fn try_acquire(&self, (): &mut ()) -> bool {
            unreachable!("no program here tries")
        }
        unsafe fn forget_waiters(&self, (): &mut ()) {
            unreachable!("no program here forks")
        }
    };
}
pub(crate) use rest_of_the_lock;

pub type Word = <Shuttle as Platform>::U32;
pub type LongWord = <Shuttle as Platform>::U64;
pub type Pointer<T> = <Shuttle as Platform>::Ptr<T>;

/// What the twin without its error must do: pass.
pub fn assert_passes<L: RawLock<Shuttle>>() {
    let program = || programs::exclusion::<Shuttle, L>(3, 2, programs::all_together);
    explore_part(program, 1_000, 3);
}
