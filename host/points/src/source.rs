//! Where points come from.

use std::collections::BTreeSet;
use std::io;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::encoding;
use crate::kept::{AllKept, Kept};
use crate::parallel::in_parallel;
use crate::{
    Assignment, Elsewhere, Job, Key, Missing, OrdersError, Report, Store, Subject, Version,
};

/// If this variable is set and not empty, nothing is kept.
const NO_CACHE: &str = "KILOCORE_NO_CACHE";

/// Whether anything is kept: not if `--no-cache` was given, nor if the variable `KILOCORE_NO_CACHE` is set and not
/// empty.
#[must_use]
pub fn keeps(no_cache: bool) -> bool {
    let told = std::env::var_os(NO_CACHE).is_some_and(|value| !value.is_empty());
    !no_cache && !told
}

/// Where points come from: they are found among those that are kept, or computed.
///
/// What comes out is the same in any case. What is wrong with the disk, or with a file, costs no more than computing.
#[derive(Debug)]
pub struct PointSource {
    /// The points that are kept, and what computes them. `None` if none are.
    kept: Option<(AllKept, Version)>,
    assignment: Assignment,
}

static UNKEPT: PointSource = PointSource { kept: None, assignment: Assignment::all() };

impl PointSource {
    /// Computes all, and keeps nothing.
    #[must_use]
    pub fn unkept() -> &'static Self {
        &UNKEPT
    }

    /// Points of this user's, in the folder `kilocore/points` of the one in which programs of this user keep what they
    /// can do without. Nothing is kept if [`keeps`] says so, or if nothing can be. If the environment has
    /// [`Orders`](crate::Orders), they are followed.
    ///
    /// # Errors
    /// If there are orders that cannot be.
    pub fn of_user(no_cache: bool) -> Result<Self, OrdersError> {
        let of_user = keeps(no_cache).then(|| Store::of_user().ok()).flatten();
        let assignment = Assignment::of_environment()?;
        let in_folder = |folder: &Path| {
            let failed = |source| OrdersError::Folder { folder: folder.to_owned(), source };
            Store::without_limit(folder).map_err(failed)
        };
        let of_orders = assignment.folder().map(in_folder).transpose()?;
        let all = Self::in_stores(of_orders.into_iter().chain(of_user).collect());
        Ok(Self::following(all, assignment))
    }

    /// Points in the folder `kilocore/points` of one that is named.
    ///
    /// # Errors
    /// If the folder is not this user's alone, or those of the system.
    pub fn kept_in(folder: &Path) -> io::Result<Self> {
        Store::below(folder).map(|store| Self::in_stores(vec![store]))
    }

    fn in_stores(stores: Vec<Store>) -> Self {
        let kept =
            (!stores.is_empty()).then(|| AllKept::new(stores)).zip(Version::of_this_program());
        Self { kept, assignment: Assignment::all() }
    }

    /// The same, but nothing is computed: what is not kept is [`missing`](Self::missing), and has the error
    /// [`Elsewhere`].
    #[must_use]
    pub fn listing(self) -> Self {
        self.following(Assignment::listing())
    }

    /// The same, but only the points of these keys are computed. What else is not kept has the error [`Elsewhere`].
    #[must_use]
    pub fn sharing(self, keys: BTreeSet<Key>) -> Self {
        self.following(Assignment::sharing(keys))
    }

    fn following(mut self, assignment: Assignment) -> Self {
        self.assignment = assignment;
        self
    }

    /// What was asked for so far and is not kept, if this one is [`listing`](Self::listing): the costliest of each
    /// computation first.
    ///
    /// Some programs ask for points only when they have others. So whoever computes these has to list again, until
    /// nothing is missing.
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        self.assignment.report().missing
    }

    /// What has come so far, if this one is [`listing`](Self::listing) or [`sharing`](Self::sharing). All that was
    /// computed is written first. A key of a share that is in neither list was not asked for.
    #[must_use]
    pub fn report(&self) -> Report {
        self.flush();
        self.assignment.report()
    }

    /// Whether another process computes none of the points that were asked for. A command that goes on without a point, as a
    /// forecast may be refused, asks this before it writes anything.
    #[must_use]
    pub fn has_given_all(&self) -> bool {
        self.assignment.has_given_all()
    }

    /// Writes all that was computed and not written yet. That happens now and then while points are computed, and when
    /// the source is dropped.
    pub fn flush(&self) {
        if let Some((kept, _)) = &self.kept {
            kept.flush();
            self.assignment.note_unwritten(kept.unwritten());
        }
    }

    /// The points of all jobs, in their order.
    ///
    /// Those that are not kept are computed, on all cores that this process may use, or on as many threads as its
    /// [`Orders`](crate::Orders) say: the costliest first, each the next one whenever it has none. `on_done` is called after
    /// each job, from any thread.
    ///
    /// # Errors
    /// That of the first job, in their order, that has no point. All others are computed nevertheless.
    ///
    /// # Panics
    /// If computing a point does.
    pub fn points<J: Job>(
        &self,
        shared: &J::Shared,
        jobs: &[J],
        on_done: &(dyn Fn() + Sync),
    ) -> Result<Vec<J::Point>, J::Error> {
        let costs: Vec<f64> = jobs.iter().map(Job::cost).collect();
        let batch = Asked::<J>::new(self, shared);
        let point = |index: usize| match &batch {
            Some(batch) => batch.point(&jobs[index]),
            None => jobs[index].compute(shared),
        };
        let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        in_parallel(&costs, self.assignment.threads().unwrap_or_else(cores), &point, on_done)
            .into_iter()
            .collect()
    }

    /// The point of one job, which is computed on this thread if it is not kept.
    ///
    /// # Errors
    /// If it has none.
    pub fn point<J: Job>(&self, shared: &J::Shared, job: &J) -> Result<J::Point, J::Error> {
        match Asked::<J>::new(self, shared) {
            Some(batch) => batch.point(job),
            None => job.compute(shared),
        }
    }
}

