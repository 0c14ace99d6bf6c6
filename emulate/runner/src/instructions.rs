//! How many cycles an instruction of a program takes, by the stopwatch.

use std::ffi::OsString;
use std::process::ExitStatus;
use std::time::Duration;

use kilocore_process::{Input, Output, Start, allowed_cores, run, sized_for};

use crate::environment::{OWN, openmp};
use crate::run::{Asked, emulate};
use crate::{EmulateError, Emulator};

/// The quickest of so many runs counts, as others can only make one slower.
const ROUNDS: u32 = 3;
/// Programs that compute for less than this are too short to be timed.
const LEAST: Duration = Duration::from_millis(20);
/// No instruction is taken to be quicker: six in a cycle are more than any program does.
const LEAST_CYCLES: f64 = 1.0 / 6.0;

/// What an instruction takes that waits for nothing, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instructions {
    /// How many there are on one core.
    pub count: u64,
    /// How long the program computes on one core of this host, in user mode.
    pub computed: Duration,
    /// How many cycles each takes, of two digits.
    pub cycles: f64,
}

/// The core of this host on which a program is timed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimedCore {
    /// Its clock, in GHz.
    pub clock_ghz: f64,
    /// Which part of its time interrupts take, which count as the program's: from 0 to 1.
    pub interrupted: f64,
}

impl TimedCore {
    /// How many cycles each of so many instructions takes that take so long with what an emulation adds to them, in ns.
    fn cycles_of(self, count: u64, computed: Duration, added_ns: f64) -> f64 {
        let had = computed.as_secs_f64() * 1e9 * (1.0 - self.interrupted);
        ((had - added_ns.max(0.0)) * self.clock_ghz / count.max(1) as f64).max(LEAST_CYCLES)
    }
}

/// Runs a program on one core of this host, and emulates it on one core. The cycles that its instructions take are
/// those of its time in user mode, without interrupts, and without what the emulation adds to its instructions: waits for
/// lines, and what locked instructions take.
///
/// # Errors
/// If the program cannot be emulated, ends in another way than it should, or is too short.
pub fn time_instructions(
    words: &[OsString],
    asked: &Asked,
    emulator: &Emulator,
    output: Output<'_>,
    core: TimedCore,
) -> Result<Instructions, EmulateError> {
    let mut asked = asked.clone();
    asked.orders.cores = 1;
    let computed = quickest(words, &asked)?;
    if computed < LEAST {
        return Err(EmulateError::Short { computed, least: LEAST });
    }
    let point = emulate(words, &asked, emulator, output, Input::Repeated)?;
    if point.ended_badly() {
        return Err(ended(point.status));
    }
    let count = point.report.counts.instructions;
    let emulated = point.report.threads.iter().map(|it| it.working_ns + it.stalled_ns).sum::<f64>();
    let instructions =
        count as f64 * asked.orders.cycles_per_instruction / asked.orders.machine.clock_ghz.value;
    let cycles = core.cycles_of(count, computed, emulated - instructions);
    Ok(Instructions { count, computed, cycles: two_digits(cycles) })
}

fn ended(status: ExitStatus) -> EmulateError {
    EmulateError::Ended { status, during: "while its instructions were timed" }
}

/// The least that the program computed on one core of this host.
fn quickest(words: &[OsString], asked: &Asked) -> Result<Duration, EmulateError> {
    let command = sized_for(words, 1);
    let core = allowed_cores().last().copied();
    let mut quickest = Duration::MAX;
    for _ in 0..ROUNDS {
        let end = run(Start {
            command: &command,
            environment: asked.variables.iter().cloned().chain(openmp(1)).collect(),
            without: &OWN,
            cores: core.as_ref().map(std::slice::from_ref),
            output: Output::Discarded,
            input: Input::Repeated,
            ..Start::default()
        });
        let end = end.map_err(|why| EmulateError::Files(why.into()))?;
        if end.interrupted || !end.status.success() {
            return Err(ended(end.status));
        }
        quickest = quickest.min(end.user);
    }
    Ok(quickest)
}

fn two_digits(number: f64) -> f64 {
    let unit = 10_f64.powf(number.log10().floor() - 1.0);
    // By way of the text, so that 0.36 is the number that somebody types.
    let places = usize::from(unit < 1.0) * (-unit.log10()).round().max(0.0) as usize;
    format!("{:.places$}", (number / unit).round() * unit).parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LEAST_CYCLES, TimedCore, two_digits};

    #[test]
    fn interrupts_and_what_the_emulation_adds_are_no_instructions() {
        let core = TimedCore { clock_ghz: 2.0, interrupted: 0.1 };
        let of = |added_ns| core.cycles_of(900_000, Duration::from_millis(1), added_ns);
        assert!((of(0.0) - 2.0).abs() < 1e-9, "{}", of(0.0));
        assert!((of(450_000.0) - 1.0).abs() < 1e-9, "{}", of(450_000.0));
        assert!(of(-1.0) == of(0.0) && of(2_000_000.0) == LEAST_CYCLES);
    }

    #[test]
    fn cycles_have_two_digits() {
        for (number, expected) in
            [(0.3649, 0.36), (1.04, 1.0), (0.996, 1.0), (12.6, 13.0), (2.0, 2.0)]
        {
            assert!(two_digits(number) == expected, "{number}: {}", two_digits(number));
        }
    }
}
