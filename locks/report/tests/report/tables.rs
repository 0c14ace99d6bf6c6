//! The tables for the terminal.

use kilocore_lock_profile::{Lock, Trace, Traced, TracedWord};
use kilocore_lock_report::terminal;
use kilocore_show::described;
use kilocore_show::terminal::{NARROWEST, Style, machine_table};

use crate::sample::Sample;

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap()
}

/// The part between two titles.
fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split(from).nth(1).unwrap().split(to).next().unwrap()
}

#[test]
fn a_forecast_opens_with_the_verdict_then_how_sure_it_is_then_the_command() {
    let sample = Sample::new();
    let advice = &sample.forecast.recommendation;
    let text = terminal::forecast_table(&sample.forecast, 140, false);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(advice.headline.as_str()));
    assert_eq!(lines.next(), Some(advice.confidence.as_str()));
    assert_eq!(lines.next(), Some(""));
    assert_eq!(lines.next().map(str::trim), advice.command.as_deref());
    assert!(!text.contains('\u{1b}'), "no colours, and no function name that has some");
}

#[test]
fn with_all_every_lock_has_a_line_and_without_at_most_eight_have() {
    let sample = Sample::new();
    let rows = |all| {
        let text = terminal::forecast_table(&sample.forecast, 100, all);
        assert!(widest(&text) <= 100, "{text}");
        assert!(text.contains("simulated on machine opteron-6344-4s, seed 7"), "{text}");
        let table = part(&text, "seed 7)", "The program's locks").to_owned();
        let first = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
        let names: Vec<String> = table.lines().map(first).collect();
        let known = |name: &&String| sample.forecast.curves.iter().any(|c| c.lock == name.as_str());
        // Notes below the table may begin with the name of a lock, but not twice.
        let found: std::collections::BTreeSet<String> =
            names.iter().filter(known).cloned().collect();
        (found, table)
    };
    let (every, table) = rows(true);
    assert_eq!(every.len(), sample.forecast.curves.len(), "{table}");
    let (few, table) = rows(false);
    assert!(few.len() <= 8 + 1, "{table}");
    assert!(few.contains("futex") && few.contains("cna"), "{table}");
    assert!(table.contains("`--all` shows every lock"), "{table}");
    for sign in ["futex ○", "cna ●"] {
        assert!(table.lines().any(|line| line.starts_with(sign)), "{sign}: {table}");
    }
}

#[test]
fn curves_are_on_one_scale() {
    let sample = Sample::new();
    let text = terminal::forecast_table(&sample.forecast, 100, true);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains('▁')).collect();
    let full = rows.iter().filter(|line| line.contains('█')).count();
    let highest = sample.forecast.curves.iter().map(|c| c.peak).fold(0.0, f64::max);
    let near = sample.forecast.curves.iter().filter(|c| c.peak > highest * 7.0 / 8.0).count();
    assert!(full <= near && full >= 1, "{full} of {near}: {text}");
}

#[test]
fn legends_explain_only_what_rows_have() {
    let mut sample = Sample::new();
    let text = terminal::forecast_table(&sample.forecast, 140, false);
    assert!(text.contains("● recommended") && text.contains("M/s: a million a second"), "{text}");
    sample.forecast.recommendation.lock = None;
    let text = terminal::forecast_table(&sample.forecast, 140, false);
    assert!(text.contains("○ today's lock") && !text.contains('●'), "{text}");
    let rising = |curve: &mut kilocore_forecast::Curve| curve.collapse_cores = None;
    sample.forecast.curves.iter_mut().for_each(rising);
    let text = terminal::forecast_table(&sample.forecast, 140, false);
    assert!(!text.contains("falls from"), "{text}");
}

#[test]
fn locks_are_named_by_where_they_are_acquired_and_then_made() {
    let sample = Sample::new();
    let text = terminal::forecast_table(&sample.forecast, 140, false);
    let table = part(&text, "by where they are acquired", "What there is to know");
    let lines: Vec<&str> = table.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("Store::get")).unwrap();
    assert!(lines[first].contains("9.1 %"), "{table}");
    assert!(lines[first + 1].starts_with("  and <script>"), "{table}");
    assert!(lines[first + 2].starts_with("  made at Store::put"), "{table}");
    assert!(table.contains("\nmade at je_malloc_mutex_init"), "{table}");
}

#[test]
fn where_no_caller_is_known_the_table_says_by_what_locks_are_named() {
    let mut sample = Sample::new();
    sample.forecast.locks.iter_mut().for_each(|lock| lock.acquired_at.clear());
    let text = terminal::forecast_table(&sample.forecast, 140, false);
    assert!(text.contains("locks, by where they were made"), "{text}");
    assert!(!text.contains("by where they are acquired"), "{text}");
}

#[test]
fn names_that_would_be_shortened_alike_stay_apart() {
    let mut sample = Sample::new();
    let name = |part: &str| {
        format!(
            "a_rather_long_name_of_a_function_{part}_that_goes_on_and_on (long_file_name.cc:118)"
        )
    };
    for (lock, part) in sample.forecast.locks.iter_mut().zip(["get", "put", "run"]) {
        lock.acquired_at.clear();
        lock.place = name(part);
    }
    let text = terminal::forecast_table(&sample.forecast, 60, false);
    let table = part(&text, "The program's locks", "What there is to know");
    for part in ["get", "put", "run"] {
        assert!(table.contains(part), "{part}: {table}");
    }
}

