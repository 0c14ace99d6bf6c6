//! File systems whose files are no files: the kernel makes up what is read, and reading may do
//! something. `trace_pipe` waits for events and takes them away, `/proc/kmsg` does so with messages, and
//! the files of a device in `/sys` are its ports.

/// The numbers by which `statfs` names them. Not all are in every C library's header.
const MADE_UP: [i64; 22] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6265_6570, // configfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x0765_5821, // resctrl
    0xcafe_4a11, // bpf
    0xf97c_ff8c, // selinux
    0x4341_5d53, // smack
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0x4249_4e4d, // binfmt_misc
    0x6573_5543, // fusectl
    0x6e66_7364, // nfsd
    0x0a64_7361, // functionfs, of USB devices
    0x1cd1,      // devpts
    0x1980_0202, // message queues
    0xabba_1974, // xenfs
    0x6e73_6673, // namespaces
];

/// Whether a file system is one of these.
pub(crate) fn is_made_up(kind: i64) -> bool {
    // Some machines' numbers are signed 32 bits wide.
    MADE_UP.contains(&(kind & 0xffff_ffff))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_known_whatever_their_width() {
        assert!(
            is_made_up(libc::PROC_SUPER_MAGIC) && is_made_up(i64::from(0xcafe_4a11_u32 as i32))
        );
        assert!(!is_made_up(libc::TMPFS_MAGIC) && !is_made_up(libc::EXT4_SUPER_MAGIC));
    }
}
