/* Who is alone in a read-write lock may unlock it, destroy it and reuse its memory, though the
   thread that was inside before may not have returned from its unlocking. */
#include "check.h"

enum { ROUNDS = 3000, USERS = 3 };

struct object {
    pthread_rwlock_t lock;
    int left; /* how many of the other threads have not been inside yet */
};

static pthread_barrier_t begin, done;
static struct object *object;

static void use(int round, int number)
{
    struct object *mine = object;
    for (volatile int i = 0; i < round * (number + 7) % 97; i++)
        ;
    if (number > 0) {
        if ((round + number) % 2)
            GIVES(0, pthread_rwlock_wrlock(&mine->lock));
        else
            GIVES(0, pthread_rwlock_rdlock(&mine->lock));
        __atomic_sub_fetch(&mine->left, 1, __ATOMIC_RELAXED);
        GIVES(0, pthread_rwlock_unlock(&mine->lock));
        return;
    }
    /* The first thread comes until it is alone and all others have been inside. */
    for (int all = 0; !all;) {
        GIVES(0, pthread_rwlock_wrlock(&mine->lock));
        all = mine->left == 0;
        GIVES(0, pthread_rwlock_unlock(&mine->lock));
    }
    GIVES(0, pthread_rwlock_destroy(&mine->lock));
    memset(mine, 0xA5, sizeof *mine);
}

static void *play(void *argument)
{
    long number = (long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&begin);
        use(round, (int)number);
        pthread_barrier_wait(&done);
    }
    return NULL;
}

int main(void)
{
    GIVES(0, pthread_barrier_init(&begin, NULL, USERS + 1));
    GIVES(0, pthread_barrier_init(&done, NULL, USERS + 1));
    pthread_t threads[USERS];
    for (long i = 0; i < USERS; i++)
        threads[i] = start(play, (void *)i);
    for (int round = 0; round < ROUNDS; round++) {
        object = malloc(sizeof *object);
        memset(object, 0x5A, sizeof *object);
        GIVES(0, pthread_rwlock_init(&object->lock, NULL));
        object->left = USERS - 1;
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&done);
        for (size_t i = 0; i < sizeof *object; i++)
            GIVES(0xA5, ((unsigned char *)object)[i]); /* nobody wrote there since */
        free(object);
    }
    for (int i = 0; i < USERS; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    return finish();
}
