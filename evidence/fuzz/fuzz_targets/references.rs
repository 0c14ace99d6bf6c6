//! Traces of references, and the records of rings. Packets have a checksum, which no chance finds, so
//! bytes are also packed here as the events of a file.
#![no_main]

use kilocore_references::record::Record;
use kilocore_references::{About, Reader, Tally};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    if let Some((&[low, high], columns)) = bytes.split_first_chunk() {
        let count = u16::from_le_bytes([low, high]);
        let about = serde_json::to_vec(&About::default()).expect("it is written");
        let mut file = b"KC-REFER\x02\0\0\0".to_vec();
        packet(&mut file, 1, 1, &about);
        packet(&mut file, 2, count.into(), columns);
        check(&file);
    }
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight bytes")))
        .collect();
    let slots: Vec<[u64; 2]> =
        words.chunks_exact(2).map(|pair| pair.try_into().expect("two words")).collect();
    if let Some(record) = Record::decode(&slots) {
        let mut again = Vec::new();
        record.encode(|slot| again.push(slot));
        // Names that are no text become longer, and lose their beginnings when they are written again.
        if record != Record::Other {
            let again = Record::decode(&again).expect("what is written can be read");
            let mut third = Vec::new();
            again.encode(|slot| third.push(slot));
            assert_eq!(Record::decode(&third), Some(again));
        }
    }
});

fn packet(file: &mut Vec<u8>, kind: u32, count: u32, raw: &[u8]) {
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(raw.len()));
    zstd_safe::compress(&mut packed, raw, 1).expect("there is room");
    for number in [kind, count, raw.len() as u32, packed.len() as u32] {
        file.extend(number.to_le_bytes());
    }
    file.extend(packed);
}

fn check(bytes: &[u8]) {
    let Ok(reader) = Reader::new(bytes) else { return };
    let mut tally = Tally::default();
    for event in reader {
        let Ok(event) = event else { break };
        tally.count(&event);
    }
}
