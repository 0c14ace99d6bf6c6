//! The environment of a program that is emulated.

use std::ffi::OsString;

use kilocore_points::ORDERS;

use crate::EmulateError;

/// A name and a value.
pub(crate) type Variable = (OsString, OsString);

/// Variables that are between this process and who has started it. A program sees none of them: it does the same in a sweep
/// as alone.
pub(crate) const OWN: [&str; 1] = [ORDERS];

/// The variables that a program gets of this process's.
pub(crate) fn inherited() -> impl Iterator<Item = Variable> {
    std::env::vars_os().filter(|(name, _)| OWN.iter().all(|own| name != own))
}

/// The variables that are put into a program's environment on so many cores, as QEMU takes them: these, and what belongs
/// there on each run.
pub(crate) fn environment(own: &[Variable], cores: u32) -> Result<Vec<OsString>, EmulateError> {
    let mut all: Vec<Variable> = own.iter().cloned().chain(openmp(cores)).collect();
    all.push(padding(inherited(), &all));
    all.iter().map(variable).collect()
}

/// The variable by which OpenMP's programs know how many threads to make, unless somebody has set it.
pub(crate) fn openmp(cores: u32) -> Option<Variable> {
    const NAME: &str = "OMP_NUM_THREADS";
    std::env::var_os(NAME).is_none().then(|| (NAME.into(), cores.to_string().into()))
}

/// A variable that makes the whole environment as long as it is elsewhere, unless that is longer by much: where a
/// program's stack begins follows from that, and with it which of its data shares lines and pages.
fn padding(inherited: impl Iterator<Item = Variable>, own: &[Variable]) -> Variable {
    const NAME: &str = "KILOCORE_PADDING";
    const BYTES: usize = 16 << 10;
    // A pointer to it, its name, an equals sign, its value, and a zero.
    let bytes = |(name, value): &Variable| 8 + name.len() + 1 + value.len() + 1;
    let stays = |(name, _): &Variable| name != NAME && own.iter().all(|(other, _)| other != name);
    let empty = (OsString::from(NAME), OsString::new());
    let inherited: usize = inherited.filter(stays).map(|variable| bytes(&variable)).sum();
    let all = inherited + own.iter().chain([&empty]).map(bytes).sum::<usize>();
    let missing = all.next_multiple_of(BYTES) - all;
    (empty.0, "x".repeat(missing).into())
}

/// A variable as QEMU takes it.
fn variable((name, value): &Variable) -> Result<OsString, EmulateError> {
    if value.as_encoded_bytes().contains(&b',') {
        let (name, value) = (name.clone(), value.clone());
        return Err(EmulateError::Comma { name, value });
    }
    let mut variable = name.clone();
    variable.push("=");
    variable.push(value);
    Ok(variable)
}

#[cfg(test)]
mod tests {
    use super::{Variable, padding};

    fn pair(name: &str, value: &str) -> Variable {
        (name.into(), value.into())
    }

    #[test]
    fn environments_that_differ_are_of_one_length() {
        let length = |inherited: &[Variable], own: &[Variable]| {
            let padding = padding(inherited.iter().cloned(), own);
            let all = inherited.iter().chain(own).chain([&padding]);
            all.map(|(name, value)| name.len() + value.len() + 10).sum::<usize>()
        };
        let expected = 16 << 10;
        assert_eq!(length(&[], &[]), expected);
        assert_eq!(length(&[pair("A", "1"), pair("PATH", "/bin")], &[]), expected);
        assert_eq!(length(&[pair("A", "1")], &[pair("B", "2")]), expected);
        assert_eq!(length(&[pair("A", &"1".repeat(20_000))], &[]), 2 * expected);
        // One in the place of another counts once.
        let own = [pair("A", "22")];
        assert_eq!(padding([pair("A", "1")].into_iter(), &own), padding([].into_iter(), &own));
    }
}
