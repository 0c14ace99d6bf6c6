//! Numbers of variable length: seven bits in each byte, the lowest first, and the highest bit says
//! whether another byte follows.

/// Bytes that are no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoNumber;

/// Appends a number to `bytes`: one byte if it is below 128, ten at the most.
pub fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front.
///
/// # Errors
/// [`NoNumber`] if there is none, or one that 64 bits do not hold.
pub fn take(bytes: &mut &[u8]) -> Result<u64, NoNumber> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(NoNumber)?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        if shift == 63 && part > 1 {
            return Err(NoNumber);
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(NoNumber)
}

/// Returns a difference as a number that is small if the difference is, whichever its sign.
#[must_use]
pub fn fold(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// Returns the difference that was folded.
#[must_use]
pub fn unfold(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, difference: i64) {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            put(&mut bytes, fold(difference));
            let mut rest = &bytes[..];
            prop_assert_eq!(take(&mut rest), Ok(number));
            prop_assert_eq!(take(&mut rest).map(unfold), Ok(difference));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_are_a_number_or_none(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            while take(&mut rest).is_ok() {}
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_none() {
        assert_eq!(take(&mut &[0xff; 10][..]), Err(NoNumber));
        assert_eq!(take(&mut &[0x80; 3][..]), Err(NoNumber));
    }
}