impl Drop for PointSource {
    fn drop(&mut self) {
        // What is assigned is reported after that.
        self.flush();
    }
}

/// Points of one subject that are asked for.
struct Asked<'a, J: Job> {
    source: &'a PointSource,
    shared: &'a J::Shared,
    subject: Subject,
    kept: Option<(&'a AllKept, Arc<Kept>)>,
}

impl<'a, J: Job> Asked<'a, J> {
    /// `None` if all are simply computed.
    fn new(source: &'a PointSource, shared: &'a J::Shared) -> Option<Self> {
        if source.kept.is_none() && source.assignment.is_all() {
            return None;
        }
        let version = source.kept.as_ref().map(|(_, version)| *version);
        let version = version.or_else(Version::of_this_program).unwrap_or(Version::UNKNOWN);
        let subject = Subject::new(J::COMPUTATION, version, shared);
        let kept = source.kept.as_ref().map(|(all, _)| (all, all.of(subject)));
        Some(Self { source, shared, subject, kept })
    }

    fn point(&self, job: &J) -> Result<J::Point, J::Error> {
        let Self { source: PointSource { assignment, .. }, shared, .. } = self;
        let key = self.subject.key(job.key());
        if let Some(point) = self.known(&key) {
            assignment.note_kept(key, Duration::ZERO);
            return Ok(point);
        }
        let missing = || Missing {
            key,
            computation: J::COMPUTATION.to_owned(),
            cost: job.cost(),
            words: format!("{}: {}", J::shared_words(shared), job.words()),
        };
        if !assignment.computes(key, missing) {
            return Err(Elsewhere.into());
        }
        let begun = Instant::now();
        let computed = job.compute(shared);
        match &computed {
            Ok(point) => self.keep(key, point, begun.elapsed()),
            Err(error) => assignment.note_failed(key, || error.to_string()),
        }
        computed
    }

    /// A point that is kept. What is kept and is no point is as if it were not.
    fn known(&self, key: &Key) -> Option<J::Point> {
        let (_, kept) = self.kept.as_ref()?;
        encoding::read(&kept.get(key)?).ok()
    }

    fn keep(&self, key: Key, point: &J::Point, took: Duration) {
        let assignment = &self.source.assignment;
        let Some((all, kept)) = &self.kept else {
            return assignment.note_failed(key, || "nothing can be kept".to_owned());
        };
        match encoding::write(point) {
            Ok(bytes) => {
                all.insert(kept, key, bytes.into());
                assignment.note_kept(key, took);
            }
            Err(error) => assignment.note_failed(key, || format!("it cannot be kept: {error}")),
        }
    }
}
