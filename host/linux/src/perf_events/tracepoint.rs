//! Places in the kernel that can be traced: their numbers, and where the fields of their records lie.
//!
//! The kernel describes them in files of a file system, *tracefs*, which many machines have not
//! mounted. Whoever may mount it may also have a mount that nobody else sees and that ends with the
//! descriptor, so that nothing of the machine changes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// Where the file system is mounted, where it is.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// No description of a place is as long.
const LONGEST: u64 = 1 << 16;

/// Why a place cannot be traced.
#[derive(Debug, thiserror::Error)]
pub enum TracepointError {
    /// The file system is not mounted, and this user may not mount it.
    #[error("tracefs is not mounted, and cannot be: {0}")]
    NoTracefs(io::Error),
    /// This kernel has no such place, or does not show it to this user.
    #[error("{path}: {source}")]
    Read {
        /// The file of the place.
        path: PathBuf,
        /// Why it cannot be read.
        source: io::Error,
    },
    /// The kernel describes the place in a way that is not known.
    #[error("{path} has no number and no fields of the kind that is known")]
    Unknown {
        /// The file of the place.
        path: PathBuf,
    },
}

/// The kernel's description of what can be traced.
#[derive(Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// A mount of its own, which ends with it.
    _mount: Option<OwnedFd>,
}

/// A place in the kernel that can be traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracepoint {
    /// What `perf_event_attr::config` calls it, with the type `PERF_TYPE_TRACEPOINT`.
    pub id: u64,
    fields: BTreeMap<String, Field>,
    /// The bits that have names, such as those of allocations.
    flags: BTreeMap<String, u64>,
}

/// Where a field lies in the raw data of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
}

impl Tracefs {
    /// Finds the file system, or mounts it where nobody else sees it.
    ///
    /// # Errors
    /// If it is nowhere and this user may not mount it.
    pub fn open() -> Result<Self, TracepointError> {
        let there = |root: &&&str| Path::new(root).join("events").exists();
        if let Some(root) = MOUNTED.iter().find(there) {
            return Ok(Self { root: PathBuf::from(root), _mount: None });
        }
        let mount = mount().map_err(|error| TracepointError::NoTracefs(error.into()))?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Self { root, _mount: Some(mount) })
    }

    /// The place of a name, such as `sched/sched_waking`.
    ///
    /// # Errors
    /// If this kernel does not have it or does not show it, or describes it in another way.
    pub fn find(&self, name: &str) -> Result<Tracepoint, TracepointError> {
        let path = self.root.join("events").join(name).join("format");
        let fail = |source| TracepointError::Read { path: path.clone(), source };
        let mut text = String::new();
        File::open(&path)
            .and_then(|file| file.take(LONGEST).read_to_string(&mut text))
            .map_err(fail)?;
        Tracepoint::parse(&text).ok_or(TracepointError::Unknown { path })
    }
}

fn mount() -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

impl Tracepoint {
    /// Parses the kernel's description of a place.
    ///
    /// ```
    /// use kilocore_linux::perf_events::Tracepoint;
    ///
    /// let text = "name: sched_waking\nID: 375\nformat:\n\
    ///     \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
    /// let waking = Tracepoint::parse(text).expect("it has a number");
    /// assert_eq!(waking.id, 375);
    /// let pid = waking.field("pid").expect("a field");
    /// let mut raw = [0; 28];
    /// raw[24] = 7;
    /// assert_eq!(pid.of(&raw), Some(7));
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?;
        let fields = text.lines().filter_map(field).collect();
        let format = text.lines().find_map(|line| line.strip_prefix("print fmt:"));
        let flags = format.into_iter().flat_map(|line| line.split('{')).filter_map(flag).collect();
        Some(Self { id: id.trim().parse().ok()?, fields, flags })
    }

    /// A field of a name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields.get(name).copied()
    }

    /// The bit that has a name in the kernel's description, such as `__GFP_ZERO`. These bits differ
    /// from kernel to kernel.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<u64> {
        self.flags.get(name).copied()
    }
}

/// What follows an opening brace of a table of flags: `( gfp_t)((((1UL))) << (8))), "__GFP_ZERO"}, `,
/// or, in kernels before 6.10, `( gfp_t)0x100u), "__GFP_ZERO"}, `. Only single bits are taken: what
/// stands for several is written as a sum of these.
fn flag(entry: &str) -> Option<(String, u64)> {
    let (value, rest) = entry.split_once('"')?;
    let (name, _) = rest.split_once('"')?;
    let number = |text: &str, radix| {
        let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
        u64::from_str_radix(&text[..end], radix).ok()
    };
    let mut shifts = value.match_indices("<< (");
    let bit = match (shifts.next(), shifts.next()) {
        (Some((at, shift)), None) => {
            let shift = number(&value[at + shift.len()..], 10)?;
            1_u64.checked_shl(u32::try_from(shift).ok()?)?
        }
        (None, None) => {
            let mut numbers = value.match_indices("0x");
            let (at, prefix) = numbers.next()?;
            let bits = number(&value[at + prefix.len()..], 16)?;
            Some(bits).filter(|bits| bits.is_power_of_two() && numbers.next().is_none())?
        }
        _ => return None,
    };
    Some((name.to_owned(), bit))
}

