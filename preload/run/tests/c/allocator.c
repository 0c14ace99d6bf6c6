/* A program with an allocator of its own that takes a mutex, as many real ones do. It is called
   before main, by threads in the making, and whenever a library of ours should dare to. */
#include "check.h"
#include <stdint.h>
#include <sys/mman.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *next, *end;
static long calls;

static void *take(size_t alignment, size_t size)
{
    if (pthread_mutex_lock(&mutex) != 0)
        abort();
    calls++;
    size_t whole = size + 16 + alignment;
    if (next == NULL || (size_t)(end - next) < whole) {
        size_t chunk = whole > 1 << 20 ? whole : 1 << 20;
        next = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (next == MAP_FAILED)
            abort();
        end = next + chunk;
    }
    char *block = (char *)(((uintptr_t)next + 16 + alignment - 1) & ~(alignment - 1));
    ((size_t *)block)[-1] = size;
    next = block + size;
    if (pthread_mutex_unlock(&mutex) != 0)
        abort();
    return block;
}

void *malloc(size_t size)
{
    return take(16, size);
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t size)
{
    return take(16, count * size); /* fresh from the kernel: zeroes */
}

void *realloc(void *block, size_t size)
{
    void *new = take(16, size);
    if (block) {
        size_t old = ((size_t *)block)[-1];
        memcpy(new, block, old < size ? old : size);
    }
    return new;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return take(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = take(alignment, size);
    return 0;
}

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int done;

static void *work(void *argument)
{
    for (int i = 0; i < 2000; i++) {
        GIVES(0, pthread_mutex_lock(&shared));
        char *text = strdup("some text");
        CHECK(strlen(text) == 9);
        free(text);
        GIVES(0, pthread_mutex_unlock(&shared));
    }
    GIVES(0, pthread_mutex_lock(&shared));
    done++;
    GIVES(0, pthread_cond_signal(&cond));
    GIVES(0, pthread_mutex_unlock(&shared));
    return argument;
}

int main(void)
{
    for (int i = 0; i < 4; i++)
        GIVES(0, pthread_detach(start(work, NULL)));
    GIVES(0, pthread_mutex_lock(&shared));
    while (done < 4)
        GIVES(0, pthread_cond_wait(&cond, &shared));
    GIVES(0, pthread_mutex_unlock(&shared));
    CHECK(calls > 8000);
    return finish();
}
