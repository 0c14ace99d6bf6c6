/* Takes a mutex and a read-write lock before the C library has begun, and again in `main`. Under a
   library that replaces locks, they must not be glibc's then: the argument is m for mutexes, and r
   for read-write locks, that are to be replaced. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int failed;

static void take_early(void)
{
    failed |= pthread_mutex_lock(&mutex);
    failed |= pthread_mutex_unlock(&mutex);
    failed |= pthread_rwlock_wrlock(&rwlock);
    failed |= pthread_rwlock_unlock(&rwlock);
}

__attribute__((section(".preinit_array"), used)) static void (*early)(void) = take_early;

int main(int words, char **word)
{
    const char *replaced = words > 1 ? word[1] : "";
    failed |= pthread_mutex_lock(&mutex);
    failed |= pthread_rwlock_wrlock(&rwlock);
    /* Where glibc keeps who holds a lock, and the locks here keep nothing of that kind. */
    int mutex_is_glibcs = mutex.__data.__owner == gettid();
    int rwlock_is_glibcs = rwlock.__data.__cur_writer == gettid();
    failed |= pthread_rwlock_unlock(&rwlock);
    failed |= pthread_mutex_unlock(&mutex);
    if (failed) {
        puts("a lock failed");
        return 1;
    }
    if (mutex_is_glibcs != (strchr(replaced, 'm') == NULL)
        || rwlock_is_glibcs != (strchr(replaced, 'r') == NULL)) {
        printf("glibc's: mutex %d, read-write lock %d\n", mutex_is_glibcs, rwlock_is_glibcs);
        return 1;
    }
    puts("ok");
    return 0;
}
