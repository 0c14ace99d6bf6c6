//! Writes the report: `docs/evidence/orderings`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use kilocore_show::markdown::{code, table};
use kilocore_show::terminal::columns::Align::{Left, Right};

use crate::{Outcome, Trial};

/// Whether an ordering is caught or argued for.
pub(crate) fn is_answered(trial: &Trial) -> bool {
    matches!(trial.outcome, Outcome::Caught(..)) || is_given(trial) || trial.site.argued.is_some()
}

/// Whether the ordering belongs to `wait_until`, which has no weaker one, and not to the algorithm.
fn is_given(trial: &Trial) -> bool {
    trial.site.operation == "wait_until"
}

const INTRODUCTION: &str = "\
# Which check misses which memory ordering

Written by `make weaken`; do not edit. Each ordering of the shipped source of `locks`, `ldu`, `lru`,
`buffer-pool`, `pages` and `numa` was weakened by one step, one at a time, and the loom tests that make the
call were run until one failed.
Half of an `AcqRel` is a step of its own. A weakening counts as caught only if loom reports an error,
not if it gives up. `wait_until` has no ordering of its own in the source: the read that ends it is an
acquire by the platform's contract. It is listed because it was weakened, too, but cannot be relaxed.

What loom cannot see: it takes no load to be older than what the thread has seen, explores bounded
numbers of preemptions where the tests say so, and two or three threads. So *missed* does not mean
that an ordering is superfluous. Each that is missed is argued for at the code, in the comment whose
line is given, was relaxed, or is marked **open**: nobody has argued for it yet.
";

/// Returns the report on all trials. `relaxed` is the number of orderings that cannot be weaker.
pub(crate) fn report(trials: &[Trial], relaxed: usize, longest: Duration) -> String {
    let mut text = INTRODUCTION.to_owned();
    let seconds = longest.as_secs();
    let _ = writeln!(text, "Tests that take more than {seconds} s on a processor were left out.");
    counts(&mut text, trials, relaxed);
    let mut files: BTreeMap<&str, Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        files.entry(&trial.site.file).or_default().push(trial);
    }
    for (file, trials) in files {
        let columns = [
            ("line", Right),
            ("in", Left),
            ("operation", Left),
            ("weakened", Left),
            ("outcome", Left),
        ];
        let rows: Vec<_> = trials.into_iter().map(row).collect();
        let _ = writeln!(text, "\n## `{file}`\n\n{}", table(&columns, &rows));
    }
    text
}

fn counts(text: &mut String, trials: &[Trial], relaxed: usize) {
    let count = |of: &dyn Fn(&Trial) -> bool| {
        let own = trials.iter().filter(|trial| !is_given(trial) && of(trial)).count();
        let given = trials.iter().filter(|trial| is_given(trial) && of(trial)).count();
        (own, given)
    };
    let caught = |trial: &Trial| matches!(trial.outcome, Outcome::Caught(..));
    let mut orderings: Vec<_> = trials
        .iter()
        .filter(|trial| !is_given(trial))
        .map(|trial| (trial.site.place(), trial.site.operand))
        .collect();
    orderings.sort();
    orderings.dedup();
    let strong = orderings.len();
    let rows: [(&str, (usize, usize)); 4] = [
        ("steps weaker that were tried", count(&|_| true)),
        ("caught", count(&caught)),
        ("missed, and argued for", count(&|trial| !caught(trial) && is_answered(trial))),
        ("missed, and not argued for", count(&|trial| !is_answered(trial))),
    ];
    let rows =
        rows.map(|(what, (own, given))| vec![what.to_owned(), own.to_string(), given.to_string()]);
    let table = table(&[("", Left), ("orderings", Right), ("waits", Right)], &rows);
    let _ = writeln!(
        text,
        "\n{} orderings: {relaxed} are relaxed and have nothing to weaken, {strong} are stronger.\n\n{table}",
        relaxed + strong
    );
}

fn row(trial: &Trial) -> Vec<String> {
    let site = &trial.site;
    let failure = if site.operand == 1 { ", failed" } else { "" };
    let outcome = match &trial.outcome {
        Outcome::Caught(check, message) => format!("caught by {check}: {}", plain(message)),
        Outcome::Missed { checks, undecided } => {
            let answer = match site.argued {
                Some(line) => format!("argued in line {line}"),
                None if is_given(trial) => "comes with the wait".to_owned(),
                None => "**open**".to_owned(),
            };
            let undecided =
                if *undecided > 0 { format!(", {undecided} gave up") } else { String::new() };
            format!("{answer} (missed by {checks} checks{undecided})")
        }
    };
    vec![
        site.line.to_string(),
        code(&site.function),
        code(&site.operation) + failure,
        format!("{} → {}", site.order, trial.to),
        outcome,
    ]
}

/// A message in a form that fits into a table: its first sentence, at most 80 characters.
fn plain(message: &str) -> String {
    let sentence = message.split(". ").next().unwrap_or(message);
    let short: String = sentence.chars().take(80).collect();
    short.replace('|', "/")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{is_answered, report};
    use crate::sites::{Order, Site};
    use crate::{Outcome, Trial};

    fn trial(operation: &str, argued: Option<usize>, caught: bool) -> Trial {
        let site = Site {
            file: "a.rs".to_owned(),
            line: 3,
            column: 5,
            operand: 0,
            order: Order::Acquire,
            operation: operation.to_owned(),
            function: "f".to_owned(),
            argued,
        };
        let outcome = if caught {
            Outcome::Caught("loom::two".to_owned(), "Causality violation: x. y".to_owned())
        } else {
            Outcome::Missed { checks: 2, undecided: 1 }
        };
        Trial { site, to: Order::Relaxed, outcome }
    }

    #[test]
    fn what_is_neither_caught_nor_argued_for_is_open() {
        assert!(!is_answered(&trial("load", None, false)));
        assert!(is_answered(&trial("load", Some(1), false)));
        assert!(is_answered(&trial("load", None, true)));
        let text = report(&[trial("load", None, false)], 4, Duration::from_secs(30));
        assert!(text.contains("**open** (missed by 2 checks, 1 gave up)"), "{text}");
        assert!(text.contains("5 orderings: 4 are relaxed"), "{text}");
        assert!(text.contains("| missed, and not argued for | 1 | 0 |"), "{text}");
    }

    #[test]
    fn what_was_caught_says_by_what() {
        let text = report(&[trial("load", None, true)], 0, Duration::from_secs(30));
        assert!(text.contains("caught by loom::two: Causality violation: x |"), "{text}");
    }
}
