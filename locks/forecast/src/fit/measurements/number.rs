//! Figures in the notations that people write: `1234567.5`, `1,234,567.5`, `1.234.567,5`,
//! `1 234 567,5`, `1'234'567.5`, `1.2345675e6`, and a unit behind them, `1.2M` or `60.3 ns/op`.
//!
//! A comma or a point with three figures behind it may part thousands or decimals. Such a figure has two
//! readings, and what other figures tell of the notation ([`Evidence`]) decides between them.

/// What a comma or a point does in a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// It stands before the decimals.
    Decimal,
    /// It parts thousands.
    Thousands,
}

/// The value of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// It can be read in one way.
    Plain(f64),
    /// It can be read in two ways, as its only mark does the one or the other.
    Either {
        /// The mark: a comma or a point.
        mark: char,
        /// The value if the mark stands before the decimals.
        decimal: f64,
        /// The value if the mark parts thousands.
        thousands: f64,
    },
}

/// A figure, with what stands behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure<'a> {
    /// Its value.
    pub(super) value: Value,
    /// What it tells of the notation.
    pub(super) tells: Evidence,
    /// What stands behind it, without blanks around it: perhaps a unit.
    pub(super) rest: &'a str,
}

/// What is known of a notation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    /// Something tells that decimals have a point, or thousands a comma.
    point: bool,
    /// Something tells that decimals have a comma, or thousands a point.
    comma: bool,
}

/// Notations that contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Contradiction;

impl Evidence {
    /// That a mark does this.
    fn of(mark: char, does: Mark) -> Self {
        let point = (mark == '.') == (does == Mark::Decimal);
        Self { point, comma: !point }
    }

    /// All that both tell.
    pub(super) fn and(self, other: Self) -> Self {
        Self { point: self.point || other.point, comma: self.comma || other.comma }
    }

    /// What a mark does, if something tells.
    pub(super) fn does(self, mark: char) -> Result<Option<Mark>, Contradiction> {
        match (self.point, self.comma) {
            (true, true) => Err(Contradiction),
            (false, false) => Ok(None),
            (point, _) if point == (mark == '.') => Ok(Some(Mark::Decimal)),
            _ => Ok(Some(Mark::Thousands)),
        }
    }
}

/// Blanks, apostrophes and lines that part thousands and do nothing else.
fn parts_thousands(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' | '\'' | '’' | '_')
}

/// The figure that a text begins with; none if it begins with none.
pub(super) fn figure(text: &str) -> Option<Figure<'_>> {
    let text = text.trim();
    let (negative, unsigned) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let signed = |value: f64| if negative { -value } else { value };
    if let Some(word) = word(unsigned) {
        let value = Value::Plain(signed(word));
        return Some(Figure { value, tells: Evidence::default(), rest: "" });
    }
    let (body, rest) = unsigned.split_at(body_len(unsigned));
    let (exponent, rest) = rest.split_at(exponent_len(rest));
    let (value, tells) = read(body, exponent)?;
    let value = match value {
        Value::Plain(value) => Value::Plain(signed(value)),
        Value::Either { mark, decimal, thousands } => {
            Value::Either { mark, decimal: signed(decimal), thousands: signed(thousands) }
        }
    };
    Some(Figure { value, tells, rest: rest.trim() })
}

/// What is written in words and is no number larger than zero, so that it is refused as what it is.
fn word(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "nan" => Some(f64::NAN),
        "inf" | "infinity" | "∞" => Some(f64::INFINITY),
        _ => None,
    }
}

/// Whether a field says that there is no figure.
pub(super) fn is_absent(field: &str) -> bool {
    const ABSENT: [&str; 9] = ["", "-", "–", "—", "?", "n/a", "na", "null", "none"];
    ABSENT.contains(&field.to_lowercase().as_str())
}

/// Bytes of the digits and marks at the beginning, of which the last is a digit, or a point behind one.
fn body_len(text: &str) -> usize {
    let mut length = 0;
    for (at, c) in text.char_indices() {
        if c.is_ascii_digit() || (c == '.' && length == at && at > 0) {
            length = at + 1;
        } else if !(c == '.' || c == ',' || parts_thousands(c)) {
            break;
        }
    }
    length
}

