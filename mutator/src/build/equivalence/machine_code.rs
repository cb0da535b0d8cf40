//! Whether two functions of an object file are the same machine code.
//!
//! Code is compared by its bytes, and by what it refers to: functions and data of other files by name, those of this
//! one by name or by content, as far as that goes (two functions that call each other are the same if nothing else
//! differs). So two functions are the same if no program can tell them apart, but for two things: which of two equal
//! functions a pointer leads to, and the line and column that a panic names, which differ between any two copies.
//!
//! Only ELF files are read, in which rustc gives every function a section.

use std::collections::BTreeSet;

use object::elf::{SHF_MERGE, SHF_STRINGS, SHF_TLS, SHF_WRITE, SectionFlags};
use object::read::elf::{ElfFile64, SectionHeader};
use object::{
    Architecture, Endianness, Object, ObjectSection, ObjectSymbol, Relocation, RelocationFlags, RelocationTarget,
    SectionIndex, SymbolIndex, SymbolSection,
};

/// An object file.
pub(crate) struct MachineCode<'d> {
    file: ElfFile64<'d, Endianness, &'d [u8]>,
    /// What the file calls source files: the texts that places of panics begin with.
    paths: &'d [String],
}

impl std::fmt::Debug for MachineCode<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("MachineCode").finish_non_exhaustive()
    }
}

/// A part of a section: a function, or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    section: usize,
    start: u64,
    end: u64,
}

/// What a relocation leads to.
enum Referred<'d> {
    /// A symbol of another file.
    Outside(&'d str),
    /// A place in this file.
    Here(Part),
}

/// The size of a `core::panic::Location`: a text, a line and a column.
const LOCATION_BYTES: usize = 24;

impl<'d> MachineCode<'d> {
    /// Reads an object file; `None` if it is no ELF file of 64 bits.
    pub(crate) fn read(bytes: &'d [u8], paths: &'d [String]) -> Option<Self> {
        Some(Self { file: ElfFile64::parse(bytes).ok()?, paths })
    }

