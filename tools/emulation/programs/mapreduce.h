// A job that a pool of threads does in three phases: map, reduce and merge.
#include <stddef.h>

// Values that were emitted with one key, and the block with the later ones.
struct block {
    struct block *next;
    int room, used;
    void *values[];
};

struct result {
    void *key, *value;
};

struct job {
    // How much there is to map, and how much of it a task maps at least.
    long units, chunk;
    // Where a task that may end here does end, if that is not anywhere.
    long (*end)(long here);
    void (*map)(long first, long count);
    // All values of a key become one, by each thread after it has mapped, and then over all threads. Without it, the
    // first value stays.
    void *(*reduce)(struct block *values);
    int (*compare)(const void *key, const void *other);
    unsigned (*hash)(const void *key);
};

void make_pool(int threads);
void emit(void *key, void *value);
// The results by key. The caller frees them.
struct result *map_reduce(const struct job *job, long *count);
// The sum of values that are numbers.
void *sum_of(struct block *values);
// Keys that are numbers.
int compare_ints(const void *one, const void *other);
int compare_shorts(const void *one, const void *other);
unsigned hash_int(const void *key);
unsigned hash_short(const void *key);
