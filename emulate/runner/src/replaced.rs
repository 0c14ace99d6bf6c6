//! Whether any lock of a program was replaced by another one.

use kilocore_emulation_orders::Counts;
use kilocore_show::number;

use crate::Variant;

/// What to say if no lock was replaced, or none is known to be.
pub(crate) fn none_or_unknown(variants: &[Variant]) -> Option<String> {
    let others = variants.get(1..).filter(|others| !others.is_empty())?;
    let runs = others.iter().flat_map(|variant| &variant.points);
    let is_part = runs.clone().any(|(_, runs)| runs.shown().report.seen.is_some());
    let part = if is_part { " in this part" } else { "" };
    let points = runs.flat_map(|(_, runs)| runs.all());
    let counts: Vec<Counts> = points.map(|(_, point)| point.report.counts).collect();
    if counts.iter().any(|of| of.lock_calls > of.lock_calls_left) {
        return None;
    }
    Some(match counts.iter().map(|of| of.lock_calls).max() {
        None | Some(0) => {
            format!("No lock of the program was replaced{part}: it takes none of pthread's.")
        }
        Some(calls) => format!(
            "Not known whether any lock of the program was replaced{part}: it makes up to {} calls that take one, and all of \
             them may have been left to glibc, as those of recursive mutexes are, and of read-write locks without \
             `--rwlock`.",
            number::count(calls)
        ),
    })
}
