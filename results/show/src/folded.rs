//! Folded stacks, as tools for flame graphs read them: `main;work;memcpy 220`.

/// A name without the characters that would end it there.
#[must_use]
pub fn folded_frame(name: &str) -> String {
    let safe = |c: char| match c {
        ';' => ':',
        c if c.is_control() => '?',
        c => c,
    };
    name.chars().map(safe).collect()
}
