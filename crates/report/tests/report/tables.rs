//! The tables for the terminal.

use crate::sample::Sample;
use kilocore_locks::LockId;
use kilocore_report::terminal;

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap()
}

#[test]
fn the_forecast_fits_a_hundred_columns_with_every_lock_in_a_line() {
    let sample = Sample::new();
    let text = terminal::forecast_table(&sample.forecast, 100);
    assert!(widest(&text) <= 100, "{text}");
    assert!(!text.contains('\u{1b}'), "no colours, and no function name that has some");
    assert!(text.contains(sample.forecast.recommendation.command.as_deref().unwrap()));
    assert!(text.contains("simulated on machine opteron-6344-4s, seed 7"));
    for curve in &sample.forecast.curves {
        let rows = text.lines().filter(|line| {
            line.split_whitespace().next() == Some(curve.lock) && line.contains(curve.shape.name())
        });
        assert_eq!(rows.count(), 1, "{}", curve.lock);
    }
    for (lock, sign) in [("futex", "futex ○"), ("cna", "cna ●")] {
        assert!(text.lines().any(|line| line.starts_with(sign)), "{lock}");
    }
    assert!(text.lines().any(|line| line.starts_with("Store::put")));
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
        kilocore_report::number::joules(curve.end().point.joules_per_op).chars().count()
    });
    assert!(lengths.collect::<std::collections::HashSet<usize>>().len() > 1, "no test otherwise");
}

#[test]
fn a_narrow_table_has_fewer_columns_rather_than_broken_words() {
    let sample = Sample::new();
    for width in [0, 60, 72, 80, 90, 100, 200] {
        let text = terminal::curves_table(&sample.forecast.curves, width);
        assert!(widest(&text) <= usize::from(width.max(terminal::NARROWEST)), "{text}");
        assert!(text.contains("malthusian") && text.contains("collapses"), "{width}:\n{text}");
        let text = terminal::forecast_table(&sample.forecast, width);
        let table = text.split("(measured").nth(1).unwrap();
        assert!(widest(table) <= usize::from(width.max(terminal::NARROWEST)), "{text}");
        let site = table.lines().find(|line| line.starts_with("Store::put")).unwrap();
        assert!(site.contains("cc:118)") && site.contains("9.1 %"), "{site}");
    }
}

#[test]
fn machines_and_locks_are_listed() {
    let sample = Sample::new();
    let machines = terminal::machines_table(std::slice::from_ref(&sample.machine), 100);
    assert!(machines.contains("opteron-6344-4s") && machines.contains("48"));
    let machine = terminal::machine_table(&sample.machine, 100);
    assert!(machine.contains("estimated") && machine.contains("published"));
    let locks = terminal::locks_table(LockId::ALL.iter().map(|lock| lock.info()), 100);
    for lock in LockId::ALL {
        assert!(locks.lines().any(|line| line.starts_with(lock.name())), "{lock}");
    }
    for text in [machines, machine, locks] {
        assert!(widest(&text) <= 100, "{text}");
    }
}

#[test]
fn columns_without_room_stand_below_behind_the_same_fronts() {
    let headings =
        ["a-long-heading-of-22-c", "another-heading-of-25-cha", "third-heading-of-24-char"];
    let rows = [("1".to_owned(), vec!["10".to_owned(), "20".to_owned(), "30".to_owned()])];
    let wide = terminal::figures_table("cores", &headings, &rows, 100);
    assert_eq!(wide.lines().count(), 2, "{wide}");
    let narrow = terminal::figures_table("cores", &headings, &rows, 60);
    let lines: Vec<&str> = narrow.lines().collect();
    assert_eq!(lines.len(), 5, "{narrow}");
    assert!(lines.iter().all(|line| line.chars().count() <= 60), "{narrow}");
    assert!(lines[0].contains(headings[1]) && !lines[0].contains(headings[2]), "{narrow}");
    assert!(lines[3].starts_with("cores") && lines[3].contains(headings[2]), "{narrow}");
    assert!(lines[4].starts_with('1') && lines[4].ends_with("30"), "{narrow}");
}