/// Bytes of an exponent: `e6`, `E-3`.
fn exponent_len(text: &str) -> usize {
    let Some(signed) = text.strip_prefix(['e', 'E']) else { return 0 };
    let unsigned = signed.strip_prefix(['+', '-']).unwrap_or(signed);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { 0 } else { text.len() - unsigned.len() + digits }
}

/// Reads digits with marks among them.
fn read(body: &str, exponent: &str) -> Option<(Value, Evidence)> {
    let count = |mark: char| body.matches(mark).count();
    let has_blanks = body.contains(parts_thousands);
    let last = body.rfind(['.', ',']);
    let (Some(at), commas, points) = (last, count(','), count('.')) else {
        let whole = if has_blanks { grouped(body, parts_thousands)? } else { body.to_owned() };
        return Some((Value::Plain(value(&whole, "", exponent)?), Evidence::default()));
    };
    let mark = if body[at..].starts_with(',') { ',' } else { '.' };
    let other = if mark == ',' { '.' } else { ',' };
    let (whole, decimals) = (&body[..at], &body[at + 1..]);
    let as_decimal = |groups: &dyn Fn(char) -> bool| {
        let whole = if whole.contains(groups) { grouped(whole, groups)? } else { whole.to_owned() };
        value(&whole, plain(decimals)?, exponent)
    };
    let as_thousands = || {
        let all = grouped(body, |c| c == mark)?;
        value(&all, "", exponent)
    };
    if commas > 0 && points > 0 {
        // The last mark stands before decimals, and the other one parts thousands: 1.234,5.
        let once = if mark == ',' { commas == 1 } else { points == 1 };
        let value = as_decimal(&|c| c == other).filter(|_| once && !has_blanks)?;
        return Some((Value::Plain(value), Evidence::of(mark, Mark::Decimal)));
    }
    if commas + points > 1 {
        let value = as_thousands()?;
        return Some((Value::Plain(value), Evidence::of(mark, Mark::Thousands)));
    }
    let decimal = as_decimal(&parts_thousands)?;
    // Thousands have three figures behind the mark and one to three before it, the first not 0.
    let either = exponent.is_empty() && !whole.starts_with('0');
    match as_thousands().filter(|_| either) {
        Some(thousands) => Some((Value::Either { mark, decimal, thousands }, Evidence::default())),
        None => Some((Value::Plain(decimal), Evidence::of(mark, Mark::Decimal))),
    }
}

/// The digits of groups of three, of which the first may be shorter, and which one mark parts.
fn grouped(text: &str, parts: impl Fn(char) -> bool) -> Option<String> {
    let mut marks = text.chars().filter(|&c| parts(c));
    let mark = marks.next()?;
    if marks.any(|c| c != mark) {
        return None;
    }
    let mut groups = text.split(mark);
    let first = plain(groups.next()?)?;
    let mut digits = first.to_owned();
    for group in groups {
        digits += plain(group).filter(|group| group.len() == 3)?;
    }
    ((1..=3).contains(&first.len())).then_some(digits)
}

/// The same, if it is digits and nothing else.
fn plain(digits: &str) -> Option<&str> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)
}

