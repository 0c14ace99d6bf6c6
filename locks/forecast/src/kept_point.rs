//! A point in bytes, bit for bit, without the name of its lock.

use crate::Point;

/// Figures of a point that are always there.
const FIGURES: usize = 11;

/// Those of a point. Without `..`, so that a new field is not forgotten.
fn figures(point: &mut Point) -> [&mut f64; FIGURES] {
    let Point {
        lock: _,
        cores: _,
        threads: _,
        throughput_per_s,
        throughput_error_per_s,
        wait_share,
        lock_share_by_lock: _,
        joules_per_op,
        working_share,
        stalled_share,
        spinning_share,
        low_power_share,
        system_share,
        idle_share,
        fairness,
    } = point;
    [
        throughput_per_s,
        throughput_error_per_s,
        wait_share,
        joules_per_op,
        working_share,
        stalled_share,
        spinning_share,
        low_power_share,
        system_share,
        idle_share,
        fairness,
    ]
}

pub(crate) fn encode(point: &Point) -> Vec<u8> {
    let mut point = point.clone();
    let mut bytes = Vec::new();
    bytes.extend(point.cores.to_le_bytes());
    bytes.extend(point.threads.to_le_bytes());
    let by_lock = std::mem::take(&mut point.lock_share_by_lock);
    for figure in figures(&mut point).into_iter().map(|figure| *figure).chain(by_lock) {
        bytes.extend(figure.to_le_bytes());
    }
    bytes
}

/// The point, or `None` if the bytes are none.
pub(crate) fn decode(bytes: &[u8], lock: &'static str) -> Option<Point> {
    let (cores, rest) = bytes.split_first_chunk()?;
    let (threads, rest) = rest.split_first_chunk()?;
    let (read, left) = rest.as_chunks();
    if !left.is_empty() {
        return None;
    }
    let read: Vec<f64> = read.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
    let (read, by_lock) = read.split_first_chunk::<FIGURES>()?;
    let mut point = Point {
        cores: u32::from_le_bytes(*cores),
        threads: u32::from_le_bytes(*threads),
        lock_share_by_lock: by_lock.to_vec(),
        ..Point::empty(lock)
    };
    figures(&mut point).into_iter().zip(read).for_each(|(figure, read)| *figure = *read);
    Some(point)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use crate::Point;

    #[test]
    fn a_point_comes_back_bit_for_bit() {
        let point = Point {
            cores: 48,
            threads: 96,
            throughput_per_s: 0.1 + 0.2,
            lock_share_by_lock: vec![f64::MIN_POSITIVE, -0.0, 1.0 / 3.0],
            idle_share: 1e300,
            ..Point::empty("mcs")
        };
        let bytes = encode(&point);
        assert_eq!(decode(&bytes, "mcs"), Some(point.clone()));
        let back = decode(&bytes, "mcs").expect("it is one");
        assert!(back.lock_share_by_lock[1].is_sign_negative());
        for length in [0, 5, 7, 8, 8 + 8 * 10, bytes.len() - 1] {
            assert_eq!(decode(&bytes[..length], "mcs"), None, "{length}");
        }
    }
}
