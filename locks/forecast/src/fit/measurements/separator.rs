//! Finding what separates the fields of a table.

use super::records::{Record, Separator, records};

/// What may separate. Where several would do, the first does: a comma may as well stand before decimals,
/// and a blank within a name.
const CANDIDATES: [Separator; 6] = [
    Separator::Char('\t'),
    Separator::Char(';'),
    Separator::Char('|'),
    Separator::Char(','),
    Separator::WideBlanks,
    Separator::Blanks,
];

/// So many rows are looked at.
const LOOKED_AT: usize = 50;

/// What separates the fields of a text: of what parts its first row, that by which most rows have as many
/// fields as the first. If the text has a row that cannot be split, such as one with a quote that is not
/// closed, it is what is most frequent in the first row. None if nothing parts the first row.
pub(super) fn separator(text: &str) -> Option<Separator> {
    let candidates = CANDIDATES.into_iter().filter_map(|candidate| {
        let rows = records(text, candidate, LOOKED_AT).ok()?.rows;
        let first = rows.first()?;
        if first.fields.len() < 2 || is_parted_elsewhere(first, candidate) {
            return None;
        }
        let alike = rows.iter().filter(|row| row.fields.len() == first.fields.len()).count();
        Some((candidate, alike))
    });
    // The first of those that are equally good.
    let better = |best: Option<(Separator, usize)>, (candidate, alike)| match best {
        Some((_, most)) if most >= alike => best,
        _ => Some((candidate, alike)),
    };
    candidates.fold(None, better).map(|(candidate, _)| candidate).or_else(|| most_frequent(text))
}

/// The most frequent of the separators of one character in the first row.
fn most_frequent(text: &str) -> Option<Separator> {
    let is_row = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let first = text.split(['\n', '\r']).find(is_row)?;
    let count = |separator: Separator| match separator {
        Separator::Char(separator) => first.matches(separator).count(),
        Separator::Blanks | Separator::WideBlanks => 0,
    };
    CANDIDATES.into_iter().max_by_key(|&separator| count(separator)).filter(|&most| count(most) > 0)
}

/// Whether something else separates this row: another separator stands at the end of a field, as in
/// `cores, throughput` parted by blanks, or in the first field, a count, as in `1 1,5` parted by commas.
fn is_parted_elsewhere(row: &Record<'_>, by: Separator) -> bool {
    let is_other = |c: char| matches!(c, ',' | ';' | '|') && by != Separator::Char(c);
    let ends =
        row.fields.iter().any(|field| field.ends_with(is_other) || field.starts_with(is_other));
    let count = row.field(0).unwrap_or_default();
    let is_two_figures = count.split_whitespace().count() > 1
        && count.chars().all(|c| c.is_ascii_digit() || c.is_whitespace() || c == '.');
    ends || is_two_figures
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Separator, separator};

    #[test]
    fn separators_are_found() {
        for (text, expected) in [
            ("lock,cores,throughput\nmcs,6,20\n", Separator::Char(',')),
            ("lock, cores, throughput\nmcs, 6, 20\n", Separator::Char(',')),
            ("threads;ops/s\n1;1,5\n2;2,75\n", Separator::Char(';')),
            ("1;1,5\n2;2,75\n", Separator::Char(';')),
            ("threads\tops, in all\n1\t1,5\n", Separator::Char('\t')),
            ("| threads | ops, in all |\n|---|---|\n| 1 | 1,5 |\n", Separator::Char('|')),
            ("threads throughput\n1 1,5\n2 2,75\n", Separator::Blanks),
            ("1 1,5\n2 2,75\n", Separator::Blanks),
            ("threads  time (s)\n1        10.5\n16       2.5\n", Separator::WideBlanks),
            ("threads\tmutex\tmcs\n1\t\t5\t6\n2\t\t7\t8\n", Separator::WideBlanks),
            ("my lock,cores,ops\nlock a,6,20\n", Separator::Char(',')),
            ("1,1 234\n2,2 345\n", Separator::Char(',')),
        ] {
            assert_eq!(separator(text), Some(expected), "{text}");
        }
        for text in ["", "\n\n", "one\nword\n", "# a, comment\n"] {
            assert_eq!(separator(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_separates_figures_under_names_is_found(
            rows in prop::collection::vec((1..100_u32, 0..10_000_u32, 0..100_u32), 1..20),
            by in prop::sample::select(vec![
                (",", Separator::Char(',')), (";", Separator::Char(';')),
                ("\t", Separator::Char('\t')), (" | ", Separator::Char('|')),
                ("   ", Separator::WideBlanks), (" ", Separator::Blanks),
            ]),
        ) {
            let (mark, expected) = by;
            let point = if mark == "," { '.' } else { ',' };
            let mut text = format!("threads{mark}throughput\n");
            for (threads, whole, decimals) in rows {
                text += &format!("{threads}{mark}{whole}{point}{decimals:02}\n");
            }
            prop_assert_eq!(separator(&text), Some(expected));
        }
    }
}
