//! Finding out from its contents what a file is.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use kilocore_emulation::WrittenStacks;
use kilocore_figures::Provenance;
use kilocore_forecast::fit::MeasuredTable;
use serde::Deserialize;
use serde::de::IgnoredAny;

use kilocore_command_line::Failure;

/// What Kilocore's commands write and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// What `record locks` writes.
    LockProfile,
    /// What `record samples` and other samplers write.
    SampledProfile,
    /// What `record pages` writes, or `show --events` prints of it.
    PageTrace,
    /// What `record references` writes.
    References,
    /// What `bench --output FILE.json` writes.
    BenchRun,
    /// What `record machine` writes.
    Machine,
    /// Throughputs that somebody has measured.
    Measurements,
    /// What `emulate --stacks` writes.
    EmulatedStacks,
    /// What `emulate --json` prints and `emulate --output FILE.json` writes.
    EmulatedProgram,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LockProfile => "a lock profile",
            Self::SampledProfile => "a sampled profile",
            Self::PageTrace => "a trace of pages",
            Self::References => "a trace of references",
            Self::BenchRun => "a saved run of benchmarks",
            Self::Machine => "a machine file",
            Self::Measurements => "a table of measured throughputs",
            Self::EmulatedStacks => "the call stacks of an emulated program",
            Self::EmulatedProgram => "the document of an emulated program",
        })
    }
}

/// What is looked for, for whoever names something else.
const LOOKED_FOR: &str = "looked for were a lock profile (kilocore record locks), a sampled profile \
     (kilocore record samples, perf, pprof, gperftools, folded stacks), a trace of pages (kilocore \
     record pages), a trace of references (kilocore record references), a saved run of benchmarks \
     (kilocore bench --output FILE.json), an emulated program (kilocore emulate --json or --stacks), a \
     machine file (kilocore record machine), and measured throughputs (a table with the columns lock,cores,throughput or threads,throughput or one column for \
     each variant, or the same as JSON)";

/// So much of a file is looked at, unless it is JSON that does not say at its beginning what it is.
const HEAD: u64 = 64 << 10;

/// The largest document that is read only to find out what it is.
const LARGEST_DOCUMENT: u64 = 256 << 20;

/// The answer to a file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let mend = "name a file that exists and may be read";
    Failure::new(format!("cannot read {}: {error}; {mend}", path.display()))
}

impl FileKind {
    /// What a file is.
    ///
    /// # Errors
    /// If it cannot be read or is nothing that is known.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let unreadable = |error| unreadable(path, &error);
        if path.is_dir() {
            return Err(Failure::new(format!(
                "{}: this is a directory; name a file in it",
                path.display()
            )));
        }
        let mut file = File::open(path).map_err(unreadable)?;
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
        if let Some(kind) = by_head(&head) {
            return Ok(kind);
        }
        let mut what = "this is none of ours".to_owned();
        if is_json(&head) {
            file.take(LARGEST_DOCUMENT).read_to_end(&mut head).map_err(unreadable)?;
            if head.len() as u64 >= LARGEST_DOCUMENT {
                what = format!("this is larger than {} MiB", LARGEST_DOCUMENT >> 20);
            } else {
                match by_fields(&head) {
                    Ok(kind) => return Ok(kind),
                    Err(Unknown::Called(name)) => {
                        what = format!("this is '{name}', which is none of ours");
                    }
                    Err(Unknown::CutShort) => {
                        what =
                            "the document ends in the middle, as one that was cut short".to_owned();
                    }
                    Err(Unknown::Foreign) => {}
                }
            }
        } else if head.trim_ascii().is_empty() {
            what = "the file is empty".to_owned();
        } else {
            match kilocore_sampled_profile::recognize(path) {
                Ok(()) => return Ok(Self::SampledProfile),
                Err(error) => return Err(Failure::new(format!("{error}; {LOOKED_FOR}"))),
            }
        }
        Err(Failure::new(format!("{}: {what}; {LOOKED_FOR}", path.display())))
    }
}

/// What begins like this, if the beginning tells.
fn by_head(head: &[u8]) -> Option<FileKind> {
    if kilocore_page_trace::is_packed_trace(head) {
        return Some(FileKind::PageTrace);
    }
    if kilocore_references::is_trace(head) {
        return Some(FileKind::References);
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}');
    if is_json(head) {
        // Whoever writes these documents writes this first, so that even one that was cut off is known.
        let start: String = text.chars().filter(|c| !c.is_whitespace()).take(200).collect();
        let begins =
            |field: &str, value: &str| start.starts_with(&format!("{{\"{field}\":\"{value}\""));
        if begins("format", kilocore_lock_profile::FORMAT) {
            return Some(FileKind::LockProfile);
        }
        return begins("schema", kilocore_kernel_bench::document::SCHEMA)
            .then_some(FileKind::BenchRun);
    }
    if WrittenStacks::is_likely(text) {
        return Some(FileKind::EmulatedStacks);
    }
    if MeasuredTable::is_likely(text) {
        return Some(FileKind::Measurements);
    }
    kilocore_machine::is_likely(text).then_some(FileKind::Machine)
}

fn is_json(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    matches!(text.first(), Some(b'{' | b'['))
}

/// The fields by which documents are told apart.
#[derive(Deserialize)]
struct Fields {
    format: Option<String>,
    schema: Option<String>,
    points: Option<IgnoredAny>,
    about: Option<IgnoredAny>,
    provenance: Option<serde_json::Value>,
    command: Option<IgnoredAny>,
}