fn value(whole: &str, decimals: &str, exponent: &str) -> Option<f64> {
    if plain(whole)?.is_empty() && decimals.is_empty() {
        return None;
    }
    format!("{whole}.{decimals}{exponent}").parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Evidence, Figure, Mark, Value, figure};

    fn plain(text: &str) -> f64 {
        match figure(text) {
            Some(Figure { value: Value::Plain(value), rest: "", .. }) => value,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn each_notation_is_read() {
        for (text, value) in [
            ("7", 7.0),
            ("2e1", 20.0),
            ("2.5E-3", 0.0025),
            ("5.", 5.0),
            (".5", 0.5),
            (",5", 0.5),
            ("1,5", 1.5),
            ("0,125", 0.125),
            ("1234,567", 1234.567),
            ("1,234,567", 1_234_567.0),
            ("1.234.567", 1_234_567.0),
            ("1,234.5", 1234.5),
            ("1.234,5", 1234.5),
            ("1.234.567,25", 1_234_567.25),
            ("1 234 567", 1_234_567.0),
            ("1\u{202f}234\u{202f}567,5", 1_234_567.5),
            ("1'234'567.5", 1_234_567.5),
            ("1’234", 1234.0),
            ("1_000", 1000.0),
            ("1.234e3", 1234.0),
            ("-1,5", -1.5),
            ("−2", -2.0),
            ("+3", 3.0),
            ("1e999", f64::INFINITY),
            ("-inf", f64::NEG_INFINITY),
        ] {
            assert_eq!(plain(text), value, "{text}");
        }
        assert!(plain("NaN").is_nan());
    }

    #[test]
    fn three_figures_behind_the_only_mark_can_be_two_things() {
        for (text, mark, decimal, thousands) in
            [("1,234", ',', 1.234, 1234.0), ("12.345", '.', 12.345, 12345.0)]
        {
            let read = figure(text).expect("a figure");
            assert_eq!(read.value, Value::Either { mark, decimal, thousands });
            assert_eq!(read.tells, Evidence::default());
        }
        let of = |text| figure(text).expect("a figure").tells;
        assert_eq!(of("1,5").does(','), Ok(Some(Mark::Decimal)));
        assert_eq!(of("1,5").does('.'), Ok(Some(Mark::Thousands)));
        assert_eq!(of("1,234,567").does(','), Ok(Some(Mark::Thousands)));
        assert_eq!(of("12").does(','), Ok(None));
        assert!(of("1,5").and(of("1.5")).does(',').is_err());
    }

    #[test]
    fn what_stands_behind_a_figure_is_kept_apart() {
        for (text, rest) in [
            ("1.2M", "M"),
            ("350 k", "k"),
            ("60.3 ns/op", "ns/op"),
            ("5 ± 2%", "± 2%"),
            ("12s", "s"),
        ] {
            assert_eq!(figure(text).expect("a figure").rest, rest, "{text}");
        }
    }

    #[test]
    fn what_is_no_figure_is_none() {
        for text in [
            "",
            "-",
            "mcs",
            "1,23,456",
            "1.2.3",
            "1,2,3",
            "1'23",
            "1 234'567",
            ",",
            ".",
            "1.2,3.4",
            "12 3",
        ] {
            assert_eq!(figure(text).map(|figure| figure.value), None, "{text}");
        }
    }

    /// The digits of a whole number, in groups of three.
    fn in_groups(whole: u64, mark: &str) -> String {
        let digits = whole.to_string();
        let groups: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap()).collect();
        groups.join(mark)
    }

    proptest! {
        #[test]
        fn figures_come_back_from_each_notation(
            whole in 0..1_000_000_000_000_u64,
            decimals in prop::option::of(0..1000_u64),
            notation in prop::sample::select(vec![
                ("", "."), ("", ","), (",", "."), (".", ","), (" ", ","), (" ", "."), ("'", "."),
                ("’", ","), ("\u{a0}", ","), ("\u{202f}", ","), ("_", "."),
            ]),
            suffix in prop::sample::select(vec!["", "k", " M", " ns/op"]),
        ) {
            let (group, point) = notation;
            let whole_text = in_groups(whole, group);
            // Four figures, so that they cannot be taken for thousands.
            let (text, expected) = match decimals {
                Some(decimals) => (
                    format!("{whole_text}{point}{decimals:04}{suffix}"),
                    format!("{whole}.{decimals:04}").parse::<f64>().unwrap(),
                ),
                None => (format!("{whole_text}{suffix}"), whole as f64),
            };
            let read = figure(&text).expect("a figure");
            prop_assert_eq!(read.rest, suffix.trim());
            let value = match read.value {
                Value::Plain(value) => value,
                Value::Either { thousands, .. } => thousands,
            };
            prop_assert_eq!(value, expected, "{}", text);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[-+0-9.,' eE_\u{a0}µk]{0,40}") {
            let _ = figure(&text);
        }
    }
}
