//! What makes a comparison less than it seems.

use std::fmt;

use serde::{Serialize, Serializer};

/// Something that makes a comparison less than it seems. Says what, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// How much was done is not known.
    WorkAssumed,
    /// How many cores there were is not known.
    CoresUnknown {
        /// The name of the profile's file.
        name: String,
    },
    /// The profiles are of different events.
    Events {
        /// The event of the base's profiles.
        base: String,
        /// The event of the other side's profiles.
        scaled: String,
    },
    /// The sampling rates differ, or are not known to be the same.
    Rates {
        /// In words: the base's.
        base: String,
        /// In words: that of the other side.
        scaled: String,
    },
    /// They were recorded under different kernels.
    Kernels {
        /// The release of the base's kernel.
        base: String,
        /// That of the other side's.
        scaled: String,
    },
    /// One was recorded for much longer.
    Durations {
        /// Of the base, in seconds.
        base: f64,
        /// Of the other side, in seconds.
        scaled: f64,
    },
    /// A profile has so few samples that only large losses stand out.
    FewSamples {
        /// The name of the profile's file.
        name: String,
        /// How many samples the profile has.
        samples: u64,
    },
    /// Much of the time is in functions without names.
    MissingSymbols {
        /// The name of the profile's file.
        name: String,
        /// From 0 to 1.
        share: f64,
    },
    /// A profile has samples of all programs that ran, and not of one.
    WholeSystem {
        /// The name of the profile's file.
        name: String,
    },
    /// Cycles became time by the clock that the processor's name states.
    NominalClock {
        /// The clock that the name states, in GHz.
        ghz: f64,
    },
    /// Nothing is known of the time that threads were waiting.
    OnProcessorOnly,
    /// Nothing is known of the time that threads were running.
    AsleepOnly,
    /// Nothing is known of the time that threads did not wait for locks.
    WaitingOnly,
    /// One profile has samples of the kernel and the other has none.
    KernelOnOneSide {
        /// The name of a profile without samples of the kernel.
        without: String,
    },
    /// Neither has samples of the kernel.
    NoKernel,
    /// The sampler lost many of the samples that it took.
    Lost {
        /// The name of the profile's file.
        name: String,
        /// From 0 to 1: of all that were taken.
        share: f64,
    },
    /// The program used more than the cores it is said to have had.
    MoreThanItsCores {
        /// The name of the profile's file.
        name: String,
        /// How many it used at least.
        used: f64,
        /// How many it is said to have had.
        cores: u32,
    },
    /// One profile has call stacks and the other has none.
    StacksOnOneSide {
        /// The name of a profile without call stacks.
        without: String,
    },
    /// Much of the time is in functions that the other side does not have at all.
    FewFunctionsInCommon {
        /// From 0 to 1.
        share: f64,
    },
    /// What the reader had to say of a file.
    Reader {
        /// The name of the profile's file.
        name: String,
        /// The remark, as a sentence.
        remark: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| format!("{:.0} %", share * 100.0);
        match self {
            Self::WorkAssumed => f.write_str(
                "assumed that every run did the same work: one unit; if not, say how much \
                 (--base-work, --scaled-work)",
            ),
            Self::CoresUnknown { name } => write!(
                f,
                "{name} does not say on how many cores the program ran; say it (--base-cores, \
                 --scaled-cores)"
            ),
            Self::Events { base, scaled } => write!(
                f,
                "the profiles are of different events, {base} and {scaled}: only what both events \
                 count alike can be compared"
            ),
            Self::Rates { base, scaled } => write!(
                f,
                "the sampling rates differ: {base} in the base, {scaled} in the other; rare \
                 functions are seen less well at the lower one"
            ),
            Self::Kernels { base, scaled } => write!(
                f,
                "the kernels differ, {base} in the base and {scaled} in the other: functions of the kernel are \
                 held against those of the same name, and one that has another name there seems new"
            ),
            Self::Durations { base, scaled } => write!(
                f,
                "one run is much longer: {base:.1} s and {scaled:.1} s of processor time; starting up \
                 and warming up weigh more in the shorter one"
            ),
            Self::FewSamples { name, samples } => write!(
                f,
                "{name} has {samples} samples: only large losses stand out; record for longer or \
                 more often"
            ),
            Self::MissingSymbols { name, share } => write!(
                f,
                "{} of {name} is in functions without names; install debugging symbols, or allow \
                 the kernel's (kernel.kptr_restrict=0)",
                percent(share)
            ),
            Self::OnProcessorOnly => f.write_str(
                "only time on processors is compared: waiting while asleep, for locks, disks or \
                 the network, is not seen",
            ),
            Self::WholeSystem { name } => write!(
                f,
                "{name} was recorded of the whole system (perf record -a): what other programs did counts \
                 as the program's; record it alone with `perf record -g -- COMMAND`"
            ),
            Self::NominalClock { ghz } => write!(
                f,
                "time on processors is cycles of the nominal clock from the file, {ghz:.2} GHz: of \
                 cores that ran faster, it is too long, and what they did not use too short; --clock \
                 says how fast they were"
            ),
            Self::AsleepOnly => f.write_str(
                "only time asleep is compared: what threads do on processors is not seen, and a thread \
                 that has nothing to do sleeps as well",
            ),
            Self::WaitingOnly => f.write_str(
                "only time that threads waited is compared: what they do on processors is not seen",
            ),
            Self::KernelOnOneSide { without } => write!(
                f,
                "{without} has no samples of the kernel and the other profile has: what the \
                 kernel takes looks like a loss or gain that it is not"
            ),
            Self::NoKernel => f.write_str(
                "there are no samples of the kernel: time in system calls and page faults is not \
                 seen (kernel.perf_event_paranoid=1, or as root)",
            ),
            Self::Lost { name, share } => write!(
                f,
                "{} of the samples of {name} were lost; sample less often",
                percent(share)
            ),
            Self::MoreThanItsCores { name, used, cores } => write!(
                f,
                "{name} used {used:.1} cores and is said to have had {cores}: check the number of \
                 cores and that only the program was recorded"
            ),
            Self::StacksOnOneSide { without } => write!(
                f,
                "{without} has no call stacks: compare functions by their own time, not by what \
                 they call (record with -g)"
            ),
            Self::FewFunctionsInCommon { share } => write!(
                f,
                "{} of the time is in functions that only one profile has: are they of the same \
                 program, with the same symbols?",
                percent(share)
            ),
            Self::Reader { name, remark } => write!(f, "{name}: {remark}"),
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}