/// What is known of a document that is none of ours.
#[derive(Debug)]
enum Unknown {
    /// It says that it is this.
    Called(String),
    /// It ends in the middle.
    CutShort,
    /// It has no mark of a format of Kilocore.
    Foreign,
}

/// What has these fields.
fn by_fields(document: &[u8]) -> Result<FileKind, Unknown> {
    let document = document.strip_prefix(b"\xef\xbb\xbf").unwrap_or(document);
    if document.trim_ascii_start().starts_with(b"[") {
        return Ok(FileKind::Measurements);
    }
    // A trace of pages as text has such an object in each line.
    let mut objects = serde_json::Deserializer::from_slice(document).into_iter();
    let Fields { format, schema, points, about, provenance, command } = match objects.next() {
        Some(Ok(fields)) => fields,
        Some(Err(error)) if error.is_eof() => return Err(Unknown::CutShort),
        _ => return Err(Unknown::Foreign),
    };
    // Throughputs that were emulated are of no command.
    let is_emulated = points.is_some()
        && command.is_some()
        && provenance.as_ref().and_then(|word| Provenance::named(word.as_str()?))
            == Some(Provenance::Emulated);
    match (format.as_deref(), schema.as_deref()) {
        (Some(kilocore_lock_profile::FORMAT), _) => Ok(FileKind::LockProfile),
        (_, Some(kilocore_kernel_bench::document::SCHEMA)) => Ok(FileKind::BenchRun),
        _ if is_emulated => Ok(FileKind::EmulatedProgram),
        _ if points.is_some() => Ok(FileKind::Measurements),
        _ if about.is_some() => Ok(FileKind::PageTrace),
        _ => Err(format.or(schema).map_or(Unknown::Foreign, Unknown::Called)),
    }
}

/// An option that goes with some kinds of file.
#[derive(Debug)]
pub(crate) struct Applicability {
    option: &'static str,
    is_given: bool,
    kinds: &'static [FileKind],
}

impl Applicability {
    /// An option, whether it is given, and the kinds of file that it goes with.
    pub(crate) fn new(option: &'static str, is_given: bool, kinds: &'static [FileKind]) -> Self {
        Self { option, is_given, kinds }
    }
}

/// Refuses an option that says nothing about a file of this kind.
pub(crate) fn refuse_unfit(
    path: &Path,
    kind: FileKind,
    options: &[Applicability],
) -> Result<(), Failure> {
    let Some(unfit) =
        options.iter().find(|option| option.is_given && !option.kinds.contains(&kind))
    else {
        return Ok(());
    };
    let kinds: Vec<String> = unfit.kinds.iter().map(FileKind::to_string).collect();
    Err(Failure::new(format!(
        "{} goes with {}, and {} is {kind}; leave it out",
        unfit.option,
        kinds.join(" or "),
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(content: &[u8]) -> Result<FileKind, String> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), content).expect("it can be written");
        FileKind::of(file.path()).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn files_are_known_by_their_contents() {
        for (content, expected) in [
            (
                &b"{ \"format\": \"kilocore-profile\", \"version\": 1, \"comm"[..],
                FileKind::LockProfile,
            ),
            (b"{\"version\":1,\"format\":\"kilocore-profile\"}", FileKind::LockProfile),
            (b"{\"schema\":\"kilocore-bench\",\"version\":1}", FileKind::BenchRun),
            (b"{\"version\":1,\"schema\":\"kilocore-bench\"}", FileKind::BenchRun),
            (b"lock,cores,throughput\nmcs,6,20\n", FileKind::Measurements),
            (b"# of last night\n\nCores;Lock;Throughput\n6;mcs;20\n", FileKind::Measurements),
            (b"[{\"lock\":\"mcs\",\"cores\":6,\"throughput\":20}]", FileKind::Measurements),
            (b"{\"a\":1,\"points\":[]}", FileKind::Measurements),
            (b"| threads | mutex |\n|---|---|\n| 1 | 5 |\n", FileKind::Measurements),
            (b"BenchmarkMutex-2 \t 100 \t 5.0 ns/op\n", FileKind::Measurements),
            (b"1 5\n2 6\n", FileKind::Measurements),
            (b"# mine\nschema = 1\nclock_ghz.value = 2\n", FileKind::Machine),
            (b"KC-PAGES....", FileKind::PageTrace),
            (b"{\"about\":{\"command\":[]}}\n{\"at\":1}\n", FileKind::PageTrace),
            (b"KC-REFER....", FileKind::References),
            (b"PERFILE2....", FileKind::SampledProfile),
            (b"main thread;cores=8;main;[computing] 12\n", FileKind::EmulatedStacks),
            (
                b"{\"provenance\":\"emulated\",\"command\":\"a\",\"points\":[]}",
                FileKind::EmulatedProgram,
            ),
            (b"{\"provenance\":\"emulated\",\"points\":[]}", FileKind::Measurements),
            (b"main;work;memcpy 12\nmain;work 7\n", FileKind::SampledProfile),
        ] {
            assert_eq!(kind(content), Ok(expected), "{}", String::from_utf8_lossy(content));
        }
    }

    #[test]
    fn what_is_none_of_these_is_refused_with_what_was_looked_for() {
        for content in [
            &b""[..],
            b"\n \n",
            b"{}",
            b"{\"traceEvents\":[]}",
            b"hello\nworld\n",
            b"\x7fELF\x02\x01\x01",
        ] {
            let said = kind(content).expect_err("nothing of ours");
            for part in
                ["a lock profile", "a sampled profile", "a machine file", "lock,cores,throughput"]
            {
                assert!(said.contains(part), "{said}");
            }
        }
    }
}
