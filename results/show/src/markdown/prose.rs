//! Text from elsewhere in Markdown.

use super::code;
use crate::text::printable;

/// What ends a sentence or a part of it, and is no part of a name.
const ENDS: [char; 4] = ['.', ',', ';', ':'];

/// Returns a text as one line in which words that Markdown would take for marks or pictures, such as
/// `Vec<T>`, `__lock` and `std::lock::f`, are code. What is code already stays.
#[must_use]
pub fn prose(text: &str) -> String {
    let text = printable(&text.replace('\n', " "));
    let mut shown = String::new();
    let mut rest = &*text;
    while let Some(begin) = rest.find('`') {
        shown += &words(&rest[..begin]);
        let ticks = rest[begin..].bytes().take_while(|byte| *byte == b'`').count();
        let (fence, behind) = rest[begin..].split_at(ticks);
        match behind.find(fence) {
            Some(end) => {
                shown += &rest[begin..begin + 2 * ticks + end];
                rest = &behind[end + ticks..];
            }
            None => {
                shown += &"\\`".repeat(ticks);
                rest = behind;
            }
        }
    }
    shown + &words(rest)
}

fn words(text: &str) -> String {
    let word = |word: &str| {
        let name = word.trim_end_matches(ENDS);
        if is_misread(name) { code(name) + &word[name.len()..] } else { word.to_owned() }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Whether a word does not look in Markdown as it is written. A sign alone does, and so does an
/// underscore between letters.
fn is_misread(word: &str) -> bool {
    let marks = word.contains("::") || word.contains(['*', '<', '[', '\\', '~', '&', '$']);
    let edges = |part: &str| part.starts_with('_') || part.ends_with('_');
    let parts = |c: char| !c.is_alphanumeric() && c != '_';
    word.chars().count() > 1 && (marks || word.split(parts).any(edges))
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn only_what_would_be_misread_is_code() {
        for (text, shown) in [
            ("a_b takes < 0.1 % * 2 & more: 1 ± 2 ×.", "a_b takes < 0.1 % * 2 & more: 1 ± 2 ×."),
            ("in std::lock::f, or Vec<T>.", "in `std::lock::f`, or `Vec<T>`."),
            ("__lll_lock_wait\nand f(char*)", "`__lll_lock_wait` and `f(char*)`"),
            ("`omp <x>` stays, `` a`<b> `` too", "`omp <x>` stays, `` a`<b> `` too"),
            ("alone ` here", "alone \\` here"),
            ("[kernel]\u{1b}[2J", "`[kernel]\u{fffd}[2J`"),
        ] {
            assert_eq!(prose(text), shown);
        }
    }
}
