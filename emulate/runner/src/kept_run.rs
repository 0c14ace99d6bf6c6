//! The file of a run that is kept.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kilocore_emulation_orders::Report;
use sha2::{Digest, Sha256};

/// A run that ended well, as it is kept: a digest of all that follows, a digest of what it was asked, three numbers, and
/// its report.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptRun {
    /// A digest of all that is known of a run before it begins.
    pub question: Question,
    /// When it had ended, in whole seconds.
    pub ended: SystemTime,
    /// How long it took here.
    pub took: Duration,
    /// Processor time that it took here.
    pub computed: Duration,
    /// What happened.
    pub report: Report,
}

/// A digest of all that is known of a run before it begins.
pub(crate) type Question = [u8; 32];

/// No date is later: the end of the year 9999.
const LAST: u64 = 253_402_300_799;

impl KeptRun {
    /// Reads one. None if the bytes are not whole, or none that was written.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (digest, rest) = bytes.split_first_chunk::<32>()?;
        (Sha256::digest(rest)[..] == digest[..]).then(|| Self::of(rest))?
    }

    /// Reads what stands behind the digest.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (question, rest) = bytes.split_first_chunk::<32>()?;
        let (numbers, report) = rest.split_first_chunk::<24>()?;
        let [ended, took, computed] = [0, 8, 16].map(|at| {
            let number = numbers[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(number)
        });
        (ended <= LAST).then_some(())?;
        Some(Self {
            question: *question,
            ended: UNIX_EPOCH + Duration::from_secs(ended),
            took: Duration::from_nanos(took),
            computed: Duration::from_nanos(computed),
            report: Report::read(report).ok()?,
        })
    }

    /// The bytes that [`read`](Self::read) takes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let ended = self.ended.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut bytes = vec![0; 32];
        bytes.extend(self.question);
        for number in [ended.min(LAST), ns(self.took), ns(self.computed)] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.report.to_bytes());
        let digest = Sha256::digest(&bytes[32..]);
        bytes[..32].copy_from_slice(&digest);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> KeptRun {
        KeptRun {
            question: [7; 32],
            ended: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
            took: Duration::from_nanos(5),
            computed: Duration::from_secs(3),
            report: Report { end_ns: 0.1 + 0.2, ..Report::default() },
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(KeptRun::read(&run().to_bytes()), Some(run()));
    }

    #[test]
    fn what_is_cut_short_or_changed_is_none() {
        let whole = run().to_bytes();
        for length in 0..whole.len() {
            assert!(KeptRun::read(&whole[..length]).is_none(), "{length}");
        }
        for index in 0..whole.len() {
            let mut changed = whole.clone();
            changed[index] ^= 1;
            assert!(KeptRun::read(&changed).is_none(), "{index}");
        }
    }

    #[test]
    fn what_has_the_right_digest_is_checked_all_the_same() {
        let with_digest = |rest: &[u8]| [&Sha256::digest(rest)[..], rest].concat();
        let whole = run().to_bytes();
        assert!(KeptRun::read(&with_digest(&whole[32..])).is_some());
        let late = [&whole[32..64], &u64::MAX.to_le_bytes(), &whole[72..]].concat();
        assert!(KeptRun::read(&with_digest(&late)).is_none());
        let bad = Report { end_ns: -1.0, ..Report::default() };
        assert!(KeptRun::read(&with_digest(&[&whole[32..88], &bad.to_bytes()].concat())).is_none());
        assert!(KeptRun::read(&with_digest(&whole[32..80])).is_none());
    }
}
