/*
 * kilocore_ldu.h: deferred-update logs.
 *
 * A structure that many threads update and few read goes behind a log: updates are logged without
 * a lock, an insertion and a removal of the same object cancel each other on the way, and readers
 * apply what is left. Link with -lkilocore_ldu_c; the Rust crate kilocore-ldu is the manual on
 * when this pays and when not.
 *
 * An object embeds a struct kc_ldu_object. It has one owner at a time, who alone may call the
 * functions that take the object; whatever hands it to another thread must order the two, as a
 * mutex or a queue does. Operations on an object alternate: inserted, removed, inserted.
 *
 *     struct subscriber { struct kc_ldu_object log; struct list_links links; int socket; };
 *
 * Functions that return int give 0, or a negative errno value and change nothing.
 */
#ifndef KILOCORE_LDU_H
#define KILOCORE_LDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an object embeds. Its content is the library's. */
struct kc_ldu_object {
	uint64_t private_state[3];
};

/* What a reader gets when it enters and brings back when it leaves. */
struct kc_ldu_reader {
	uint64_t private_state[2];
};

/* A structure behind a log. */
struct kc_ldu;

/* Slots for the queues of several roots, on each core. */
struct kc_ldu_slots;

/*
 * What the log does to the structure. insert and remove are called by one thread at a time, with
 * no reader inside, and for each object in turn. They are called by whichever thread applies the
 * log, and must not call functions of this library. release may be NULL if objects are never given
 * up; it is called outside of the lock, when nobody else uses the object any more, and may free it.
 */
struct kc_ldu_structure {
	void (*insert)(void *context, struct kc_ldu_object *object);
	void (*remove)(void *context, struct kc_ldu_object *object);
	void (*release)(void *context, struct kc_ldu_object *object);
};

enum kc_ldu_when {
	KC_LDU_ALWAYS,   /* every update is logged */
	KC_LDU_ADAPTIVE, /* as long as that is faster than making it under the lock */
};

struct kc_ldu_options {
	/* Queues on each core, in these slots; NULL for one global queue. They outlive the root. */
	struct kc_ldu_slots *slots;
	/* Whether to log always. Not KC_LDU_ADAPTIVE together with slots. */
	enum kc_ldu_when when;
	/* Updates apply a log that has about so many objects; 0 for the usual 4,096. */
	uint32_t most_objects;
};

/*
 * A root whose structure is what the functions make of context. options may be NULL. The
 * functions are copied; context stays valid until kc_ldu_destroy returns. NULL if insert or remove
 * is missing or the options contradict each other.
 */
struct kc_ldu *kc_ldu_new(const struct kc_ldu_structure *structure, void *context,
                          const struct kc_ldu_options *options);

/*
 * Applies the log and ends a root that nobody uses any more. Objects that are inserted stay where
 * they are; nobody may use them with this library again before kc_ldu_object_init.
 */
void kc_ldu_destroy(struct kc_ldu *root);

/* Slots for cores with numbers below cores; NULL if that is 0. */
struct kc_ldu_slots *kc_ldu_slots_new(uint32_t cores);

/* Ends slots that no root uses any more. */
void kc_ldu_slots_destroy(struct kc_ldu_slots *slots);

/* Makes memory an object that is in no structure. */
void kc_ldu_object_init(struct kc_ldu_object *object);

/*
 * Puts an object in. Readers that come later find it.
 * -EEXIST if it is in; -EBUSY if another root still has to take it out: kc_ldu_synchronize that.
 * May apply the log, and wait for readers to leave for that: not to be called by a reader inside.
 */
int kc_ldu_insert(struct kc_ldu *root, struct kc_ldu_object *object);

/*
 * Takes an object out. Readers that come later do not find it; the memory must stay until the
 * object is settled or comes back by release. -ENOENT if it is not in this root. Waits as
 * kc_ldu_insert does.
 */
int kc_ldu_remove(struct kc_ldu *root, struct kc_ldu_object *object);

/* Whether nobody but the owner of a removed object can reach it, so that it may be freed. */
bool kc_ldu_is_settled(const struct kc_ldu_object *object);

/*
 * Gives a removed object up: the structure's release function gets it, now or when the log has
 * been applied. -EEXIST if it is inserted; -ENOENT if it never was in this root; -EINVAL if the
 * structure has no release function.
 */
int kc_ldu_release(struct kc_ldu *root, struct kc_ldu_object *object);

/*
 * Enters as a reader: between the two calls the structure stays as it is, with all updates in it
 * that returned before. Readers share it.
 */
struct kc_ldu_reader kc_ldu_read_lock(struct kc_ldu *root);
void kc_ldu_read_unlock(struct kc_ldu *root, struct kc_ldu_reader reader);

/* Applies the log. */
void kc_ldu_synchronize(struct kc_ldu *root);

/* Applies the log unless a reader is inside: for a timer. Whether it did. */
bool kc_ldu_flush(struct kc_ldu *root);

#ifdef __cplusplus
}
#endif

#endif
