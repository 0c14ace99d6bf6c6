/* A work queue: one producer, and consumers who sleep on a condition variable while it is empty.
 *
 * Putting and taking an item each hold the queue's mutex for HOLD_US and for as long as it takes to
 * wake a thread, which counts as held too. A consumer works on its item for THINK_US outside of the
 * mutex. The producer makes an item as fast as all consumers together work on them, so that the
 * queue is now empty and now not. */
#include "planted.h"

enum { ROOM = 16 };

pthread_mutex_t planted_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static int queued, closed;

/* Waits on `condition`, as the mutex's holder. */
static void wait_on(pthread_cond_t *condition, struct planted_thread *self) {
    pthread_cond_wait(condition, &planted_lock);
    self->condition_waits++;
}

/* Puts `change` items into the queue, and wakes one thread that waits on `condition`. */
static void change_queue(int change, pthread_cond_t *condition, struct planted_thread *self) {
    uint64_t taken = planted_now(), start = planted_ran();
    planted_compute(planted->hold_ns);
    queued += change;
    pthread_cond_signal(condition);
    planted_count_hold(&self->exclusive, taken, planted_ran() - start);
}

PLANTED_SECTION void planted_put(struct planted_thread *self) {
    pthread_mutex_lock(&planted_lock);
    while (queued == ROOM)
        wait_on(&not_full, self);
    change_queue(1, &not_empty, self);
    self->items++;
    pthread_mutex_unlock(&planted_lock);
}

/* Takes an item. Returns whether there was one before the queue was closed. */
PLANTED_SECTION int planted_section(struct planted_thread *self) {
    pthread_mutex_lock(&planted_lock);
    while (queued == 0 && !closed)
        wait_on(&not_empty, self);
    int taken = !closed;
    if (taken)
        change_queue(-1, &not_full, self);
    pthread_mutex_unlock(&planted_lock);
    return taken;
}

static void produce(struct planted_thread *self) {
    uint64_t making_ns = planted->think_ns / (uint64_t)(planted->threads - 1);
    while (!planted_over()) {
        /* Not planted_think: that is what consumers do. */
        planted_compute(making_ns);
        planted_put(self);
    }
    pthread_mutex_lock(&planted_lock);
    closed = 1;
    pthread_cond_broadcast(&not_empty);
    pthread_mutex_unlock(&planted_lock);
}

static void body(struct planted_thread *self) {
    if (self->number == 0)
        produce(self);
    else
        while (planted_section(self))
            planted_think(self);
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    planted_run("c", "pthread_mutex", &planted_lock, planted->threads < 2 ? 2 : planted->threads,
                body);
    return 0;
}
