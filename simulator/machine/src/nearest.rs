//! The nearest known word to one that was mistyped.

/// The longest word that is compared; the bound keeps the work small whatever is typed.
const LONGEST: usize = 64;

/// The known word with the fewest edits to `word`, if it shares more with it than chance would.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let wanted: Vec<char> = word.to_lowercase().chars().take(LONGEST).collect();
    known
        .into_iter()
        .map(|word| (edits(&wanted, &word.chars().collect::<Vec<_>>()), word))
        .min()
        .filter(|&(edits, word)| edits * 2 <= word.len())
        .map(|(_, word)| word)
}

/// Levenshtein's distance, a row at a time.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_word_and_nonsense_finds_none() {
        let known = ["knl-7210", "core-i7-6700"];
        assert_eq!(nearest("KNL-7201", known), Some("knl-7210"));
        assert_eq!(nearest("core-i7", known), Some("core-i7-6700"));
        assert_eq!(nearest("sparc", known), None);
        assert_eq!(nearest("", known), None);
    }
}
