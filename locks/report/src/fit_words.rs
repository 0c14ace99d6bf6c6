//! What a fit says, in plain words: the same for the terminal and the page.

use kilocore_forecast::fit::{Advice, Gain, LockLaw, Outlook, Pinned};
use kilocore_show::number;

/// A lock must gain so much to be worth taking.
const WORTH_TAKING: f64 = 1.05;
/// A parameter is pinned down well if no more than this part of what was possible beforehand still
/// is.
const WELL: f64 = 0.25;
/// A parameter is pinned down loosely up to this part of what was possible beforehand.
const LOOSELY: f64 = 0.7;

/// How far the measurements pin a parameter down, in words; `given` if a profile has said it.
pub(crate) fn degree(pinned: &Pinned) -> &'static str {
    match pinned.left {
        _ if pinned.given => "given",
        left if left <= WELL => "well",
        left if left <= LOOSELY => "loosely",
        _ => "not pinned down",
    }
}

/// A lock under its own name and, behind it, the one by which the user knows it.
pub(crate) fn both_names(lock: &str, alias: Option<&str>) -> String {
    alias.map_or_else(|| lock.to_owned(), |alias| format!("{lock} ({alias})"))
}

/// The advice, a sentence each.
pub(crate) fn sentences(outlook: &Outlook) -> Vec<String> {
    let advice = &outlook.recommendation;
    let mut text = vec![format!(
        "On {} of {}, {} is forecast to give the highest throughput: {} ({} to {}).",
        cores(advice.cores),
        outlook.machine,
        both_names(advice.lock, advice.alias),
        unbroken(&number::figure(advice.throughput)),
        unbroken(&number::figure(advice.low)),
        unbroken(&number::figure(advice.high)),
    )];
    text.extend(against_measured(advice));
    let open: Vec<&Pinned> = outlook.pinned.iter().filter(|pinned| !pinned.given).collect();
    let well = open.iter().filter(|pinned| degree(pinned) == "well").count();
    text.push(format!(
        "The likeliest workload misses the measurements by {}; of {} parameters the measurements \
         pin {} down well.",
        unbroken(&number::percent(outlook.residual)),
        open.len(),
        well,
    ));
    text
}

/// What the recommended lock gains over those that were measured.
fn against_measured(advice: &Advice) -> Vec<String> {
    let others: Vec<&Gain> = advice.gains.iter().filter(|gain| gain.lock != advice.lock).collect();
    let Some(most) = others.first() else { return Vec::new() };
    if most.gain < WORTH_TAKING {
        return vec![format!(
            "None of the measured locks is forecast to give less by more than {:.0} % there: locks \
             are not what limits this program.",
            (WORTH_TAKING - 1.0) * 100.0
        )];
    }
    let gain = |gain: &&Gain| {
        let times = number::times(gain.gain);
        format!("{times} times that under {}", both_names(gain.lock, gain.alias))
    };
    let gains: Vec<String> = others.iter().map(gain).collect();
    let mut text = vec![format!("That is {}.", listed(&gains))];
    let unsure: Vec<String> = others
        .iter()
        .filter(|gain| !gain.sure)
        .map(|gain| both_names(gain.lock, gain.alias))
        .collect();
    if !unsure.is_empty() {
        text.push(format!(
            "Its band overlaps with {} of {}, so the measurements leave open whether it does better \
             than {}.",
            if unsure.len() == 1 { "that" } else { "those" },
            listed(&unsure),
            if unsure.len() == 1 { "that lock" } else { "those locks" },
        ));
    }
    text
}

/// The command that follows the advice.
pub(crate) fn command(outlook: &Outlook) -> String {
    format!("kilocore run --lock {} -- PROGRAM", outlook.recommendation.lock)
}

/// The peak of a law.
pub(crate) fn law_peak(law: &LockLaw) -> String {
    law.peak_cores.map_or_else(|| "none".to_owned(), |peak| format!("{peak:.0}"))
}

/// A figure that no line break parts from its unit.
fn unbroken(figure: &str) -> String {
    figure.replace(' ', "\u{a0}")
}

/// `a, b and c`.
fn listed(items: &[String]) -> String {
    match items {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => items.concat(),
    }
}

fn cores(count: u32) -> String {
    if count == 1 { "one core".to_owned() } else { format!("{count} cores") }
}

#[cfg(test)]
mod tests {
    use super::{Gain, against_measured, listed};
    use kilocore_forecast::fit::Advice;

    fn advice(gains: Vec<Gain>) -> Advice {
        let (throughput, low, high) = (2.0, 1.5, 2.5);
        Advice { lock: "cna", alias: None, cores: 48, throughput, low, high, gains }
    }

    #[test]
    fn overlapping_bands_are_said_to_leave_the_matter_open() {
        let gain = |lock, gain, sure| Gain { lock, alias: None, gain, sure };
        let advice = advice(vec![gain("ticket", 3.0, true), gain("mcs", 1.1, false)]);
        let text = against_measured(&advice).join(" ");
        assert!(text.contains("3.00 times that under ticket and 1.10 times that under mcs"));
        assert!(text.contains("overlaps with that of mcs,"), "{text}");
    }

    #[test]
    fn little_gain_is_none() {
        let advice = advice(vec![Gain { lock: "mcs", alias: None, gain: 1.02, sure: false }]);
        assert!(against_measured(&advice)[0].contains("not what limits"));
    }

    #[test]
    fn lists_read_as_lists() {
        let words = ["a", "b", "c"].map(ToOwned::to_owned);
        assert_eq!(listed(&words), "a, b and c");
        assert_eq!(listed(&words[..1]), "a");
    }
}
