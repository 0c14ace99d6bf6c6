//! Where the time of a run went by call stack, as lines that tools for flame graphs read.

use std::collections::BTreeMap;

use kilocore_emulation_orders::{Report, StackCall, Stacks, ThreadTimes};
use kilocore_show::folded_frame;

use crate::names::{Names, Symbols};

/// Where the time of a run went, by call stack: functions from the outermost on, joined by semicolons, and
/// what threads did in the last one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StackTimes(BTreeMap<String, f64>);

/// Whose stack it is, as the first part of it.
pub(crate) const BEGINNINGS: [&str; Stacks::BEGINNINGS] = ["main thread", "other threads"];

/// What stands before the number of cores, in the second part.
pub(crate) const ON: &str = "cores=";

/// What a thread does, as the last part of a stack.
pub(crate) const DOES: [&str; 4] = ["[computing]", "[waits for lines]", "[spins]", "[in kernel]"];

impl StackTimes {
    /// Those that a run reports.
    pub(crate) fn of(report: &Report, symbols: &mut Symbols) -> Self {
        let mut names = Names::new(&report.files, symbols);
        let calls = &report.stacks.calls;
        let mut all = Self::default();
        if calls.len() < Stacks::BEGINNINGS {
            return all;
        }
        // Which of the beginnings a call is behind, and its functions.
        let mut behind: Vec<(usize, String)> = (0..).zip(BEGINNINGS.map(str::to_owned)).collect();
        for call in &calls[Stacks::BEGINNINGS..] {
            let (beginning, before) = &behind[call.before as usize];
            let function = match call.code {
                StackCall::FORGOTTEN => "[deeper calls]".to_owned(),
                code => folded_frame(&names.function_or_file(code)),
            };
            behind.push((*beginning, format!("{before};{function}")));
        }
        let of_main = report.threads.iter().take(1);
        let whole = [total(of_main), total(report.threads.iter().skip(1))];
        let mut seen = [[0.0; DOES.len()]; Stacks::BEGINNINGS];
        for (call, (beginning, _)) in calls.iter().zip(&behind) {
            seen[*beginning].iter_mut().zip(did(call)).for_each(|(sum, one)| *sum += one);
        }
        for (call, (beginning, stack)) in calls.iter().zip(&behind) {
            for (kind, did) in did(call).into_iter().enumerate() {
                let (whole, seen) = (whole[*beginning][kind], seen[*beginning][kind]);
                if did > 0.0 {
                    all.add(format!("{stack};{}", DOES[kind]), did * (whole / seen));
                }
            }
        }
        // What was seen nowhere is no less.
        for (beginning, (whole, seen)) in whole.iter().zip(&seen).enumerate() {
            for (kind, does) in DOES.iter().enumerate() {
                if seen[kind] == 0.0 && whole[kind] > 0.0 {
                    all.add(format!("{};{does}", behind[beginning].1), whole[kind]);
                }
            }
        }
        all
    }

    fn add(&mut self, stack: String, ns: f64) {
        *self.0.entry(stack).or_default() += ns;
    }

    /// A line for each stack that took at least 1 ns, sorted, with `on` as its second part.
    pub(crate) fn lines(&self, on: &str) -> impl Iterator<Item = String> {
        let line = move |(stack, ns): (&String, &f64)| {
            let (beginning, rest) = stack.split_once(';')?;
            (*ns >= 0.5).then(|| format!("{beginning};{};{rest} {ns:.0}\n", folded_frame(on)))
        };
        self.0.iter().filter_map(line)
    }

    /// The stacks and their times, in ns.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(stack, ns)| (stack.as_str(), *ns))
    }
}

/// What threads did at a call, in the order of [`DOES`].
fn did(call: &StackCall) -> [f64; DOES.len()] {
    [call.samples as f64, call.waited_ns, call.spun_ns, call.system_ns]
}

/// The same of threads all together.
fn total<'a>(threads: impl Iterator<Item = &'a ThreadTimes>) -> [f64; DOES.len()] {
    threads.fold([0.0; DOES.len()], |sum, it| {
        let one = [it.working_ns, it.stalled_ns, it.spinning_ns, it.system_ns];
        std::array::from_fn(|kind| sum[kind] + one[kind])
    })
}
