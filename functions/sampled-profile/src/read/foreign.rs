//! Formats that people try, and that have to be converted first.
//!
//! A few lines of such a file may look like a profile's. So these formats are looked for before any
//! of those that can be read.

use memchr::memmem;

/// A format that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// What the file is.
    pub(crate) what: &'static str,
    /// How it becomes a profile that can be read.
    pub(crate) mend: &'static str,
}

/// What a file begins with, or has near its beginning.
enum Mark {
    Start(&'static [u8]),
    /// A line that begins so.
    Line(&'static [u8]),
    /// A line that has this in it.
    Within(&'static [u8]),
}

use Mark::{Line, Start, Within};

const FOREIGN: [(Mark, Foreign); 30] = [
    (
        Start(b"FLR\0"),
        Foreign {
            what: "a recording of Java's Flight Recorder (JFR)",
            mend: "convert it with async-profiler: `jfrconv --cpu -o collapsed IN.jfr OUT.folded`",
        },
    ),
    (Start(b"\xff\xfe"), UTF_16),
    (Start(b"\xfe\xff"), UTF_16),
    (Start(b"gmon"), Foreign { what: "a profile of gprof", mend: PERF_RECORD }),
    (Start(b"SQLite format 3\0"), Foreign { what: "a database", mend: EXPORT }),
    (Start(b"PK\x03\x04"), Foreign { what: "a ZIP archive", mend: "unpack it first" }),
    (Start(b"<?xml"), Foreign { what: "an XML document", mend: EXPORT }),
    (Start(b"<svg"), FLAME_GRAPH),
    (Start(b"<!DOCTYPE"), FLAME_GRAPH),
    (Start(b"<!doctype"), FLAME_GRAPH),
    (Start(b"# callgrind format"), CALLGRIND),
    (Line(b"creator: callgrind"), CALLGRIND),
    (Line(b"# To display the perf.data header info"), PERF_REPORT),
    (Line(b"# Overhead "), PERF_REPORT),
    (
        Within(b"Time and Allocation Profiling Report"),
        Foreign {
            what: "a report of GHC's profiler",
            mend: "convert it with ghc-prof-flamegraph, or record with `perf record -g`",
        },
    ),
    (Line(b"Analysis of sampling "), MACOS_SAMPLE),
    (Line(b"Sampling process "), MACOS_SAMPLE),
    (
        Line(b"heap profile:"),
        Foreign {
            what: "a heap profile of gperftools, which has no time in it",
            mend: "record processor time (CPUPROFILE), or use `perf record -g`",
        },
    ),
    (
        Line(b"#\t0x"),
        Foreign {
            what: "a profile of Go as text",
            mend: "fetch it without `debug=1`: then it is pprof",
        },
    ),
    (Start(b"Total: "), PPROF_REPORT),
    (Line(b"Showing nodes accounting for "), PPROF_REPORT),
    (
        Start(b"--- symbol"),
        Foreign {
            what: "a profile with symbols, as `pprof --raw` prints it",
            mend: "give the profile itself that it was made of",
        },
    ),
    (
        Start(b"events: "),
        Foreign {
            what: "a profile in callgrind's format",
            mend: "give the profile itself that it was made of, or record with `perf record -g`",
        },
    ),
    (Within(b"speedscope.app/file-format-schema"), SPEEDSCOPE),
    // Names of functions and of libraries begin with such brackets, too.
    (Start(b"{\""), JSON),
    (Start(b"{\n"), JSON),
    (Start(b"[{"), JSON),
    (Start(b"[\n"), JSON),
    (
        Within(b"Full thread dump "),
        Foreign {
            what: "what threads of a Java virtual machine did at one moment",
            mend: "record some time, with async-profiler: `asprof -d 30 -o collapsed -f OUT.folded PID`",
        },
    ),
    (Line(b"Flat profile:"), Foreign { what: "a report of gprof", mend: PERF_RECORD }),
];

const MACOS_SAMPLE: Foreign = Foreign {
    what: "a report of macOS's `sample`",
    mend: "fold it with stackcollapse-sample.awk of the FlameGraph tools",
};
const PPROF_REPORT: Foreign = Foreign {
    what: "a report that pprof prints",
    mend: "give the profile itself that it was made of",
};
const SPEEDSCOPE: Foreign = Foreign {
    what: "a profile of speedscope",
    mend: "let what recorded it write folded stacks or pprof",
};
const JSON: Foreign =
    Foreign { what: "a JSON document", mend: "let what recorded it write folded stacks or pprof" };
const PERF_RECORD: &str = "it has no call stacks; record with `perf record -g`";
const EXPORT: &str = "export it as folded stacks or as pprof";
const UTF_16: Foreign =
    Foreign { what: "a text in UTF-16", mend: "convert it: `iconv -f UTF-16 -t UTF-8`" };
const FLAME_GRAPH: Foreign =
    Foreign { what: "a picture or a page", mend: "give the folded stacks that it was made of" };
const CALLGRIND: Foreign = Foreign {
    what: "a profile of callgrind, which counts instructions of a simulation and no time",
    mend: PERF_RECORD_STACKS,
};
const PERF_RECORD_STACKS: &str = "record with `perf record -g`";
const PERF_REPORT: Foreign = Foreign {
    what: "what `perf report` prints",
    mend: "give the perf.data file itself, or what `perf script` prints",
};
const DTRACE: Foreign = Foreign {
    what: "stacks as dtrace and bpftrace print them",
    mend: "fold them with stackcollapse.pl or stackcollapse-bpftrace.pl of the FlameGraph tools",
};

/// What the beginning of a file shows it to be, if that cannot be read.
pub(crate) fn foreign(head: &[u8]) -> Option<Foreign> {
    let lines = || head.split(|&byte| byte == b'\n');
    let has = |mark: &Mark| match mark {
        Start(mark) => head.starts_with(mark),
        Line(mark) => lines().any(|line| line.starts_with(mark)),
        Within(mark) => lines().take(8).any(|line| memmem::find(line, mark).is_some()),
    };
    let known = FOREIGN.iter().find(|(mark, _)| has(mark)).map(|(_, foreign)| *foreign);
    known.or_else(|| is_of_dtrace(head).then_some(DTRACE))
}

/// Whether a text has stacks of indented lines, each followed by a line that is only a number, or
/// that begins as bpftrace's maps do: `@[`.
fn is_of_dtrace(head: &[u8]) -> bool {
    let lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').collect();
    let is_frame = |line: &[u8]| {
        line.first() == Some(&b' ') && memchr::memchr(b'`', line).is_some() && line.len() < 4096
    };
    let is_number = |line: &[u8]| {
        let text = line.trim_ascii();
        !text.is_empty() && text.len() < line.len() && text.iter().all(u8::is_ascii_digit)
    };
    let counted = lines.windows(2).filter(|pair| is_frame(pair[0]) && is_number(pair[1])).count();
    counted > 0 || head.starts_with(b"@[\n") || memmem::find(head, b"\n@[\n").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_people_try_are_known() {
        for (head, what) in [
            (&b"FLR\0\0\x02\0\0"[..], "JFR"),
            (b"\xff\xfea\0;\0b\0 \x001\0", "UTF-16"),
            (b"# To display the perf.data header info, please use --header\n#\n", "perf report"),
            (b"# Samples: 1K\n# Overhead  Command  Symbol\n", "perf report"),
            (b"\tMon Nov 1 Time and Allocation Profiling Report  (Final)\n", "GHC"),
            (b"Analysis of sampling app (pid 1) every 1 millisecond\n", "sample"),
            (b"heap profile:   1:  2 [ 3:  4] @ heapprofile\n", "heap"),
            (b"--- contention:\ncycles/second=1\n7 1 @ 0x4a2b\n#\t0x4a2a\tmain.f+0x1\tm.go:7\n", "Go"),
            (b"# callgrind format\nversion: 1\n", "callgrind"),
            (b"version: 1\ncreator: callgrind-3.19\n", "callgrind"),
            (b"<?xml version=\"1.0\"?>", "XML"),
            (b"Total: 203 samples\n     139  68.5%  68.5%      139  68.5% copy\n", "pprof"),
            (b"File: app\nType: cpu\nShowing nodes accounting for 9.8s, 100%\n", "pprof"),
            (b"--- symbol\nbinary=./app\n0x7fb0 start\n", "pprof --raw"),
            (b"events: Hits\n\nfl=(1) a.c\n", "callgrind"),
            (b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"", "speedscope"),
            (b"[\n{\"ph\":\"X\",\"name\":\"f\",\"dur\":2}\n]\n", "JSON"),
            (b"2026-01-01\nFull thread dump OpenJDK (17):\n\n\"main\" #1\n", "Java"),
            (
                b"\n              libc.so.1`read+0x12\n              app`main+0x1\n               12\n",
                "dtrace",
            ),
            (b"Attaching 1 probe...\n\n@[\n    read+1\n    main+2\n]: 12\n", "bpftrace"),
        ] {
            let found = foreign(head).unwrap_or_else(|| panic!("{what}"));
            assert!(found.what.contains(what), "{what}: {found:?}");
        }
        for head in [
            &b"main;work 12\n"[..],
            b"[libc.so.6];main 12\n",
            b"{closure#0};work 12\n",
            b"app 7 1.000001: 1000 cycles: \n\t 4010f0 main+0x1 (/bin/app)\n\n",
            b"# ========\n# cmdline : perf record\n",
            b"",
        ] {
            assert_eq!(foreign(head), None);
        }
    }
}
