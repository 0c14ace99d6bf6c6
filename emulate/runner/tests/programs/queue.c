// A thread hands numbers to another one by a ring, of which the two ends lie on one line.
#include <pthread.h>

enum { ITEMS = 3000, ROOM = 64, APART = 8 };

static _Alignas(4096) struct { volatile long head, tail; } queue;
static volatile long ring[ROOM * APART];

static void think(void)
{
    for (int i = 0; i < 200; i++)
        __asm__ volatile("");
}

static void *fill(void *none)
{
    for (long i = 0; i < ITEMS; i++) {
        think();
        while (queue.head - queue.tail >= ROOM)
            ;
        ring[queue.head % ROOM * APART] = i;
        queue.head = queue.head + 1;
    }
    return none;
}

static void *empty(void *none)
{
    long sum = 0;
    for (long i = 0; i < ITEMS; i++) {
        while (queue.tail == queue.head)
            ;
        sum += ring[queue.tail % ROOM * APART];
        think();
        queue.tail = queue.tail + 1;
    }
    return sum ? none : NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, fill, NULL);
    pthread_create(&other, NULL, empty, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
