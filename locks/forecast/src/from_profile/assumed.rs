//! What a translation has to assume, in sentences for the user.

use kilocore_figures::Nanoseconds;

use super::conduct::ProcessorTime;
use super::phases::Phases;
use super::profiled::SERIAL;

/// A part of the processor time is worth a sentence from this share on.
const WORTH_A_WORD: f64 = 0.1;

/// It is not known how many lines of data move with `unknown` of the `all` groups.
pub(super) fn lines_of_data(unknown: usize, all: usize) -> String {
    format!(
        "For {unknown} of {all} locks or groups of locks the profile does not tell how many \
         lines of data move with them (that takes a second, confined run, and enough \
         handovers between cores): one line is assumed, and none to four for the band."
    )
}

/// How many lines move with `traced` of the `all` groups was counted.
pub(super) fn lines_traced(traced: usize, all: usize) -> String {
    format!(
        "For {traced} of {all} locks or groups of locks the lines of data that move with them were \
         traced: counted in a run under QEMU. Those that have to come one after the other are \
         taken to cost a transfer each, and the others to come meanwhile; the band says what \
         fewer fetches at a time would cost."
    )
}

/// Threads think this many times as long on `cores` as on one.
pub(super) fn undisturbed(times: f64, cores: u32) -> String {
    format!(
        "Between locks threads took {times:.1} times as long on {cores} cores as on one: \
         they get into one another's way there, at something that is no pthread lock (a \
         counter, an allocator, a random-number generator). The time on one core is taken, \
         so that the forecast lacks this limit and is too high."
    )
}

/// What is assumed of the processor time. The time outside locks is spread over `sections`.
pub(super) fn processor_time(time: &ProcessorTime, sections: f64) -> Vec<String> {
    let percent = |part: Nanoseconds<f64>| part / time.all.max(Nanoseconds(1.0)) * 100.0;
    let mut assumptions = Vec::new();
    if time.not_running > Nanoseconds(0.0) {
        assumptions.push(format!(
            "Holds of locks lasted {:.0} % of the processor time longer by the clock than \
             there was processor time for: their holders slept in them, or had lost their \
             cores. That much is left out of the longest holds.",
            percent(time.not_running)
        ));
    }
    if time.outside > time.all * WORTH_A_WORD {
        assumptions.push(format!(
            "{:.0} % of the processor time was spent before a thread's first lock, after its \
             last, or in threads that took none; what of it is not serial is spread evenly \
             over the {sections:.0} sections.",
            percent(time.outside),
        ));
    }
    if time.serial > Nanoseconds(0.0) {
        assumptions.push(format!(
            "{:.1} % {SERIAL}: that long one thread computed \
             while other cores were unused, and neither locks nor conditions nor sleep say \
             why. No core divides it.",
            time.serial_share() * 100.0
        ));
    }
    assumptions
}

/// The program works in rounds.
pub(super) fn rounds(phases: &Phases) -> String {
    format!(
        "The program is taken to work in rounds that end in a barrier, {:.0} of them while \
         profiled, with as much work in each however many threads divide it.",
        phases.rounds
    )
}

/// The target computes as fast as the host, whose clock is given.
pub(super) fn target_as_host(ghz: f64) -> [String; 2] {
    [
        format!(
            "A cycle of the host ({ghz:.2} GHz) is taken for a cycle of the target: instructions \
             per cycle and cache sizes may differ."
        ),
        "Work between locks is taken to run on every core as fast as on one: memory bandwidth is \
         not forecast."
            .to_owned(),
    ]
}

/// More threads than cores slept. A share of that sleep, from 0 to 1, was waiting for a core.
pub(super) fn waiting_for_cores(threads: u64, cores: u32, share: f64) -> String {
    format!(
        "{threads} threads shared {cores} cores while profiled, so part of the time they did not \
         run was spent waiting for a core: {:.0} % of it, the share of the cores that was busy, is \
         left out.",
        share * 100.0
    )
}
