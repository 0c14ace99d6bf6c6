//! Answers that recommend nothing.

use crate::{Recommendation, Verdict};

/// An answer without a recommendation.
pub(super) fn answer(verdict: Verdict, why: &str, text: Vec<String>) -> Recommendation {
    let known = [Verdict::LimitedByLocks, Verdict::NotByLocks, Verdict::CoresUnused];
    Recommendation {
        verdict,
        scaling_known: known.contains(&verdict),
        headline: format!("{}: {why}.", verdict.words()),
        confidence: String::new(),
        lock: None,
        equals: Vec::new(),
        gain: 1.0,
        gain_range: None,
        gain_chance: None,
        rwlock: None,
        rwlock_gain: None,
        gain_error: None,
        text,
        command: None,
    }
}

/// The same for the cores that are here: how far the program scales is not known.
pub(super) fn of_here_alone(verdict: Verdict, why: &str, text: Vec<String>) -> Recommendation {
    Recommendation { scaling_known: false, ..answer(verdict, why, text) }
}

/// The answer that it is not known, with the weightiest of the gaps as the reason.
pub(super) fn unknown(gaps: Vec<String>) -> Recommendation {
    let mut gaps = gaps.into_iter();
    let first = gaps.next().unwrap_or_else(|| "it acquired no lock that can be seen".to_owned());
    let text = gaps.map(|gap| not_seen(&gap)).collect();
    answer(Verdict::Unknown, &first, text)
}

/// A gap as a sentence of its own.
pub(super) fn not_seen(gap: &str) -> String {
    format!("Mind that {gap}.")
}
