//! Figures as people read them.
//!
//! Three significant digits and a prefix: what a forecast knows, and short enough to compare in a
//! column. A figure that is not finite is shown as a dash.

use std::ops::RangeInclusive;

/// What stands for a figure that there is not.
pub const NONE: &str = "–";

/// Prefixes by powers of a thousand, from 10⁻¹⁵ to 10¹⁵.
const PREFIXES: [&str; 11] = ["f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P"];
/// Where in [`PREFIXES`] no prefix is.
const UNITY: i32 = 5;

/// Three significant digits, a prefix and a unit: `12.3 M/s`, `4.10 µs`, `3.20 mJ`.
///
/// Figures beyond the prefixes keep the nearest of them.
#[must_use]
pub fn engineering(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if value == 0.0 {
        return format!("0 {unit}").trim_end().to_owned();
    }
    let mut power = (value.abs().log10() / 3.0).floor() as i32;
    // 999.6 has three digits as 1.00 thousand.
    if (value.abs() / 1000_f64.powi(power)) >= 999.5 {
        power += 1;
    }
    let power = power.clamp(-UNITY, PREFIXES.len() as i32 - 1 - UNITY);
    let prefix = PREFIXES[(power + UNITY) as usize];
    let digits = three_digits(value / 1000_f64.powi(power));
    format!("{digits} {prefix}{unit}").trim_end().to_owned()
}

/// A duration given in nanoseconds: `412 ns`, `4.10 µs`, `1.20 s`.
#[must_use]
pub fn nanoseconds(value: f64) -> String {
    engineering(value * 1e-9, "s")
}

/// All durations from one to another, given in nanoseconds: `412–933 ns`, `980 µs–1.20 ms`.
#[must_use]
pub fn durations(ns: &RangeInclusive<f64>) -> String {
    let (least, most) = (nanoseconds(*ns.start()), nanoseconds(*ns.end()));
    match (least.split_once(' '), most.split_once(' ')) {
        (Some((figure, unit)), Some((_, same))) if unit == same => format!("{figure}–{most}"),
        _ => format!("{least}–{most}"),
    }
}

/// A rate: `12.3 M/s`.
#[must_use]
pub fn per_second(value: f64) -> String {
    engineering(value, "/s")
}

/// An energy: `3.20 mJ`.
#[must_use]
pub fn joules(value: f64) -> String {
    engineering(value, "J")
}

/// A share of 1 as a percentage: `43 %`, `4.3 %`, `< 0.1 %`, `99.9 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        NONE.to_owned()
    } else if percent == 0.0 {
        "0 %".to_owned()
    } else if percent.abs() < 0.1 {
        "< 0.1 %".to_owned()
    } else if percent.abs() < 9.95 || (99.5..99.95).contains(&percent.abs()) {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// A multiple: `3.10 ×`, `0.42 ×`, `27.0 ×`.
#[must_use]
pub fn multiple(ratio: f64) -> String {
    if ratio.is_finite() { format!("{} ×", three_digits(ratio)) } else { NONE.to_owned() }
}

/// All multiples from one to another: `0.42–3.10 ×`.
#[must_use]
pub fn multiples(ratios: &RangeInclusive<f64>) -> String {
    format!("{}–{}", times(*ratios.start()), multiple(*ratios.end()))
}

/// A multiple where the sign stands elsewhere, as in a heading: `3.10`, `0.42`, `27.0`.
#[must_use]
pub fn times(ratio: f64) -> String {
    if ratio.is_finite() { three_digits(ratio) } else { NONE.to_owned() }
}

/// A figure without a unit, three significant digits: `0.0175`, `12.3`, `4,120`, `12.3 M`.
#[must_use]
pub fn figure(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => NONE.to_owned(),
        0.0 => "0".to_owned(),
        v if v < 1e-4 => format!("{value:.2e}"),
        v if v >= 99_950.0 => engineering(value, ""),
        v if v >= 999.5 => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", count((v / 10.0).round() as u64 * 10))
        }
        v => {
            let before_point = v.log10().floor() as i32 + 1;
            let decimals = usize::try_from(3 - before_point).unwrap_or(0);
            format!("{value:.decimals$}")
        }
    }
}

/// A whole number with its thousands apart: `1,234,567`.
#[must_use]
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let first = digits.len() % 3;
    let mut grouped = digits[..first].to_owned();
    for group in digits.as_bytes()[first..].chunks(3) {
        if !grouped.is_empty() {
            grouped.push(',');
        }
        grouped.extend(group.iter().map(|&digit| char::from(digit)));
    }
    grouped
}

/// As short as it can be without losing more than a thousandth: `0.5`, `12`, `1.25`.
#[must_use]
pub fn plain(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Three significant digits of a figure, without an exponent below a million.
fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// How much more or less than 1 a ratio is: `+34.6 %`, `−2.0 %`; a dash for none.
#[must_use]
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    // Without a sign that nothing is behind.
    match (percent * 10.0).round() {
        _ if !ratio.is_finite() => NONE.to_owned(),
        0.0 => "0.0 %".to_owned(),
        _ => format!("{percent:+.1} %").replace('-', "−"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_prefix() {
        for (value, unit, text) in [
            (12_345_678.0, "/s", "12.3 M/s"),
            (4.1e-6, "s", "4.10 µs"),
            (0.0032, "J", "3.20 mJ"),
            (999.4, "/s", "999 /s"),
            (999.6, "/s", "1.00 k/s"),
            (999_999.0, "", "1.00 M"),
            (9.999, "", "10.0"),
            (1.0, "", "1.00"),
            (-4_200.0, "W", "-4.20 kW"),
            (0.0, "J", "0 J"),
            (1e-18, "s", "0.00 fs"),
            (1e21, "/s", "1000000 P/s"),
            (f64::NAN, "/s", "–"),
            (f64::INFINITY, "/s", "–"),
        ] {
            assert_eq!(engineering(value, unit), text, "{value}");
        }
        assert_eq!(nanoseconds(1.2e9), "1.20 s");
        assert_eq!(per_second(250.0), "250 /s");
        assert_eq!(durations(&(412.0..=933.4)), "412–933 ns");
        assert_eq!(durations(&(9.8e5..=1.2e6)), "980 µs–1.20 ms");
        assert_eq!(joules(3.3e-6), "3.30 µJ");
    }

    #[test]
    fn shares_and_multiples_are_short() {
        assert_eq!(multiples(&(0.42..=3.1)), "0.42–3.10 ×");
        for (share, text) in
            [(0.0, "0 %"), (0.0004, "< 0.1 %"), (0.0431, "4.3 %"), (0.0996, "10 %"), (1.0, "100 %")]
        {
            assert_eq!(percent(share), text);
        }
        assert_eq!(percent(f64::NAN), "–");
        assert_eq!(multiple(3.104), "3.10 ×");
        assert_eq!(multiple(27.03), "27.0 ×");
        assert_eq!(multiple(f64::INFINITY), "–");
        assert_eq!(plain(0.5), "0.5");
        assert_eq!(plain(120.0), "120");
    }

    #[test]
    fn figures_without_a_unit_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.017_470_3, "0.0175"),
            (0.5, "0.500"),
            (12.34, "12.3"),
            (999.4, "999"),
            (4_123.0, "4,120"),
            (-4_123.0, "-4,120"),
            (12_345_678.0, "12.3 M"),
            (1.234e-7, "1.23e-7"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(figure(value), text, "{value}");
        }
    }

    #[test]
    fn thousands_stand_apart() {
        for (value, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(value), text);
        }
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }
}
