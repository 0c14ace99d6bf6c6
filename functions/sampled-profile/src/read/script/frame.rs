//! Parses a line of a stack, `address symbol+0xoffset (object)`:
//!
//! ```text
//! ffffffff816bb643 fput+0x23 ([kernel.kallsyms])
//! 5581d3a0124f std::vector<int, std::allocator<int> >::push_back(int&&)+0x1f (/usr/bin/my program)
//! 7f2d1c0a6b10 [unknown] (/lib/x86_64-linux-gnu/libc.so.6)
//! ```
//!
//! Symbols and objects may contain spaces and brackets. If an offset stands before the object's
//! opening bracket, it shows where the object begins. Without an offset, the object begins at the
//! bracket that matches the last closing one.

use memchr::memmem;

use super::header::first_word;
use crate::Function;

/// A parsed line of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) address: u64,
    /// Without its offset; [`Function::UNKNOWN`] if there is none.
    pub(crate) symbol: &'a [u8],
    /// Empty if it is not known.
    pub(crate) object: &'a [u8],
    /// Whether the function was inlined into the next function outwards.
    pub(crate) is_inlined: bool,
}

/// Parses a line without leading white space.
pub(crate) fn frame(line: &[u8]) -> Result<Frame<'_>, &'static str> {
    let (word, rest) = first_word(line.trim_ascii());
    let address = address(word).ok_or("the line does not begin with an address")?;
    let (symbol, object) = split(rest)?;
    let symbol = if symbol.is_empty() { Function::UNKNOWN.as_bytes() } else { symbol };
    let (object, is_inlined) = match object {
        b"inlined" => (&b""[..], true),
        b"[unknown]" => (&b""[..], false),
        object => (object, false),
    };
    Ok(Frame { address, symbol, object, is_inlined })
}

/// A hexadecimal number of at most 64 bits.
pub(crate) fn address(word: &[u8]) -> Option<u64> {
    if !(1..=16).contains(&word.len()) {
        return None;
    }
    word.iter().try_fold(0, |sum, &byte| {
        let digit = (byte as char).to_digit(16)?;
        Some(sum << 4 | u64::from(digit))
    })
}

/// The symbol without its offset, and what is in the object's brackets.
fn split(text: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    let unknown = Function::UNKNOWN.as_bytes();
    if let Some(object) = text.strip_prefix(unknown)
        && (object.is_empty() || object.starts_with(b" ("))
    {
        return Ok((unknown, bracketed(object)?));
    }
    if let Some((symbol, object)) = split_at_offset(text) {
        return Ok((symbol, bracketed(object)?));
    }
    match last_bracket(text) {
        Some(0) => Ok((b"", bracketed(text)?)),
        Some(at) => Ok((text[..at].trim_ascii_end(), bracketed(&text[at..])?)),
        None if memmem::find(text, b" (/").is_some() || memmem::find(text, b" ([").is_some() => {
            Err("the bracket around the object is not closed")
        }
        None => Ok((text, b"")),
    }
}

/// Splits at the last `+0x…` that ends the text or comes before the object's bracket.
fn split_at_offset(text: &[u8]) -> Option<(&[u8], &[u8])> {
    memmem::rfind_iter(text, b"+0x").find_map(|plus| {
        let digits = &text[plus + b"+0x".len()..];
        let count = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let behind = &digits[count..];
        let ends = count > 0 && (behind.is_empty() || behind.starts_with(b" ("));
        ends.then(|| (&text[..plus], behind))
    })
}

/// The position of the bracket that matches the last character.
fn last_bracket(text: &[u8]) -> Option<usize> {
    text.strip_suffix(b")")?;
    let mut open = 0_usize;
    for (at, byte) in text.iter().enumerate().rev() {
        match byte {
            b')' => open += 1,
            b'(' => {
                open = open.saturating_sub(1);
                // A bracket within a word is a part of a path or of a list of arguments.
                if open == 0 && (at == 0 || text[at - 1] == b' ') {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// What is within brackets, without the offset in the object that some versions print.
fn bracketed(text: &[u8]) -> Result<&[u8], &'static str> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Ok(b"");
    }
    let inner = text.strip_prefix(b"(").and_then(|text| text.strip_suffix(b")"));
    let inner = inner.ok_or("the bracket around the object is not closed")?;
    Ok(split_at_offset(inner).map_or(inner, |(object, _)| object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_and_objects_are_told_apart() {
        for (line, symbol, object) in [
            (
                "ffffffff8158e7f6 filemap_add_folio+0xc6 ([kernel.kallsyms])",
                "filemap_add_folio",
                "[kernel.kallsyms]",
            ),
            (
                "1ab70 _start+0x0 (/usr/lib/ld-linux-x86-64.so.2)",
                "_start",
                "/usr/lib/ld-linux-x86-64.so.2",
            ),
            ("0 [unknown] ([unknown])", "[unknown]", ""),
            (
                "7f00 [unknown] (/tmp/my dir (1)/a.out (deleted))",
                "[unknown]",
                "/tmp/my dir (1)/a.out (deleted)",
            ),
            ("7f00 f(void (*)(int), char)+0x1f (/tmp/x)", "f(void (*)(int), char)", "/tmp/x"),
            ("7f00 f(void (*)(int), char) (/tmp/x)", "f(void (*)(int), char)", "/tmp/x"),
            ("7f00 operator() (/tmp/a(b) c)", "operator()", "/tmp/a(b) c"),
            (
                "7f00 std::map<int, a b>::find+0x8 (/tmp/a(b)",
                "std::map<int, a b>::find",
                "/tmp/a(b",
            ),
            ("7f00 f+0x8 (/tmp/x+0x12)", "f", "/tmp/x"),
            ("7f00 f+0x8", "f", ""),
            ("7f00 f", "f", ""),
            ("7f00 f(int)", "f(int)", ""),
            ("7f00", "[unknown]", ""),
            ("7f00 ([kernel.kallsyms])", "[unknown]", "[kernel.kallsyms]"),
            ("7f00 [unknown]::x (/a)", "[unknown]::x", "/a"),
        ] {
            let frame = frame(line.as_bytes()).unwrap();
            assert_eq!(frame.symbol, symbol.as_bytes(), "{line}");
            assert_eq!(frame.object, object.as_bytes(), "{line}");
            assert!(!frame.is_inlined);
        }
        let inlined = frame(b"401136 std::vector<int>::at (inlined)").unwrap();
        assert!(inlined.is_inlined && inlined.object.is_empty());
        assert_eq!(inlined.symbol, b"std::vector<int>::at");
        for line in
            ["", "x f+0x1 (/a)", "12345678123456789 f (/a)", "7f00 f+0x8 (/tmp/x", "7f f (/x"]
        {
            assert!(frame(line.as_bytes()).is_err(), "{line}");
        }
    }
}