    /// Returns the symbol of the function with this name, as the compiler mangles it (version v0).
    pub(crate) fn function(&self, name: &str) -> Option<SymbolIndex> {
        let end = format!("{}{name}", name.len());
        let is_it = |symbol: &&object::read::elf::ElfSymbol64<'d, '_, Endianness, &'d [u8]>| {
            symbol.is_definition() && symbol.name().is_ok_and(|name| name.starts_with("_R") && name.ends_with(&end))
        };
        let mut found = self.file.symbols();
        found.find(|symbol| is_it(&symbol)).map(|symbol| symbol.index())
    }

    /// Whether two functions do the same.
    pub(crate) fn are_same(&self, left: SymbolIndex, right: SymbolIndex) -> bool {
        let parts = [left, right].map(|symbol| self.part(symbol));
        let [Some(left), Some(right)] = parts else { return false };
        Comparison { code: self, assumed: BTreeSet::new() }.same(left, right)
    }

    /// Returns where a symbol of this file is. What the linker merges with its like has no end of its own.
    fn part(&self, symbol: SymbolIndex) -> Option<Part> {
        let symbol = self.file.symbol_by_index(symbol).ok()?;
        let SymbolSection::Section(index) = symbol.section() else { return None };
        if symbol.kind() == object::SymbolKind::Section || symbol.size() == 0 {
            let section = self.file.section_by_index(index).ok()?;
            return Some(Part { section: index.0, start: symbol.address(), end: section.size() });
        }
        let start = symbol.address();
        Some(Part { section: index.0, start, end: start + symbol.size() })
    }

    fn bytes(&self, part: Part) -> Option<&'d [u8]> {
        let section = self.file.section_by_index(SectionIndex(part.section)).ok()?;
        section.data().ok()?.get(part.start as usize..part.end as usize)
    }

    /// Returns the relocations of a part, with their places in it.
    fn relocations(&self, part: Part) -> Vec<(u64, Relocation)> {
        let Ok(section) = self.file.section_by_index(SectionIndex(part.section)) else { return Vec::new() };
        let inside = section.relocations().filter(|(at, _)| (part.start..part.end).contains(at));
        let mut inside: Vec<_> = inside.map(|(at, relocation)| (at - part.start, relocation)).collect();
        inside.sort_by_key(|(at, _)| *at);
        inside
    }

    fn referred(&self, relocation: &Relocation) -> Option<Referred<'d>> {
        let RelocationTarget::Symbol(index) = relocation.target() else { return None };
        let symbol = self.file.symbol_by_index(index).ok()?;
        if symbol.is_undefined() {
            return Some(Referred::Outside(symbol.name().ok()?));
        }
        self.part(index).map(Referred::Here)
    }

    fn flags(&self, part: Part) -> Option<(SectionFlags, u64)> {
        let section = self.file.section_by_index(SectionIndex(part.section)).ok()?;
        let header = section.elf_section_header();
        let endian = self.file.endian();
        Some((header.sh_flags(endian), header.sh_entsize(endian)))
    }

    /// Returns the function that a function consists of a jump to, or itself: the compiler makes such ones of equal
    /// functions.
    fn without_jump(&self, part: Part) -> Part {
        let is_jump = match self.file.architecture() {
            Architecture::X86_64 => self.bytes(part) == Some(&[0xe9, 0, 0, 0, 0]),
            Architecture::Aarch64 => self.bytes(part) == Some(&[0, 0, 0, 0x14]),
            _ => false,
        };
        match &self.relocations(part)[..] {
            [(_, relocation)] if is_jump => match self.referred(relocation) {
                Some(Referred::Here(target)) if target != part => self.without_jump(target),
                _ => part,
            },
            _ => part,
        }
    }

    /// Returns the table that says what is to be dropped when a function unwinds.
    fn unwinding(&self, part: Part) -> Option<Part> {
        let name = self.file.section_by_index(SectionIndex(part.section)).ok()?.name().ok()?;
        let table = self.file.section_by_name(&format!(".gcc_except_table{}", name.strip_prefix(".text")?))?;
        Some(Part { section: table.index().0, start: 0, end: table.size() })
    }

    /// Whether a constant is a place in the specification.
    fn is_location(&self, part: Part) -> bool {
        let Some(bytes) = self.bytes(part).filter(|bytes| bytes.len() == LOCATION_BYTES) else { return false };
        let length = u64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes")) as usize;
        let [(0, relocation)] = &self.relocations(part)[..] else { return false };
        let Some(Referred::Here(text)) = self.referred(relocation) else { return false };
        let start = text.start + relocation.addend() as u64;
        let text = self.bytes(Part { start, end: start + length as u64, ..text });
        text.is_some_and(|text| {
            let text = text.strip_suffix(&[0]).unwrap_or(text);
            self.paths.iter().any(|path| path.as_bytes() == text)
        })
    }
}

struct Comparison<'c, 'd> {
    code: &'c MachineCode<'d>,
    /// Pairs that are the same unless something else differs.
    assumed: BTreeSet<(Part, Part)>,
}

