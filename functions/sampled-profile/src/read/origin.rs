//! Decides by file names and addresses whether code belongs to the kernel.

use memchr::memchr;

use crate::Origin;

/// The lowest address of a kernel on x86-64, and on aarch64 with addresses of 48 bits.
const KERNEL: u64 = 0xffff_8000_0000_0000;

/// Objects that belong to programs although they lie at kernel addresses or have names in brackets.
const OF_PROGRAMS: [&[u8]; 8] =
    [b"[vdso", b"[vsyscall", b"[heap", b"[stack", b"[anon", b"[uprobes", b"[unknown", b"[JIT"];

/// Returns the origin of code, from the name of its file and its address.
pub(crate) fn origin(object: &[u8], address: Option<u64>) -> Origin {
    let is_kernel = match of_object(object) {
        Some(origin) => return origin,
        None => address.map(|address| address >= KERNEL),
    };
    match is_kernel {
        Some(true) => Origin::Kernel,
        Some(false) => Origin::User,
        None if object.is_empty() => Origin::Unknown,
        None => Origin::User,
    }
}

/// Returns the origin of a file's code, as far as the file's name tells.
fn of_object(object: &[u8]) -> Option<Origin> {
    if object.first() == Some(&b'[') {
        if object.starts_with(b"[unknown") {
            return None;
        }
        if OF_PROGRAMS.iter().any(|name| object.starts_with(name)) {
            return Some(Origin::User);
        }
        // `[kernel.kallsyms]`, `[guest.kernel.kallsyms.7]`, `[nf_tables]`; `[kernel].init.text`.
        return Some(Origin::Kernel);
    }
    let name = object.rsplit(|&byte| byte == b'/').next().unwrap_or(object);
    let is_module = [&b".ko"[..], b".ko.gz", b".ko.xz", b".ko.zst", b".ko.debug"]
        .iter()
        .any(|end| name.ends_with(end));
    let is_image = name.starts_with(b"vmlinux") && memchr(b' ', name).is_none();
    let is_bpf = name.starts_with(b"bpf_prog_") || name.starts_with(b"bpf_trampoline_");
    (is_module || is_image || is_bpf).then_some(Origin::Kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_tell_the_kernel() {
        for (object, address, wanted) in [
            ("[kernel.kallsyms]", Some(0xffff_ffff_8158_e7f6), Origin::Kernel),
            ("[kernel.kallsyms]", Some(0), Origin::Kernel),
            ("[kernel]", None, Origin::Kernel),
            ("[guest.kernel.kallsyms]", None, Origin::Kernel),
            ("[nf_tables]", Some(0xffff_ffff_c000_0000), Origin::Kernel),
            ("/lib/modules/6.1.0/kernel/net/nf_tables.ko.xz", None, Origin::Kernel),
            ("/usr/lib/debug/boot/vmlinux-6.1.0", None, Origin::Kernel),
            ("bpf_prog_6deef7357e7b4530", Some(0xffff_ffff_c000_0000), Origin::Kernel),
            ("", Some(0xffff_8000_0000_0000), Origin::Kernel),
            ("", Some(0xffff_7fff_ffff_ffff), Origin::User),
            ("", None, Origin::Unknown),
            ("[vsyscall]", Some(0xffff_ffff_ff60_0000), Origin::User),
            ("[vdso]", Some(0x7fff_0000_0000), Origin::User),
            ("[unknown]", Some(0xffff_ffff_8158_e7f6), Origin::Kernel),
            ("[JIT app cache]", Some(0x7fff_0000_0000), Origin::User),
            ("[JIT] tid 4242", None, Origin::User),
            ("/usr/bin/sysbench", None, Origin::User),
            ("/home/u/a.kont", Some(0x1000), Origin::User),
        ] {
            assert_eq!(origin(object.as_bytes(), address), wanted, "{object} {address:x?}");
        }
    }
}