/// A line such as `field:unsigned int flags;  offset:16;  size:4;  signed:0;`.
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declaration = parts.next()?.strip_prefix("field:")?;
    let name = declaration.split([' ', '*']).next_back()?.split('[').next()?;
    let mut number = |name: &str| parts.next()?.strip_prefix(name)?.parse::<usize>().ok();
    let (offset, size) = (number("offset:")?, number("size:")?);
    Some((name.to_owned(), Field { offset, size }))
}

impl Field {
    /// Its value, without a sign, in a record's raw data. `None` if the data end before it, or it is
    /// no number of one, two, four or eight bytes.
    #[must_use]
    pub fn of(self, raw: &[u8]) -> Option<u64> {
        let bytes = raw.get(self.offset..self.offset.checked_add(self.size)?)?;
        Some(match *bytes {
            [byte] => byte.into(),
            [a, b] => u16::from_ne_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
            _ => u64::from_ne_bytes(bytes.try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CONTENTION: &str = "name: contention_begin\nID: 408\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\n\
        \tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n\
        \tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n\n\
        print fmt: \"%p (flags=%s)\", REC->lock_addr, REC->flags\n";

    #[test]
    fn fields_are_found_by_name_and_read_where_they_lie() {
        let place = Tracepoint::parse(CONTENTION).expect("a place");
        assert_eq!(place.id, 408);
        let mut raw = [0_u8; 40];
        raw[2] = 9;
        raw[8..16].copy_from_slice(&0xffff_8880_1234_5678_u64.to_ne_bytes());
        raw[16] = 34;
        let of = |name| place.field(name).and_then(|field| field.of(&raw));
        assert_eq!(of("lock_addr"), Some(0xffff_8880_1234_5678));
        assert_eq!(of("flags"), Some(34));
        assert_eq!(of("common_flags"), Some(9));
        assert_eq!(of("comm"), None, "text is no number");
        assert_eq!(place.field("missing"), None);
        let flags = place.field("flags").expect("it is there");
        assert_eq!(flags.of(&raw[..18]), None, "the data end within it");
    }

    #[test]
    fn bits_are_found_by_name_as_old_and_new_kernels_write_them() {
        let new = "( unsigned long)(((((( gfp_t)((((1UL))) << (10))|((((1UL))) << (11)))) | \
            (( gfp_t)((((1UL))) << (6)))))), \"GFP_NOFS\"}, \
            {( unsigned long)(( gfp_t)((((1UL))) << (8))), \"__GFP_ZERO\"}, { 0, ((void *)0) }";
        let old = "(unsigned long)(((( gfp_t)0x400u)|(( gfp_t)0x40u))), \"GFP_NOFS\"}, \
            {(unsigned long)(( gfp_t)0x100u), \"__GFP_ZERO\"}, {(unsigned long)0, \"none\"}";
        for table in [new, old] {
            let text = format!("ID: 1\nprint fmt: \"%s\", __print_flags(x, \"|\", {{{table})\n");
            let place = Tracepoint::parse(&text).expect("it has a number");
            assert_eq!(place.flag("__GFP_ZERO"), Some(0x100), "{text}");
            assert_eq!(place.flag("GFP_NOFS"), None, "several bits are no bit");
            assert_eq!(place.flag("__GFP_MOVABLE"), None);
        }
        let far = "ID: 1\nprint fmt: x, {1 << (99), \"A\"}, {0xfffffffffffffffffffff, \"B\"}";
        let place = Tracepoint::parse(far).expect("it has a number");
        assert_eq!((place.flag("A"), place.flag("B")), (None, None));
    }

    #[test]
    fn this_kernel_shows_its_places_or_says_why_not() {
        match Tracefs::open().and_then(|tracefs| tracefs.find("sched/sched_waking")) {
            Ok(waking) => assert_eq!(waking.field("pid").map(|field| field.size), Some(4)),
            Err(error) => assert!(!matches!(error, TracepointError::Unknown { .. }), "{error}"),
        }
    }

    #[test]
    fn a_place_that_no_kernel_has_is_not_found() {
        let Ok(tracefs) = Tracefs::open() else { return };
        let error = tracefs.find("sched/no_such_place").expect_err("nobody has it");
        assert!(error.to_string().contains("no_such_place"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_any_data(text in "\\PC{0,200}", raw: Vec<u8>, at: usize, size: usize) {
            let _ = Tracepoint::parse(&text);
            let _ = Tracepoint::parse(&format!("ID: 1\nprint fmt: {text}"));
            let line = format!("ID: 1\n\tfield:u64 x;\toffset:{at};\tsize:{size};\n");
            if let Some(field) = Tracepoint::parse(&line).and_then(|place| place.field("x")) {
                let _ = field.of(&raw);
            }
        }
    }
}
