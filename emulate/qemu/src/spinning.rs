//! Threads that wait by reading the same words again and again.
//!
//! Kilocore's own locks [announce](wait) that they do. Of others it is guessed.
//!
//! A thread that has read nothing but a few words, some times, and has written nothing meanwhile, waits for one of
//! them to change, or is about to do something else soon. It sleeps until the line is written that it read last and
//! does not have to itself. If nobody writes it for long, the thread goes on ([`crate::repeats`]).

use std::ffi::c_uint;

use kilocore_platform::Cycles;

use crate::counts::SLEEPS;
use crate::repeats::Sleep;
use crate::site::Site;
use crate::{calls, clock, guest, memory, stops, takes};

/// The thread that runs sleeps until somebody writes the line of this word, which it has read again and again.
#[inline(never)]
pub(crate) fn sleep(vcpu: c_uint, address: u64, site: &Site) {
    let Some(thread) = guest::this_thread() else { return };
    let Some(Sleep { patience, turn }) = thread.repeats.sleep(site) else { return };
    SLEEPS.more();
    let word = shared(vcpu, thread.repeats.newest_first()).unwrap_or(address);
    let before = clock::now();
    let written = guest::simulate(&thread, |guest| {
        calls::is_at(guest, site);
        guest.spin_on(word, patience)
    });
    stops::has_waited(|| stops::after(site));
    if thread.guest.is_let_go() {
        return;
    }
    let slept = clock::now().since(before);
    if written {
        // It would have looked at the end of a turn.
        guest::simulate(&thread, |guest| {
            guest.spin(Cycles(turn.0 - 1 - slept.0 % turn.0));
            guest.catch_up();
        });
        stops::has_waited(|| stops::after(site));
        thread.repeats.has_woken(site);
    } else {
        thread.repeats.has_slept_in_vain(site, slept);
    }
}

/// The thread that runs sleeps until somebody writes the line of this word, for which it waits, or for as long as the
/// turns of its loop take that are left at an address. Those that it would have made meanwhile are taken away from these.
#[inline(never)]
pub(crate) fn wait(word: u64, left: u64, site: &Site) {
    let Some(thread) = guest::this_thread() else { return };
    let Some(turns) = memory::load(left).filter(|&turns| turns > 0) else { return };
    SLEEPS.more();
    let before = clock::now();
    guest::simulate(&thread, |guest| {
        calls::is_at(guest, site);
        guest.spin_on(word, Cycles(u64::from(turns) * takes::turn()))
    });
    stops::has_waited(|| stops::after(site));
    if thread.guest.is_let_go() {
        return;
    }
    let passed = clock::now().0.saturating_sub(before.0) / takes::turn();
    memory::store(left, turns.saturating_sub(u32::try_from(passed).unwrap_or(u32::MAX)));
}

/// The first of these words of which another core may write the line.
fn shared(vcpu: c_uint, mut words: impl Iterator<Item = u64>) -> Option<u64> {
    let lines = guest::lines(vcpu)?;
    words.find(|&word| lines.allows(word, false) && !lines.allows(word, true))
}
