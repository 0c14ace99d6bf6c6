/* A pipeline of three stages, with bounded queues between them. The middle stage is one slow thread,
 * which takes HOLD_US for an item. Each thread of the other stages takes THINK_US. */
#include "planted.h"

enum { ROOM = 16 };

/* Items between two stages. Their number is all that matters of them. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    int queued;
    int writers; /* how many threads may still put something in */
};

#define QUEUE \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 }
struct queue planted_before = QUEUE, planted_after = QUEUE;
static int makers; /* the threads of the first stage; that of the second is number `makers` */

static void wait_on(pthread_cond_t *condition, struct queue *queue, struct planted_thread *self) {
    pthread_cond_wait(condition, &queue->lock);
    self->condition_waits++;
}

static void put(struct queue *queue, struct planted_thread *self) {
    pthread_mutex_lock(&queue->lock);
    while (queue->queued == ROOM)
        wait_on(&queue->not_full, queue, self);
    queue->queued++;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

/* Takes an item. Returns whether there was one, or else all writers had gone. */
static int take(struct queue *queue, struct planted_thread *self) {
    pthread_mutex_lock(&queue->lock);
    while (queue->queued == 0 && queue->writers > 0)
        wait_on(&queue->not_empty, queue, self);
    int taken = queue->queued > 0;
    queue->queued -= taken;
    pthread_cond_signal(&queue->not_full);
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

static void leave(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->writers--;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

/* The slow stage. */
PLANTED_SECTION void planted_section(struct planted_thread *self) {
    while (take(&planted_before, self)) {
        planted_hold(self);
        put(&planted_after, self);
    }
    leave(&planted_after);
}

static void make(struct planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        put(&planted_before, self);
    }
    leave(&planted_before);
}

static void finish(struct planted_thread *self) {
    while (take(&planted_after, self)) {
        planted_think(self);
        self->items++;
    }
}

static void body(struct planted_thread *self) {
    if (self->number < makers)
        make(self);
    else if (self->number == makers)
        planted_section(self);
    else
        finish(self);
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    int threads = planted->threads < 3 ? 3 : planted->threads;
    makers = threads / 2;
    planted_before.writers = makers;
    planted_after.writers = 1;
    planted_run("c", "pthread_cond", &planted_before, threads, body);
    return 0;
}
