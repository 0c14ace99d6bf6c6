//! Opening files with somebody else's rights.

/// While it lives, this thread opens, makes and removes files as another user does. The rest of the
/// process keeps its rights. Nothing changes for a process that may not act for others.
#[derive(Debug)]
pub(crate) struct FileRights {
    user: libc::c_int,
    group: libc::c_int,
    /// The rights are a thread's, so they are given back by the thread that took them.
    _thread: std::marker::PhantomData<*const ()>,
}

impl FileRights {
    pub(crate) fn of(user: u32, group: u32) -> Self {
        // SAFETY: the calls take a number each, and return the one that was before.
        let (group, user) = unsafe { (libc::setfsgid(group), libc::setfsuid(user)) };
        Self { user, group, _thread: std::marker::PhantomData }
    }
}

impl Drop for FileRights {
    fn drop(&mut self) {
        // SAFETY: as above. The user first, since it is that which may set the group.
        unsafe {
            libc::setfsuid(self.user.cast_unsigned());
            libc::setfsgid(self.group.cast_unsigned());
        }
    }
}
