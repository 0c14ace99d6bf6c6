//! Writes figures the way they stand in sentences.

use kilocore_figures::Nanoseconds;

/// A share as a percentage. A small percentage has one digit after the decimal point, and so has one that
/// is not quite the whole: beside 0.1 % of something, the rest is not 100 %.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p < 0.1 => "less than 0.1 %".to_owned(),
        p if p < 9.95 || (99.5..99.95).contains(&p) => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// A duration in the unit that suits it, with two or three digits.
pub(crate) fn duration(time: Nanoseconds<f64>) -> String {
    let (value, unit) = match time.0 {
        ns if ns < 1e3 => return format!("{ns:.0} ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    if value < 100.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// A number and a noun in the singular or plural: `1 core`, `6 cores`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A ratio to about two digits.
pub(crate) fn rounded(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

/// Joins names by commas, with an `or` before the last.
pub(crate) fn either(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_for_people() {
        assert_eq!(percent(0.0004), "less than 0.1 %");
        assert_eq!(percent(0.0131), "1.3 %");
        assert_eq!(percent(0.26), "26 %");
        assert_eq!(percent(0.9949), "99 %");
        assert_eq!(percent(0.999), "99.9 %");
        assert_eq!(percent(0.9999), "100 %");
        assert_eq!(duration(Nanoseconds(86.4)), "86 ns");
        assert_eq!(duration(Nanoseconds(1_495_136.0)), "1.5 ms");
        assert_eq!(duration(Nanoseconds(250_000.0)), "250 µs");
        assert_eq!(counted(1, "core"), "1 core");
        assert_eq!(counted(6, "core"), "6 cores");
        assert_eq!(rounded(4.72), "4.7");
        assert_eq!(either(&["mcs", "clh", "cna"]), "mcs, clh or cna");
    }
}