impl Comparison<'_, '_> {
    fn same(&mut self, left: Part, right: Part) -> bool {
        let code = self.code;
        let (left, right) = (code.without_jump(left), code.without_jump(right));
        if left == right || !self.assumed.insert((left, right)) {
            return true;
        }
        let (Some(left_flags), Some(right_flags)) = (code.flags(left), code.flags(right)) else { return false };
        // What can be written to is one thing, and not its content.
        if left_flags.0 != right_flags.0 || left_flags.0.contains(SHF_TLS) || self.is_variable(left, left_flags.0) {
            return false;
        }
        let (Some(left_bytes), Some(right_bytes)) = (code.bytes(left), code.bytes(right)) else { return false };
        let are_locations = code.is_location(left) && code.is_location(right);
        let compared = if are_locations { LOCATION_BYTES - 8 } else { left_bytes.len() };
        if left_bytes.len() != right_bytes.len() || left_bytes[..compared] != right_bytes[..compared] {
            return false;
        }
        let unwinding = match (code.unwinding(left), code.unwinding(right)) {
            (None, None) => true,
            (Some(left), Some(right)) => self.same(left, right),
            _ => false,
        };
        let (left, right) = (code.relocations(left), code.relocations(right));
        unwinding
            && left.len() == right.len()
            && left.iter().zip(&right).all(|((left_at, left), (right_at, right))| {
                left_at == right_at && left.flags() == right.flags() && self.refer_to_same(left, right)
            })
    }

    /// Whether a section that is written to holds anything but constants that the loader completes.
    fn is_variable(&self, part: Part, flags: SectionFlags) -> bool {
        let section = self.code.file.section_by_index(SectionIndex(part.section));
        let is_completed =
            section.is_ok_and(|section| section.name().is_ok_and(|name| name.starts_with(".data.rel.ro")));
        flags.contains(SHF_WRITE) && !is_completed
    }

    fn refer_to_same(&mut self, left: &Relocation, right: &Relocation) -> bool {
        let code = self.code;
        match (code.referred(left), code.referred(right)) {
            (Some(Referred::Outside(left_name)), Some(Referred::Outside(right_name))) => {
                left_name == right_name && left.addend() == right.addend()
            }
            (Some(Referred::Here(left_part)), Some(Referred::Here(right_part))) => {
                let merged = |part| code.flags(part).filter(|(flags, _)| flags.contains(SHF_MERGE));
                match (merged(left_part), merged(right_part)) {
                    (Some((left_flags, left_size)), Some((right_flags, right_size))) => {
                        (left_flags, left_size) == (right_flags, right_size) && {
                            let entry = |part, relocation| self.entry(part, relocation, left_flags, left_size);
                            let entries = (entry(left_part, left), entry(right_part, right));
                            entries.0.is_some() && entries.0 == entries.1
                        }
                    }
                    (None, None) => left.addend() == right.addend() && self.same(left_part, right_part),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Returns the constant that a reference into a section of constants leads to, which hold no references themselves.
    fn entry(&self, part: Part, relocation: &Relocation, flags: SectionFlags, size: u64) -> Option<(u64, Vec<u8>)> {
        let offset = part.start as i64 + relocation.addend() + self.distance(relocation);
        let bytes = self.code.bytes(Part { start: 0, ..part })?;
        if flags.contains(SHF_STRINGS) {
            let start = usize::try_from(offset).ok()?;
            if start > 0 && bytes[..start].last() != Some(&0) {
                return None;
            }
            let text = bytes.get(start..)?;
            let end = text.iter().position(|byte| *byte == 0)?;
            return Some((0, text[..end].to_vec()));
        }
        // Where the instruction goes on behind the reference, the offset is a little less than that of the constant.
        let start = u64::try_from(offset).ok()?.checked_next_multiple_of(size.max(1))?;
        let within = start - u64::try_from(offset).ok()?;
        Some((within, bytes.get(start as usize..(start + size) as usize)?.to_vec()))
    }

    /// Returns how far the place that a reference is counted from is behind the reference.
    fn distance(&self, relocation: &Relocation) -> i64 {
        use object::elf::{R_X86_64_GOTPCREL, R_X86_64_PC32, R_X86_64_PLT32};
        let is_relative = matches!(
            relocation.flags(),
            RelocationFlags::Elf { r_type: R_X86_64_PC32 | R_X86_64_PLT32 | R_X86_64_GOTPCREL }
        );
        if is_relative && self.code.file.architecture() == Architecture::X86_64 { 4 } else { 0 }
    }
}