#[test]
fn plain_ascii_is_there_for_whoever_asks() {
    let sample = Sample::new();
    let style = Style { unicode: false, ..Style::of_width(80) };
    let text = terminal::forecast_table(&sample.forecast, style, true);
    assert!(text.is_ascii(), "{text}");
    assert!(text.contains("cna *") && text.contains("futex o"), "{text}");
    let bold = Style { color: true, ..Style::of_width(140) };
    let text = terminal::forecast_table(&sample.forecast, bold, false);
    assert!(text.starts_with("\u{1b}[1mLimited by locks"), "{text}");
}

#[test]
fn a_program_of_many_processes_is_summed_up() {
    let mut sample = Sample::new();
    let process = sample.profile.runs[0].processes[0].clone();
    sample.profile.runs[0].processes = vec![process; 1_000];
    let text = terminal::profile_table(&sample.profile, 80);
    assert!(text.lines().count() < 60, "{text}");
    assert!(text.contains("996 more processes acquired locks"), "{text}");
    assert!(text.contains("What was seen\n- "), "{text}");
}

#[test]
fn processes_without_locks_are_summed_up_and_have_no_empty_tables() {
    let mut sample = Sample::new();
    let processes = &mut sample.profile.runs[0].processes;
    let mut without = processes[0].clone();
    without.locks.clear();
    without.conditions.clear();
    without.threads.started = 1;
    let mut nameless = without.clone();
    nameless.executable.clear();
    let path = without.executable.clone();
    processes.extend([without.clone(), without.clone(), nameless]);
    let sentence = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = sentence(&terminal::profile_table(&sample.profile, 100));
    assert!(text.contains("3 more processes acquired no lock that was seen, in "), "{text}");
    assert!(text.contains(&format!("2 of {path}, 1 that ended too soon to be named.")), "{text}");

    sample.profile.runs[0].processes = vec![without];
    let text = sentence(&terminal::profile_table(&sample.profile, 100));
    assert!(text.contains("1 process acquired no lock that was seen, in "), "{text}");
    assert!(!text.contains("acquired or made at"), "{text}");
}

#[test]
fn what_was_traced_is_shown_once_and_said_to_be_counted_under_qemu() {
    let mut sample = Sample::new();
    let text = terminal::profile_table(&sample.profile, 100);
    assert!(!text.contains("QEMU"), "{text}");
    let traced = Traced {
        words: 2,
        acquisitions: 9_000,
        handovers: 4_000,
        lines_written: 2.5,
        holds_with_more_lines: 1_000,
        ..Traced::default()
    };
    let process = &mut sample.profile.runs[0].processes[0];
    process.locks = vec![Lock { traced: Some(traced), ..Lock::default() }; 3];
    let word = |handovers| TracedWord {
        site: Vec::new(),
        traced: Traced { handovers, acquisitions: 7_777, ..Traced::default() },
    };
    let words = vec![word(55), word(0)];
    sample.profile.trace = Some(Trace { words, words_left_out: 3, ..Trace::default() });
    for width in [40, 80, 120] {
        let text = terminal::profile_table(&sample.profile, width);
        assert!(widest(&text) <= usize::from(width), "{text}");
        let table = part(&text, "Lines of data that move", "What was seen");
        assert!(table.contains("QEMU") && table.contains("left out"), "{table}");
        assert_eq!(table.matches("* 2.5").count(), 1, "{table}");
        let handovers = table.contains("4,000") && table.contains(" 55 ");
        assert!(handovers || width == 40, "{table}");
    }
}

#[test]
fn the_ends_of_numbers_line_up() {
    let sample = Sample::new();
    let text = terminal::curves_table(&sample.forecast.curves, 100);
    // The last column is a number, so that lines end where it does, whatever its length.
    let rows = text.lines().filter(|line| line.contains('▁')).map(|line| line.chars().count());
    let ends: std::collections::HashSet<usize> = rows.collect();
    assert_eq!(ends.len(), 1, "{text}");
    let lengths = sample.forecast.curves.iter().map(|curve| {
        kilocore_show::number::joules(curve.end().point.joules_per_op).chars().count()
    });
    assert!(lengths.collect::<std::collections::HashSet<usize>>().len() > 1, "no test otherwise");
}

#[test]
fn a_narrow_table_has_fewer_columns_rather_than_broken_words() {
    let mut sample = Sample::new();
    for width in [0, 60, 72, 80, 90, 100, 200] {
        let text = terminal::curves_table(&sample.forecast.curves, width);
        assert!(widest(&text) <= usize::from(width.max(NARROWEST)), "{text}");
        assert!(text.contains("malthusian") && text.contains("collapses"), "{width}:\n{text}");
        sample.forecast.recommendation.command = None;
        let text = terminal::forecast_table(&sample.forecast, width, false);
        assert!(widest(&text) <= usize::from(width.max(NARROWEST)), "{text}");
        let table = text.split("The program's locks").nth(1).unwrap();
        let site = table.lines().find(|line| line.starts_with("Store::get")).unwrap();
        assert!(site.contains("cc:97)") && site.contains("9.1 %"), "{site}");
    }
}

#[test]
fn a_machine_says_where_its_figures_come_from() {
    let machine = machine_table(&described(&Sample::new().machine), 100);
    assert!(machine.contains("estimated") && machine.contains("published"));
    assert!(widest(&machine) <= 100, "{machine}");
}
