//! What `show` reads of an emulated program: its document, and its call stacks. What is accepted can be shown.
#![no_main]

use kilocore_emulation::{WrittenStacks, WrittenStudy};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(stacks) = WrittenStacks::read(text) {
        assert!(!stacks.table().plain(80_u16).is_empty());
    }
    if let Ok(study) = serde_json::from_str::<WrittenStudy>(text) {
        let _ = study.answer();
        study.tables().iter().for_each(|table| assert!(!table.plain(80_u16).is_empty()));
    }
});
