//! Commands that say how many cores, or threads, a program is run with.

use std::ffi::OsString;

/// What stands in a command for the number of cores that the program is run on; both mean the same.
const PLACEHOLDERS: [&str; 2] = ["{cores}", "{threads}"];

/// Returns the command on so many cores: that number stands in the place of each `{cores}` and
/// `{threads}`. A word that is no UTF-8 is left as it is.
///
/// ```
/// use kilocore_process::sized_for;
///
/// let command = ["make", "-j{cores}"].map(Into::into);
/// assert_eq!(sized_for(&command, 8), ["make", "-j8"]);
/// ```
#[must_use]
pub fn sized_for(command: &[OsString], cores: u32) -> Vec<OsString> {
    let number = cores.to_string();
    let sized = |word: &OsString| match word.to_str() {
        Some(word) => {
            let put = |word: String, placeholder: &&str| word.replace(*placeholder, &number);
            PLACEHOLDERS.iter().fold(word.to_owned(), put).into()
        }
        None => word.clone(),
    };
    command.iter().map(sized).collect()
}

/// Whether a command says how many cores, or threads, it is run with.
///
/// ```
/// use kilocore_process::is_sized;
///
/// assert!(is_sized(&["make", "-j{cores}"].map(Into::into)) && !is_sized(&["make".into()]));
/// ```
#[must_use]
pub fn is_sized(command: &[OsString]) -> bool {
    let names_it = |word: &str| PLACEHOLDERS.iter().any(|placeholder| word.contains(placeholder));
    command.iter().filter_map(|word| word.to_str()).any(names_it)
}

/// What somebody has written in a command who meant a [placeholder](sized_for), and that one.
///
/// ```
/// use kilocore_process::misspelt_number;
///
/// assert_eq!(misspelt_number(&["make".into(), "-j{core}".into()]), Some(("{core}", "{cores}")));
/// assert_eq!(misspelt_number(&["make".into(), "-j{cores}".into()]), None);
/// ```
#[must_use]
pub fn misspelt_number(command: &[OsString]) -> Option<(&'static str, &'static str)> {
    const SINGULAR: [&str; 2] = ["{core}", "{thread}"];
    let is_there = |(wrong, _): &(&str, &str)| {
        command.iter().filter_map(|word| word.to_str()).any(|word| word.contains(wrong))
    };
    SINGULAR.into_iter().zip(PLACEHOLDERS).find(is_there)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn only_placeholders_are_replaced() {
        let odd = OsString::from_vec(vec![0xff, b'{']);
        let command = [OsString::from("a{threads}b{cores}"), "{}".into(), odd.clone()];
        assert_eq!(sized_for(&command[1..], 16), command[1..]);
        assert_eq!(sized_for(&command, 16), [OsString::from("a16b16"), "{}".into(), odd]);
    }
}
