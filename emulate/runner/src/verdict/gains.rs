//! Whether other locks make a program faster, in a sentence.

use super::figures::clause;
use super::{Verdict, Why};
use crate::notes::take_as_long;
use crate::row::Row;
use crate::words::{all_of, number_of, range, rounded};
use crate::{Variant, replaced, row};

/// Locks under which a program is at least so many times as fast are worth having.
const BETTER: f64 = 1.1;
/// Gains of which the greatest is at most so many times the least are as good as each other.
const AS_GOOD: f64 = 1.05;
/// What is known of losses: `docs/evidence/emulation-gains.md`.
const LOSSES: &str = "Of such losses, half were none beside a published study.";
/// If the gain of the whole differs so much from that of the part with threads, both are told.
const APART: f64 = 1.1;

/// What other locks gain on the most cores, if that can be told. Nothing without other locks.
pub(super) fn said(variants: &[Variant]) -> Option<String> {
    let (own, others) = variants.split_first()?;
    if others.is_empty() {
        return None;
    }
    if variants.iter().any(|variant| is_without_times(Verdict::of(variant))) {
        return None;
    }
    if let Some(why) = replaced::none_or_unknown(variants) {
        return Some(format!("{why} What other locks would do for it is not known."));
    }
    let (cores, _) = own.points.last()?;
    let is_last = |row: &Row<'_>| {
        row.cores == *cores && row.variant.locks != Variant::OWN && row.has_threads()
    };
    let last: Vec<Row<'_>> = row::of(variants).filter(is_last).collect();
    if last.is_empty() {
        return None;
    }
    let on = number_of(*cores, "core");
    if let Some(best) = most(&last, is_better) {
        return Some(best_said(best, &last, &on));
    }
    if let Some(best) = most(&last, |row| *row.gains().end() >= BETTER) {
        return Some(format!(
            "Not known whether other locks make it faster on {on}: under {} it is {} times as fast as with its own, as \
             chance has it.",
            best.variant.locks,
            range(&best.gains())
        ));
    }
    Some(none_said(variants, &last, &on))
}

/// Whether nothing follows from times, as the answer says: then gains say nothing either.
fn is_without_times(verdict: Verdict) -> bool {
    match verdict {
        Verdict::NoThreads
        | Verdict::Unknown(Why::EndedBadly | Why::Processes | Why::Outside | Why::SetTime) => true,
        Verdict::Shape(_) | Verdict::Unknown(Why::OneCount | Why::MoreWork | Why::Chance) => false,
    }
}

/// The row with the greatest gain of those that are wanted.
fn most<'a, 'b>(rows: &'b [Row<'a>], is_wanted: impl Fn(&Row<'a>) -> bool) -> Option<&'b Row<'a>> {
    let wanted = rows.iter().filter(|row| is_wanted(row));
    wanted.max_by(|one, other| one.gain().total_cmp(&other.gain()))
}

/// That no locks gain anything on the most cores.
fn none_said(variants: &[Variant], last: &[Row<'_>], on: &str) -> String {
    let gains = || last.iter().map(|row| row.gain());
    let (least, greatest) = (gains().fold(f64::INFINITY, f64::min), gains().fold(0.0, f64::max));
    let names: Vec<String> = last.iter().map(|row| row.variant.locks.clone()).collect();
    let times = match rounded(least) == rounded(greatest) {
        true => rounded(least),
        false => format!("{} to {}", rounded(least), rounded(greatest)),
    };
    let mut said = match names.as_slice() {
        [one] if greatest <= 1.0 / BETTER => {
            format!(
                "Under {one} it is slower on {on}: {times} times as fast as with its own locks. {LOSSES}"
            )
        }
        [one] => format!(
            "Under {one} it is not a tenth faster on {on}: {times} times as fast as with its own locks."
        ),
        _ => format!(
            "None of {} makes it a tenth faster on {on}: {times} times as fast as with its own locks.",
            all_of(&names)
        ),
    };
    let all = variants.iter().flat_map(|variant| &variant.points);
    if take_as_long(all.map(|(_, runs)| &runs.shown().report)) {
        said += " If it works for a set time, that says nothing.";
    } else if let Some(earlier) = last.first().and_then(|row| elsewhere(variants, row.cores)) {
        said += &earlier;
    }
    said
}

/// Whether the program is faster under these locks, whatever chance does.
fn is_better(row: &Row<'_>) -> bool {
    row.gain() >= BETTER && *row.gains().start() > 1.0
}

fn best_said(best: &Row<'_>, last: &[Row<'_>], on: &str) -> String {
    let locks = &best.variant.locks;
    let chance = match best.gain_differs() {
        true => format!(" (by chance, {})", range(&best.gains())),
        false => String::new(),
    };
    let whole = best.own.shown().report.end_ns / best.runs.shown().report.end_ns;
    let apart = (whole / best.gain()).max(best.gain() / whole) > APART;
    let parts = match apart {
        true => format!(" while it has threads, and {} times as a whole", rounded(whole)),
        false => String::new(),
    };
    let mut said = format!(
        "Under {locks} it is {} times{chance} as fast on {on} as with its own locks{parts}",
        rounded(best.gain())
    );
    let as_good: Vec<String> = last
        .iter()
        .filter(|row| row.variant.locks != *locks && is_better(row) && is_as_good(row, best))
        .map(|row| row.variant.locks.clone())
        .collect();
    if !as_good.is_empty() {
        said += &format!(", and as good as that under {}", all_of(&as_good));
    }
    said.push('.');
    if let Some(clause) = clause(best.variant) {
        said += &format!(" It {clause}.");
    } else if best.variant.points.len() > 1 {
        said += " How it scales then is not known.";
    }
    said
}

/// Whether locks are as good as the best ones, or may be.
fn is_as_good(row: &Row<'_>, best: &Row<'_>) -> bool {
    row.gain() * AS_GOOD >= best.gain() || row.gains().end() >= best.gains().start()
}

/// The most that locks gain on fewer cores, where they gain something.
fn elsewhere(variants: &[Variant], last: u32) -> Option<String> {
    let is_gain = |row: &Row<'_>| {
        row.cores != last
            && row.variant.locks != Variant::OWN
            && row.has_threads()
            && is_better(row)
    };
    let rows: Vec<Row<'_>> = row::of(variants).filter(is_gain).collect();
    let best = most(&rows, |_| true)?;
    Some(format!(
        " On {}, {} makes it {} times as fast.",
        number_of(best.cores, "core"),
        best.variant.locks,
        rounded(best.gain())
    ))
}
