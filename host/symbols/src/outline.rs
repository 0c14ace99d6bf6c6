//! The parts of an executable file that say what is in it: its headers, symbols, notes and unwind tables.
//! Its code and data are not read, nor its debugging information, which can be a hundred times larger.

use std::ops::{Deref, Range};
use std::path::Path;

use kilocore_linux::foreign_files::{FileIdentity, ForeignFile, ForeignFileError, Image};
use object::elf;
use object::read::FileKind;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, elf::FileHeader32, elf::FileHeader64};

use crate::binary_error::BinaryError;

/// The bytes of a file, of which only the parts of its outline were read. The others are zeros.
#[derive(Debug)]
pub struct Outline {
    image: Image,
    identity: FileIdentity,
}

impl Deref for Outline {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.image
    }
}

impl Outline {
    /// Reads the outline of a file. Of a file that is not executable, only the beginning is read, and of an
    /// executable file of another system all of it.
    ///
    /// # Errors
    /// If it is no regular file, cannot be read, or takes more memory than is spent on such files.
    pub fn open(path: &Path) -> Result<Self, BinaryError> {
        let file = ForeignFile::open(path)?;
        Ok(Self { image: read(&file, &is_of_outline)?, identity: file.identity() })
    }

    /// Which file it is of.
    pub(crate) fn identity(&self) -> FileIdentity {
        self.identity
    }
}

/// Reads the headers of a file, with which its sections can be looked up.
pub(crate) fn headers(file: &ForeignFile) -> Result<Image, ForeignFileError> {
    read(file, &|_| Part::Beginning)
}

/// A section as its header describes it.
struct Section<'a> {
    name: &'a [u8],
    kind: elf::SectionType,
}

/// How much of a section is read.
enum Part {
    Whole,
    /// As much as says whether it is compressed.
    Beginning,
    Nothing,
}

fn is_of_outline(section: &Section<'_>) -> Part {
    const TABLES: [&[u8]; 4] =
        [b".eh_frame", b".eh_frame_hdr", b".gopclntab", b".data.rel.ro.gopclntab"];
    let is_table = TABLES.contains(&section.name);
    match section.kind {
        elf::SHT_SYMTAB | elf::SHT_DYNSYM | elf::SHT_SYMTAB_SHNDX => Part::Whole,
        elf::SHT_STRTAB | elf::SHT_NOTE => Part::Whole,
        _ if is_table => Part::Whole,
        _ => Part::Nothing,
    }
}

type Wanted<'a> = &'a dyn Fn(&Section<'_>) -> Part;

fn read(file: &ForeignFile, wanted: Wanted<'_>) -> Result<Image, ForeignFileError> {
    /// As much as tells of which kind a file is.
    const HEAD: u64 = 4096;
    let mut image = Image::of(file)?;
    image.fill(file, 0..HEAD)?;
    match FileKind::parse(&*image) {
        Ok(FileKind::Elf32) => elf_parts::<FileHeader32<Endianness>>(file, &mut image, wanted)?,
        Ok(FileKind::Elf64) => elf_parts::<FileHeader64<Endianness>>(file, &mut image, wanted)?,
        Ok(_) => image.fill(file, 0..u64::MAX)?,
        Err(_) => {}
    }
    Ok(image)
}

/// Says which parts are read next, by a file's header and what was read before.
type Step<'a, Elf> = &'a dyn Fn(&Elf, &[u8]) -> Vec<Range<u64>>;

fn elf_parts<Elf: FileHeader<Endian = Endianness>>(
    file: &ForeignFile,
    image: &mut Image,
    wanted: Wanted<'_>,
) -> Result<(), ForeignFileError> {
    // Each step finds its places in what the steps before it have read.
    let steps: [Step<'_, Elf>; 4] =
        [&first_section::<Elf>, &tables::<Elf>, &section_names::<Elf>, &|header, bytes| {
            parts(header, bytes, wanted)
        }];
    for step in steps {
        // What is no header ends the reading. Whoever parses the file then says what is wrong with it.
        let Ok(header) = Elf::parse(&**image) else { return Ok(()) };
        for part in step(header, image) {
            image.fill(file, part)?;
        }
    }
    Ok(())
}

fn from(start: u64, length: u64) -> Range<u64> {
    start..start.saturating_add(length)
}

/// Where the first section's header is. It has the number of sections if there are many.
fn first_section<Elf: FileHeader<Endian = Endianness>>(header: &Elf, _: &[u8]) -> Vec<Range<u64>> {
    let Ok(endian) = header.endian() else { return Vec::new() };
    vec![from(header.e_shoff(endian).into(), header.e_shentsize(endian).into())]
}

/// Where the headers of segments and sections are.
fn tables<Elf: FileHeader<Endian = Endianness>>(header: &Elf, bytes: &[u8]) -> Vec<Range<u64>> {
    let Ok(endian) = header.endian() else { return Vec::new() };
    let table = |start: u64, count: object::Result<u32>, size: u16| {
        from(start, u64::from(count.unwrap_or(0)) * u64::from(size))
    };
    let (segments, sections) = (header.phnum(endian, bytes), header.shnum(endian, bytes));
    vec![
        table(header.e_phoff(endian).into(), segments, header.e_phentsize(endian)),
        table(header.e_shoff(endian).into(), sections, header.e_shentsize(endian)),
    ]
}

/// Where the names of the sections are.
fn section_names<Elf: FileHeader<Endian = Endianness>>(
    header: &Elf,
    bytes: &[u8],
) -> Vec<Range<u64>> {
    let names = || {
        let endian = header.endian().ok()?;
        let sections = header.section_headers(endian, bytes).ok()?;
        let index = usize::try_from(header.shstrndx(endian, bytes).ok()?).ok()?;
        let (start, size) = sections.get(index)?.file_range(endian)?;
        Some(from(start, size))
    };
    names().into_iter().collect()
}

/// Where the parts of the sections are that are wanted, and notes of a file without sections.
fn parts<Elf: FileHeader<Endian = Endianness>>(
    header: &Elf,
    bytes: &[u8],
    wanted: Wanted<'_>,
) -> Vec<Range<u64>> {
    /// A header of compressed bytes is shorter.
    const BEGINNING: u64 = 32;
    let Ok(endian) = header.endian() else { return Vec::new() };
    let mut parts = Vec::new();
    if let Ok(sections) = header.sections(endian, bytes) {
        for section in sections.iter() {
            let Some((start, size)) = section.file_range(endian) else { continue };
            let name = sections.section_name(endian, section).unwrap_or_default();
            let length = match wanted(&Section { name, kind: section.sh_type(endian) }) {
                Part::Whole => size,
                Part::Beginning => size.min(BEGINNING),
                Part::Nothing => continue,
            };
            parts.push(from(start, length));
        }
    }
    for segment in header.program_headers(endian, bytes).unwrap_or_default() {
        if segment.p_type(endian) == elf::PT_NOTE {
            let (start, size) = segment.file_range(endian);
            parts.push(from(start, size));
        }
    }
    parts
}
