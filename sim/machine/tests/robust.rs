//! Whatever the text, reading it ends in a description or in a message.

use kilocore_machine::{Description, builtin};
use proptest::prelude::*;

/// A slip of the editor in a file.
#[derive(Debug, Clone)]
enum Slip {
    Delete { at: prop::sample::Index, length: usize },
    Insert { at: prop::sample::Index, text: String },
    DropLine(prop::sample::Index),
    RepeatLine(prop::sample::Index),
    SwapLines(prop::sample::Index, prop::sample::Index),
    Value { line: prop::sample::Index, value: String },
}

fn slip() -> impl Strategy<Value = Slip> {
    let value = prop_oneof![
        any::<f64>().prop_map(|x| format!("{x:?}")),
        any::<i64>().prop_map(|x| x.to_string()),
        Just("nan".to_owned()),
        Just("-inf".to_owned()),
        Just("[[]]".to_owned()),
        Just("{}".to_owned()),
        Just("1979-05-27".to_owned()),
        "\"[a-z ]{0,8}\"",
    ];
    prop_oneof![
        (any::<prop::sample::Index>(), 1..40_usize)
            .prop_map(|(at, length)| Slip::Delete { at, length }),
        (any::<prop::sample::Index>(), "\\PC{0,12}|[\\[\\]={}\"',.\n#]{1,4}")
            .prop_map(|(at, text)| Slip::Insert { at, text }),
        any::<prop::sample::Index>().prop_map(Slip::DropLine),
        any::<prop::sample::Index>().prop_map(Slip::RepeatLine),
        any::<(prop::sample::Index, prop::sample::Index)>()
            .prop_map(|(a, b)| Slip::SwapLines(a, b)),
        (any::<prop::sample::Index>(), value).prop_map(|(line, value)| Slip::Value { line, value }),
    ]
}

fn make(slip: &Slip, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    match slip {
        Slip::Delete { at, length } => {
            let at = at.index(chars.len());
            return chars[..at].iter().chain(chars[at..].iter().skip(*length)).collect();
        }
        Slip::Insert { at, text } => {
            let at = at.index(chars.len());
            return chars[..at]
                .iter()
                .copied()
                .chain(text.chars())
                .chain(chars[at..].iter().copied())
                .collect();
        }
        Slip::DropLine(at) => drop(lines.remove(at.index(lines.len()))),
        Slip::RepeatLine(at) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at].clone());
        }
        Slip::SwapLines(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        Slip::Value { line, value } => {
            let at = line.index(lines.len());
            if let Some((key, _)) = lines[at].split_once('=') {
                lines[at] = format!("{key}= {value}");
            }
        }
    }
    lines.join("\n")
}

/// What must hold of any text: no panic, and an accepted one is sound and written back unchanged.
fn check(text: &str) {
    match Description::parse(text, "any.toml") {
        Ok(description) => {
            description.validate().unwrap_or_else(|error| panic!("accepted, but {error}"));
            assert!((1..=4096).contains(&description.hardware_threads()));
            assert_eq!(Description::parse(&description.to_toml(), "again.toml"), Ok(description));
        }
        Err(error) => assert!(error.to_string().starts_with("any.toml"), "{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC*") {
        check(&text);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn slips_in_built_in_files_are_accepted_or_named(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec(slip(), 1..4),
    ) {
        let text = builtin()[which.index(builtin().len())].text.to_owned();
        check(&slips.iter().fold(text, |text, slip| make(slip, &text)));
    }
}
