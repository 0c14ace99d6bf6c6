//! The lock under which a variant was measured: `mutex=futex`.

use std::str::FromStr;

use kilocore_command_line::lock_named;
use kilocore_locks::LockId;

/// A variant of a table, and its lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LockOf {
    /// The name of the variant in the table.
    pub(super) variant: String,
    /// The lock, as Kilocore knows it.
    pub(super) lock: LockId,
}

impl FromStr for LockOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The name of a lock has no `=` in it, but that of a variant may.
        let pair = text.rsplit_once('=').filter(|(variant, _)| !variant.trim().is_empty());
        let Some((variant, lock)) = pair else {
            return Err(format!("`{text}` is not VARIANT=LOCK, as in mutex=futex"));
        };
        let lock = lock_named(lock.trim()).map_err(|unknown| unknown.to_string())?;
        Ok(Self { variant: variant.trim().to_owned(), lock })
    }
}

#[cfg(test)]
mod tests {
    use super::LockOf;
    use kilocore_locks::LockId;

    #[test]
    fn variants_are_named_before_the_last_equals_sign() {
        let expected = LockOf { variant: "spin=1".to_owned(), lock: LockId::Tas };
        assert_eq!("spin=1=tas".parse::<LockOf>().expect("a pair"), expected);
        for (text, part) in
            [("mutex", "VARIANT=LOCK"), ("=mcs", "VARIANT=LOCK"), ("a=mcss", "`mcs`")]
        {
            let error = text.parse::<LockOf>().expect_err("refused");
            assert!(error.contains(part), "{error}");
        }
    }
}
