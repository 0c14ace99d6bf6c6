/*
 * kilocore_locks.h: locks for many cores.
 *
 * One line chooses the algorithm, where the lock is initialized:
 *
 *     static struct kc_lock lock = KC_LOCK_INIT(kc_mcs_park);
 *
 *     kc_lock_acquire(&lock);
 *     count++;
 *     kc_lock_release(&lock);
 *
 * 'kilocore list locks' lists the algorithms with what each is best and worst at. Those whose waiters
 * spin need a core for each thread that uses the lock; field 'sleeps' of an algorithm is false for
 * them. Link with -lkilocore_c.
 *
 * A lock is not recursive. Any thread may release it for the thread that acquired it. An acquire
 * sees what happened before the release that it follows. A child of fork must not use a lock or a
 * condition that other threads used at the moment of the fork.
 */
#ifndef KILOCORE_LOCKS_H
#define KILOCORE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What can be done with locks of one algorithm. Call the functions below instead of these. */
struct kc_lock_algorithm {
	const char *name;  /* as in 'kilocore list locks' */
	const char *title; /* what kind of lock it is, in a few words */
	bool sleeps;       /* whether waiters give up their core after a while */
	void (*acquire)(uint64_t *state);
	bool (*try_acquire)(uint64_t *state);
	void (*release)(uint64_t *state);
};

/* A mutual-exclusion lock. Callers must not use its content. */
struct kc_lock {
	const struct kc_lock_algorithm *algorithm;
	uint64_t private_state[2];
};

/* Initializes a lock, which is free then. No function has to be called when it is given up. */
/* clang-format off */
#define KC_LOCK_INIT(ALGORITHM) { &(ALGORITHM), { 0, 0 } }
/* clang-format on */

/* The algorithms. */
extern const struct kc_lock_algorithm kc_tas;
extern const struct kc_lock_algorithm kc_ttas;
extern const struct kc_lock_algorithm kc_backoff;
extern const struct kc_lock_algorithm kc_ticket;
extern const struct kc_lock_algorithm kc_ticket_backoff;
extern const struct kc_lock_algorithm kc_partitioned;
extern const struct kc_lock_algorithm kc_alock;
extern const struct kc_lock_algorithm kc_mcs;
extern const struct kc_lock_algorithm kc_clh;
extern const struct kc_lock_algorithm kc_mcs_park;
extern const struct kc_lock_algorithm kc_clh_park;
extern const struct kc_lock_algorithm kc_mcs_tp;
extern const struct kc_lock_algorithm kc_futex;
extern const struct kc_lock_algorithm kc_adaptive;
extern const struct kc_lock_algorithm kc_mutexee;
extern const struct kc_lock_algorithm kc_cna;
extern const struct kc_lock_algorithm kc_c_bo_mcs;
extern const struct kc_lock_algorithm kc_c_bo_mcs_park;
extern const struct kc_lock_algorithm kc_c_tkt_tkt;
extern const struct kc_lock_algorithm kc_c_ptl_tkt;
extern const struct kc_lock_algorithm kc_hmcs;
extern const struct kc_lock_algorithm kc_ahmcs;
extern const struct kc_lock_algorithm kc_hticket;
extern const struct kc_lock_algorithm kc_malthusian;
extern const struct kc_lock_algorithm kc_malthusian_spin;
extern const struct kc_lock_algorithm kc_requester;

/* Returns all algorithms, and NULL behind the last. */
const struct kc_lock_algorithm *const *kc_lock_algorithms(void);

/* Returns the algorithm with this name, for programs that choose at run time, or NULL. */
const struct kc_lock_algorithm *kc_lock_find(const char *name);

/* Initializes a lock, which is free then. */
static inline void kc_lock_init(struct kc_lock *lock, const struct kc_lock_algorithm *algorithm)
{
	lock->algorithm = algorithm;
	lock->private_state[0] = 0;
	lock->private_state[1] = 0;
}

/* Waits until the lock is free and acquires it. */
static inline void kc_lock_acquire(struct kc_lock *lock)
{
	lock->algorithm->acquire(lock->private_state);
}

/*
 * Acquires the lock if that is possible without waiting, and returns whether it did. It may fail on
 * a free lock only while another thread is acquiring or releasing it.
 */
static inline bool kc_lock_try_acquire(struct kc_lock *lock)
{
	return lock->algorithm->try_acquire(lock->private_state);
}

/*
 * Releases a lock that is held. The memory of the lock may be freed as soon as nobody holds it, waits
 * for it, or will use it.
 */
static inline void kc_lock_release(struct kc_lock *lock)
{
	lock->algorithm->release(lock->private_state);
}

/* A condition on which threads sleep. All zeros are a new one. */
struct kc_condition {
	uint64_t private_state[3];
};

/* clang-format off */
#define KC_CONDITION_INIT { { 0, 0, 0 } }
/* clang-format on */

