//! Remembers what the lines of stacks mean, so that a repeated line is not parsed again.
//!
//! A profile repeats the same lines again and again. The cache has a fixed number of places. A
//! line's place is computed from the line's ends, because the address is at the beginning and the
//! object at the end. A new line replaces the one in its place. Hostile text can make the cache
//! useless, but neither slow nor large.

/// How many places; a power of two.
const PLACES: usize = 1 << 16;

/// Longer lines are not kept.
const LONGEST: usize = 1 << 9;

/// A line and what it stands for.
#[derive(Debug, Clone)]
struct CacheEntry<T> {
    /// Of the line, so that most others are known without a look at it.
    mix: u64,
    line: Vec<u8>,
    value: T,
}

/// The lines seen last.
#[derive(Debug)]
pub(crate) struct Cache<T> {
    places: Box<[Option<CacheEntry<T>>]>,
}

impl<T: Copy> Cache<T> {
    pub(crate) fn new() -> Self {
        Self { places: vec![None; PLACES].into_boxed_slice() }
    }

    /// What a line stands for, if it is here.
    pub(crate) fn get(&self, line: &[u8]) -> Option<T> {
        let mix = mix(line);
        let place = self.places[mix as usize % PLACES].as_ref()?;
        (place.mix == mix && place.line == line).then_some(place.value)
    }

    /// Keeps what a line stands for, unless the line is too long. It may displace another line.
    pub(crate) fn put(&mut self, line: &[u8], value: T) {
        if line.len() > LONGEST {
            return;
        }
        let mix = mix(line);
        match &mut self.places[mix as usize % PLACES] {
            Some(place) => {
                place.mix = mix;
                place.line.clear();
                place.line.extend_from_slice(line);
                place.value = value;
            }
            empty => *empty = Some(CacheEntry { mix, line: line.to_owned(), value }),
        }
    }
}

/// Eight bytes from `at` on, zeros behind the end.
fn word(line: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    let rest = line.get(at..).unwrap_or_default();
    let count = rest.len().min(8);
    bytes[..count].copy_from_slice(&rest[..count]);
    u64::from_le_bytes(bytes)
}

/// A number that differs between most lines; its lower bits say which place is a line's.
fn mix(line: &[u8]) -> u64 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let end = line.len().saturating_sub(9);
    [word(line, 0), word(line, 8), word(line, 16), word(line, end), line.len() as u64]
        .into_iter()
        .fold(0_u64, |sum, word| (sum.rotate_left(23) ^ word).wrapping_mul(SPREAD))
        .rotate_left(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_until_another_takes_its_place() {
        let mut cache = Cache::new();
        let lines: Vec<String> = (0..3 * PLACES).map(|n| format!("{n:x} f+0x{n:x} (x)")).collect();
        for (number, line) in lines.iter().enumerate() {
            cache.put(line.as_bytes(), number);
            assert_eq!(cache.get(line.as_bytes()), Some(number));
        }
        let kept = lines.iter().enumerate().filter(|(number, line)| {
            cache.get(line.as_bytes()).is_some_and(|found| {
                assert_eq!(found, *number);
                true
            })
        });
        assert!(kept.count() > PLACES / 2);
        let long = vec![b'a'; LONGEST + 1];
        cache.put(&long, 0);
        assert_eq!(cache.get(&long), None);
    }
}
