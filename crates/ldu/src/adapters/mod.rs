//! Structures that are ready to be put behind a log.