/*
 * Releases the lock, sleeps until another thread wakes the caller, and acquires the lock. No signal
 * that is sent after the lock was released is lost, and no thread wakes without a signal.
 */
void kc_condition_wait(struct kc_condition *condition, struct kc_lock *lock);

/* The same for a limited time. Returns false if the time ended the sleep. */
bool kc_condition_wait_for(struct kc_condition *condition, struct kc_lock *lock,
                           uint64_t nanoseconds);

/* Wakes the thread that has waited longest. Returns whether there was one. */
bool kc_condition_signal(struct kc_condition *condition);

/* Wakes all threads that wait. Returns how many there were. */
size_t kc_condition_broadcast(struct kc_condition *condition);

/*
 * Waits until no thread touches the condition any more. Its memory may then be freed. Call this when
 * no thread sleeps on the condition and none will.
 */
void kc_condition_destroy(struct kc_condition *condition);

struct kc_rwlock;

/* What a reader gets as it enters and hands back as it leaves. */
struct kc_reader {
	uint64_t private_state;
};

/* What can be done with read-write locks of one algorithm. Call the functions below instead. */
struct kc_rwlock_algorithm {
	const char *name;
	const char *title; /* what kind of lock it is, in a few words */
	struct kc_rwlock *(*make)(void);
	void (*free)(struct kc_rwlock *lock);
	struct kc_reader (*acquire_shared)(struct kc_rwlock *lock);
	bool (*try_acquire_shared)(struct kc_rwlock *lock, struct kc_reader *reader);
	void (*release_shared)(struct kc_rwlock *lock, struct kc_reader reader);
	void (*acquire)(struct kc_rwlock *lock);
	bool (*try_acquire)(struct kc_rwlock *lock);
	void (*release)(struct kc_rwlock *lock);
	struct kc_reader (*downgrade)(struct kc_rwlock *lock);
};

/* A read-write lock: the beginning of an object whose size depends on the algorithm. */
struct kc_rwlock {
	const struct kc_rwlock_algorithm *algorithm;
};

/* The algorithms. */
extern const struct kc_rwlock_algorithm kc_central_rw;
extern const struct kc_rwlock_algorithm kc_reader_first;
extern const struct kc_rwlock_algorithm kc_writer_first;
extern const struct kc_rwlock_algorithm kc_phase_fair;
extern const struct kc_rwlock_algorithm kc_bravo_central;
extern const struct kc_rwlock_algorithm kc_bravo_writer_first;
extern const struct kc_rwlock_algorithm kc_bravo_phase_fair;
extern const struct kc_rwlock_algorithm kc_per_core;

/* Returns all algorithms, and NULL behind the last. */
const struct kc_rwlock_algorithm *const *kc_rwlock_algorithms(void);

/* Returns the algorithm with this name, or NULL. */
const struct kc_rwlock_algorithm *kc_rwlock_find(const char *name);

/* Returns a new read-write lock. Ends the process if there is no memory. */
struct kc_rwlock *kc_rwlock_new(const struct kc_rwlock_algorithm *algorithm);

/* Frees a read-write lock that nobody uses any more. Every release must have returned. */
void kc_rwlock_destroy(struct kc_rwlock *lock);

/*
 * Waits until no writer is inside, and enters as a reader. Ends the process if more than a hundred
 * million readers have entered and not left.
 */
static inline struct kc_reader kc_rwlock_acquire_shared(struct kc_rwlock *lock)
{
	return lock->algorithm->acquire_shared(lock);
}

/*
 * Enters as a reader if that is possible without waiting, and returns whether it did; reader is set
 * only then. It may fail although no writer is inside, if one waits and the algorithm admits writers
 * first.
 */
static inline bool kc_rwlock_try_acquire_shared(struct kc_rwlock *lock, struct kc_reader *reader)
{
	return lock->algorithm->try_acquire_shared(lock, reader);
}

/* Leaves as a reader, with what that reader got as it entered. */
static inline void kc_rwlock_release_shared(struct kc_rwlock *lock, struct kc_reader reader)
{
	lock->algorithm->release_shared(lock, reader);
}

/* Waits until no other thread is inside, and enters as the writer. */
static inline void kc_rwlock_acquire(struct kc_rwlock *lock)
{
	lock->algorithm->acquire(lock);
}

/* Enters as the writer if that is possible without waiting, and returns whether it did. */
static inline bool kc_rwlock_try_acquire(struct kc_rwlock *lock)
{
	return lock->algorithm->try_acquire(lock);
}

/* Leaves as the writer. */
static inline void kc_rwlock_release(struct kc_rwlock *lock)
{
	lock->algorithm->release(lock);
}

/* Turns the writer inside into a reader. No other writer is inside in between. */
static inline struct kc_reader kc_rwlock_downgrade(struct kc_rwlock *lock)
{
	return lock->algorithm->downgrade(lock);
}

#ifdef __cplusplus
}
#endif

#endif
