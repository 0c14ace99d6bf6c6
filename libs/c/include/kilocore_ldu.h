/*
 * kilocore_ldu.h: deferred-update logs.
 *
 * A log is for a structure that many threads update and few threads read. Updates are logged
 * without a lock. In the log, an insertion and a removal of the same object cancel each other.
 * Readers apply the updates that are left. Link with -lkilocore_c. The documentation of the
 * Rust crate kilocore-ldu says when a log pays and when it does not.
 *
 * An object embeds a struct kc_ldu_object. The object has one owner at a time. Only the owner may
 * call the functions that take the object. If one thread hands the object to another, something
 * must order the two threads, as a mutex or a queue does. Operations on an object alternate:
 * insert, remove, insert.
 *
 *     struct subscriber { struct kc_ldu_object log; struct list_links links; int socket; };
 *
 * A function that returns int returns 0 on success. Otherwise it returns a negative errno value
 * and has changed nothing.
 */
#ifndef KILOCORE_LDU_H
#define KILOCORE_LDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The part of an object that belongs to the library. Callers must not use its content. */
struct kc_ldu_object {
	uint64_t private_state[3];
};

/* What a reader gets when it enters and hands back when it leaves. */
struct kc_ldu_reader {
	uint64_t private_state[2];
};

/* A structure behind a log. */
struct kc_ldu;

/* Slots for the queues of several roots, on each core. */
struct kc_ldu_slots;

/*
 * The functions by which the log changes the structure.
 *
 * insert and remove are called by the thread that applies the log: one thread at a time, while no
 * reader is inside. For one object, insert and remove alternate. They must not call functions of
 * this library.
 *
 * release is called outside of the lock, when no other thread uses the object any more, and may
 * free the object. It may be NULL if objects are never given up.
 */
struct kc_ldu_structure {
	void (*insert)(void *context, struct kc_ldu_object *object);
	void (*remove)(void *context, struct kc_ldu_object *object);
	void (*release)(void *context, struct kc_ldu_object *object);
};

enum kc_ldu_when {
	KC_LDU_ALWAYS,   /* every update is logged */
	KC_LDU_ADAPTIVE, /* updates are logged while that is faster than making them directly */
};

struct kc_ldu_options {
	/* The slots for queues on each core, or NULL for one global queue. They outlive the root. */
	struct kc_ldu_slots *slots;
	/* When updates are logged. KC_LDU_ADAPTIVE cannot be combined with slots. */
	enum kc_ldu_when when;
	/* An update applies a log of about this many objects or more. 0 means the default, 4,096. */
	uint32_t most_objects;
};

/*
 * Returns a new root. The functions of structure are called with context. options may be NULL. The
 * functions are copied; context must stay valid until kc_ldu_destroy returns. The result is NULL if
 * insert or remove is missing or if the options contradict each other.
 */
struct kc_ldu *kc_ldu_new(const struct kc_ldu_structure *structure, void *context,
                          const struct kc_ldu_options *options);

/*
 * Applies the log and frees a root that nobody uses any more. Objects that are inserted stay in the
 * structure. They must be initialized by kc_ldu_object_init before this library is used with them
 * again.
 */
void kc_ldu_destroy(struct kc_ldu *root);

/* Returns slots for cores with numbers below cores, or NULL if cores is 0. */
struct kc_ldu_slots *kc_ldu_slots_new(uint32_t cores);

/* Frees slots that no root uses any more. */
void kc_ldu_slots_destroy(struct kc_ldu_slots *slots);

/* Initializes an object. It is in no structure then. */
void kc_ldu_object_init(struct kc_ldu_object *object);

/*
 * Inserts an object. Readers that enter after this has returned find it.
 *
 * Returns -EEXIST if the object is inserted already. Returns -EBUSY if another root's log still has
 * to take the object out; call kc_ldu_synchronize for that root, and try again.
 *
 * This function may apply the log, and may have to wait until readers leave. So a reader must not
 * call it between kc_ldu_read_lock and kc_ldu_read_unlock.
 */
int kc_ldu_insert(struct kc_ldu *root, struct kc_ldu_object *object);

/*
 * Removes an object. Readers that enter after this has returned do not find it. The object must
 * stay in place until kc_ldu_is_settled returns true for it, or until the release function gets it.
 *
 * Returns -ENOENT if the object is not in this root. Like kc_ldu_insert, this function may wait
 * until readers leave.
 */
int kc_ldu_remove(struct kc_ldu *root, struct kc_ldu_object *object);

/* Returns whether only the owner of a removed object can reach it, so that it may be freed. */
bool kc_ldu_is_settled(const struct kc_ldu_object *object);

/*
 * Gives up a removed object. The structure's release function gets the object: during this call, or
 * when the log is applied.
 *
 * Returns -EEXIST if the object is inserted, -ENOENT if it was not last in this root, and -EINVAL
 * if the structure has no release function.
 */
int kc_ldu_release(struct kc_ldu *root, struct kc_ldu_object *object);

/*
 * kc_ldu_read_lock enters as a reader and kc_ldu_read_unlock leaves. Between the two calls the
 * structure does not change. It contains every update that returned before the reader entered.
 * Several readers may be inside at the same time.
 */
struct kc_ldu_reader kc_ldu_read_lock(struct kc_ldu *root);
void kc_ldu_read_unlock(struct kc_ldu *root, struct kc_ldu_reader reader);

/* Applies the log. Waits until the readers that are inside have left. */
void kc_ldu_synchronize(struct kc_ldu *root);

/* Applies the log unless a thread is inside, and returns whether it did. This is for a timer. */
bool kc_ldu_flush(struct kc_ldu *root);

#ifdef __cplusplus
}
#endif

#endif
