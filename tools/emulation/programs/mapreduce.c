// Maps, reduces and merges as Phoenix does (Yoo and others, IISWC 2009), on machines with one queue of tasks.
//
// The first thread makes all tasks of a phase, each allocated by itself, and threads of a pool take them under a
// mutex. What a task of the map phase emits goes into one of the buckets of its thread, in which keys are sorted and
// each has its values in blocks that double in size. At the end of the phase, a thread combines the values of its
// keys. A task of the reduce phase takes a bucket of all threads. Then half of the threads each merge two results,
// half of these again, and so on.
#include "mapreduce.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256, FIRST = 10 };

struct entry {
    void *key;
    struct block *first, *last;
};

struct bucket {
    struct entry *entries;
    int used, room;
};

struct task {
    struct task *next;
    long first, count;
};

struct results {
    struct result *at;
    long used, room;
};

static const struct job *job;
static int threads, apart;
static void (*phase)(int me);
static sem_t *begins, ended;
// Apart from what else the threads read.
static struct {
    _Alignas(64) pthread_mutex_t mutex;
    struct task *first, **last;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static struct bucket (*buckets)[BUCKETS];
static struct results *results;
static _Thread_local int self;

static void *given(void *memory)
{
    if (!memory)
        exit(1);
    return memory;
}

static void *work(void *number)
{
    for (self = (long)number; sem_wait(&begins[self]) == 0; sem_post(&ended))
        phase(self);
    return NULL;
}

void make_pool(int size)
{
    threads = size;
    begins = given(calloc(threads, sizeof *begins));
    sem_init(&ended, 0, 0);
    for (long i = 0; i < threads; i++) {
        pthread_t made;
        sem_init(&begins[i], 0, 0);
        if (pthread_create(&made, NULL, work, (void *)i))
            exit(1);
    }
}

static void run(void (*what)(int))
{
    phase = what;
    for (int i = 0; i < threads; i++)
        sem_post(&begins[i]);
    for (int i = 0; i < threads; i++)
        sem_wait(&ended);
}

static void add_task(long first, long count)
{
    struct task *task = given(malloc(sizeof *task));
    *task = (struct task){NULL, first, count};
    *queue.last = task;
    queue.last = &task->next;
}

static struct task *take_task(void)
{
    pthread_mutex_lock(&queue.mutex);
    struct task *task = queue.first;
    if (task)
        queue.first = task->next;
    pthread_mutex_unlock(&queue.mutex);
    return task;
}

static struct block *block_of(int room)
{
    struct block *block = given(malloc(sizeof *block + room * sizeof *block->values));
    block->next = NULL, block->room = room, block->used = 0;
    return block;
}

static void free_blocks(struct block *block)
{
    for (struct block *next; block; block = next) {
        next = block->next;
        free(block);
    }
}

void emit(void *key, void *value)
{
    struct bucket *bucket = &buckets[self][job->hash(key) % BUCKETS];
    int low = 0, high = bucket->used, order = 1;
    while (low < high) {
        int middle = (low + high) / 2;
        order = job->compare(key, bucket->entries[middle].key);
        if (order == 0) {
            low = middle;
            break;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    if (order != 0) {
        if (bucket->used == bucket->room) {
            bucket->room = bucket->room ? 2 * bucket->room : FIRST;
            bucket->entries = given(realloc(bucket->entries, bucket->room * sizeof *bucket->entries));
        }
        struct entry *at = &bucket->entries[low];
        memmove(at + 1, at, (bucket->used++ - low) * sizeof *at);
        at->key = key;
        at->first = at->last = block_of(FIRST);
    }
    struct entry *entry = &bucket->entries[low];
    if (entry->last->used == entry->last->room)
        entry->last = entry->last->next = block_of(2 * entry->last->room);
    entry->last->values[entry->last->used++] = value;
}

static void map(int me)
{
    for (struct task *task; (task = take_task()); free(task))
        job->map(task->first, task->count);
    for (int i = 0; job->reduce && i < BUCKETS; i++)
        for (int j = 0; j < buckets[me][i].used; j++) {
            struct entry *entry = &buckets[me][i].entries[j];
            void *value = job->reduce(entry->first);
            free_blocks(entry->first);
            entry->first = entry->last = block_of(1);
            entry->first->values[entry->first->used++] = value;
        }
}

static void reduce_bucket(int me, long number)
{
    int next[threads];
    memset(next, 0, sizeof next);
    for (;;) {
        void *key = NULL;
        struct block *first = NULL, **last = &first;
        for (int i = 0; i < threads; i++) {
            struct bucket *bucket = &buckets[i][number];
            void *other = next[i] < bucket->used ? bucket->entries[next[i]].key : NULL;
            if (other && (!key || job->compare(other, key) < 0))
                key = other;
        }
        if (!key)
            break;
        for (int i = 0; i < threads; i++) {
            struct bucket *bucket = &buckets[i][number];
            if (next[i] < bucket->used && job->compare(bucket->entries[next[i]].key, key) == 0) {
                *last = bucket->entries[next[i]].first;
                last = &bucket->entries[next[i]++].last->next;
            }
        }
        struct results *own = &results[me];
        if (own->used == own->room) {
            own->room = own->room ? 2 * own->room : FIRST;
            own->at = given(realloc(own->at, own->room * sizeof *own->at));
        }
        own->at[own->used++] = (struct result){key, job->reduce ? job->reduce(first) : first->values[0]};
        free_blocks(first);
    }
    for (int i = 0; i < threads; i++)
        free(buckets[i][number].entries);
}

static int by_key(const void *one, const void *other)
{
    return job->compare(((const struct result *)one)->key, ((const struct result *)other)->key);
}

static void reduce(int me)
{
    for (struct task *task; (task = take_task()); free(task))
        reduce_bucket(me, task->first);
    if (results[me].used)
        qsort(results[me].at, results[me].used, sizeof *results[me].at, by_key);
}

static void merge(int me)
{
    if (me % (2 * apart) || me + apart >= threads)
        return;
    struct results one = results[me], other = results[me + apart];
    if (!one.used && !other.used)
        return;
    struct result *all = given(malloc((one.used + other.used) * sizeof *all));
    for (long i = 0, j = 0; i < one.used || j < other.used;) {
        bool first = j == other.used || (i < one.used && by_key(&one.at[i], &other.at[j]) <= 0);
        all[i + j] = first ? one.at[i] : other.at[j];
        i += first, j += !first;
    }
    free(one.at);
    free(other.at);
    results[me] = (struct results){all, one.used + other.used, one.used + other.used};
    results[me + apart] = (struct results){0};
}

struct result *map_reduce(const struct job *what, long *count)
{
    job = what;
    buckets = given(calloc(threads, sizeof *buckets));
    results = given(calloc(threads, sizeof *results));
    queue.first = NULL, queue.last = &queue.first;
    for (long first = 0, end; first < job->units; first = end) {
        end = first + job->chunk < job->units ? first + job->chunk : job->units;
        end = job->end ? job->end(end) : end;
        add_task(first, end - first);
    }
    run(map);
    queue.first = NULL, queue.last = &queue.first;
    for (int i = 0; i < BUCKETS; i++)
        add_task(i, 1);
    run(reduce);
    for (apart = 1; apart < threads; apart *= 2)
        run(merge);
    struct result *all = results[0].at;
    *count = results[0].used;
    free(results);
    free(buckets);
    return all;
}

void *sum_of(struct block *values)
{
    size_t sum = 0;
    for (; values; values = values->next)
        for (int i = 0; i < values->used; i++)
            sum += (size_t)values->values[i];
    return (void *)sum;
}

int compare_ints(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

int compare_shorts(const void *one, const void *other)
{
    return *(const short *)one - *(const short *)other;
}

unsigned hash_int(const void *key)
{
    return *(const int *)key;
}

unsigned hash_short(const void *key)
{
    return *(const short *)key;
}
