//! The debugging information of a file: functions, also inlined ones, and source lines.
//!
//! Its sections are read into memory, as everything of a file that its owner may change meanwhile. The
//! file may name others, with parts of it. Such a name can lead anywhere, so only regular files are opened,
//! and they count only if they belong to root, to the user of this process, or to the owner of the file
//! that names them.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{
    AbbreviationsCacheStrategy, Dwarf, DwarfPackage, EndianRcSlice, Reader, RunTimeEndian,
    SectionId,
};
use kilocore_linux::foreign_files::{
    FileIdentity, ForeignFile, ForeignFileError, Room, Taken, own_user, seen_from,
};
use object::{CompressedData, CompressionFormat, Object, ObjectSection};

use crate::frame::Frame;
use crate::outline::headers;

type Bytes = EndianRcSlice<RunTimeEndian>;

/// Why there is none.
#[derive(Debug, thiserror::Error)]
enum DebugInfoError {
    #[error(transparent)]
    File(#[from] ForeignFileError),
    #[error(transparent)]
    Parse(#[from] object::Error),
    #[error(transparent)]
    Dwarf(#[from] gimli::Error),
    #[error("the file is another one by now")]
    Exchanged,
}

/// The debugging information of a file.
pub(crate) struct DebugInfo {
    context: Context<Bytes>,
    /// What the parts in other files were packed into.
    package: Option<DwarfPackage<Bytes>>,
    path: PathBuf,
    /// Whose files count as parts of it.
    owners: [u32; 3],
    taken: RefCell<Taken>,
}

impl DebugInfo {
    /// Reads that of a file whose outline was read before. There is none if it is another file by now, or
    /// there is no room for it.
    pub(crate) fn open(path: &Path, identity: FileIdentity) -> Option<Self> {
        Self::read(path, identity).ok()
    }

    fn read(path: &Path, identity: FileIdentity) -> Result<Self, DebugInfoError> {
        let file = ForeignFile::open(path)?;
        if file.identity() != identity {
            return Err(DebugInfoError::Exchanged);
        }
        let owners = [0, own_user(), file.owner()];
        let mut sections = Sections::of(file)?;
        let mut dwarf = sections.dwarf(|id| id.name())?;
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        let mut info = Self {
            context: Context::from_dwarf(dwarf)?,
            package: None,
            path: path.to_owned(),
            owners,
            taken: RefCell::new(sections.taken),
        };
        info.package = info.read_package().ok();
        Ok(info)
    }

    /// The package that lies beside the file, if there is one.
    fn read_package(&self) -> Result<DwarfPackage<Bytes>, DebugInfoError> {
        let mut name = self.path.clone().into_os_string();
        name.push(".dwp");
        let mut sections = self.part(Path::new(&name))?;
        let empty = sections.load(None)?;
        let package = DwarfPackage::load(|id| sections.load(id.dwo_name()), empty)?;
        self.taken.borrow_mut().join(sections.taken);
        Ok(package)
    }

    /// The sections of another file.
    fn part(&self, path: &Path) -> Result<Sections, DebugInfoError> {
        Sections::of(ForeignFile::open(path)?.of(&self.owners)?)
    }

    /// The functions at an address, the innermost of those inlined there first. There are none if nothing
    /// is known.
    pub(crate) fn frames(&self, address: u64) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut lookup = self.context.find_frames(address);
        let found = loop {
            match lookup {
                LookupResult::Output(found) => break found,
                LookupResult::Load { load, continuation } => {
                    lookup = continuation.resume(self.split(&load));
                }
            }
        };
        let Ok(mut found) = found else { return frames };
        while let Ok(Some(frame)) = found.next() {
            let function = frame.function.as_ref().and_then(|name| name.demangle().ok());
            let line = frame
                .location
                .and_then(|location| Some(format!("{}:{}", location.file?, location.line?)));
            frames.push(Frame { function: function.unwrap_or_default().into_owned(), line });
        }
        frames
    }

    /// The part of a unit that is in the package, or in a file that the unit names.
    fn split(&self, wanted: &SplitDwarfLoad<Bytes>) -> Option<Arc<Dwarf<Bytes>>> {
        let packed = self
            .package
            .as_ref()
            .and_then(|package| package.find_cu(wanted.dwo_id, &wanted.parent).ok().flatten());
        packed.or_else(|| self.named(wanted).ok().flatten()).map(Arc::new)
    }

    fn named(
        &self,
        wanted: &SplitDwarfLoad<Bytes>,
    ) -> Result<Option<Dwarf<Bytes>>, DebugInfoError> {
        let mut path = PathBuf::new();
        for part in [&wanted.comp_dir, &wanted.path].into_iter().flatten() {
            path.push(as_path(&part.to_slice()?));
        }
        if wanted.path.is_none() {
            return Ok(None);
        }
        let mut sections = self.part(&seen_from(&self.path, &path))?;
        let mut dwarf = sections.dwarf(|id| id.dwo_name().unwrap_or_default())?;
        let Some(header) = dwarf.units().next()? else { return Ok(None) };
        if dwarf.unit(header)?.dwo_id != Some(wanted.dwo_id) {
            return Ok(None);
        }
        dwarf.make_dwo(&wanted.parent);
        self.taken.borrow_mut().join(sections.taken);
        Ok(Some(dwarf))
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// The sections of a file, each read when it is asked for.
struct Sections {
    file: ForeignFile,
    headers: kilocore_linux::foreign_files::Image,
    /// For what was read of them.
    taken: Taken,
}

impl Sections {
    fn of(file: ForeignFile) -> Result<Self, DebugInfoError> {
        let taken = file.take(Room::of_this_process(), 0)?;
        Ok(Self { headers: headers(&file)?, file, taken })
    }

    /// Those of a program's own debugging information that say where functions and lines are.
    fn dwarf(
        &mut self,
        name: fn(&SectionId) -> &'static str,
    ) -> Result<Dwarf<Bytes>, DebugInfoError> {
        Dwarf::load(|id| {
            let is_wanted = matches!(
                id,
                SectionId::DebugAbbrev
                    | SectionId::DebugAddr
                    | SectionId::DebugAranges
                    | SectionId::DebugInfo
                    | SectionId::DebugLine
                    | SectionId::DebugLineStr
                    | SectionId::DebugRanges
                    | SectionId::DebugRngLists
                    | SectionId::DebugStr
                    | SectionId::DebugStrOffsets
            );
            self.load(is_wanted.then(|| name(&id)))
        })
    }

    /// A section; an empty one if there is none of this name.
    fn load(&mut self, name: Option<&str>) -> Result<Bytes, DebugInfoError> {
        let object = object::File::parse(&*self.headers)?;
        let endian = match object.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        let section =
            name.filter(|name| !name.is_empty()).and_then(|name| object.section_by_name(name));
        let Some(section) = section else { return Ok(Bytes::new(Rc::from([]), endian)) };
        let range = section.compressed_file_range()?;
        let size = range.uncompressed_size;
        let taken = self.file.take(Room::of_this_process(), size)?;
        let bytes = match range.format {
            CompressionFormat::None => self.bytes(range.offset, size)?,
            format => {
                // What is compressed is held only until it is not.
                let _taken = self.file.take(Room::of_this_process(), range.compressed_size)?;
                let data = &self.bytes(range.offset, range.compressed_size)?;
                let whole =
                    CompressedData { format, data, uncompressed_size: size }.decompress()?;
                Rc::from(whole)
            }
        };
        self.taken.join(taken);
        Ok(Bytes::new(bytes, endian))
    }

    /// A part of the file, for which room was taken.
    fn bytes(&self, offset: u64, size: u64) -> Result<Rc<[u8]>, DebugInfoError> {
        let mut bytes: Rc<[u8]> = std::iter::repeat_n(0, size as usize).collect();
        let own = Rc::get_mut(&mut bytes).expect("nobody else has it yet");
        self.file.read_at(own, offset)?;
        Ok(bytes)
    }
}
