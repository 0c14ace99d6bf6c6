//! Writes commands such that a shell reads them back unchanged.

/// Returns a command, quoted such that a shell reads the same words: `a 'b c' '$HOME'`.
#[must_use]
pub fn shell_words(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// Returns a word of a command, in quotes if a shell would otherwise read it as something else.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.chars().any(char::is_control) {
        format!("$'{}'", word.chars().map(ansi_c).collect::<String>())
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns a character as it is written between `$'` and `'`.
fn ansi_c(c: char) -> String {
    match c {
        '\n' => r"\n".to_owned(),
        '\t' => r"\t".to_owned(),
        '\\' | '\'' => format!("\\{c}"),
        // Always three octal digits, so that a digit that follows is not read as one of them.
        c if c.is_ascii_control() => format!("\\{:03o}", c as u32),
        c if c.is_control() => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::shell_words;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let words = ["a", "b c", "it's", "", "$HOME", "x=1"].map(str::to_owned);
        assert_eq!(shell_words(&words), r"a 'b c' 'it'\''s' '' '$HOME' x=1");
        assert_eq!(shell_words(&["it's\n\t\\\u{1b}7".to_owned()]), r"$'it\'s\n\t\\\0337'");
    }
}
