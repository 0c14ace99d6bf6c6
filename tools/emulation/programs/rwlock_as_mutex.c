// Read-write locks that are mutexes: in their bytes, and shared by nobody. Preloaded under programs whose lock was a mutex
// in the study, as it replaced mutexes only, and gained.
#include <assert.h>
#include <pthread.h>

static_assert(sizeof(pthread_mutex_t) <= sizeof(pthread_rwlock_t));

static pthread_mutex_t *mutex_of(pthread_rwlock_t *lock)
{
    return (pthread_mutex_t *)lock;
}

int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *)
{
    return pthread_mutex_init(mutex_of(lock), NULL);
}

int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    return pthread_mutex_destroy(mutex_of(lock));
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return pthread_mutex_lock(mutex_of(lock));
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    return pthread_mutex_lock(mutex_of(lock));
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    return pthread_mutex_trylock(mutex_of(lock));
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    return pthread_mutex_trylock(mutex_of(lock));
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    return pthread_mutex_unlock(mutex_of(lock));
}
