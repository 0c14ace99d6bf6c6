// A program whose threads parse requests and copy messages. The message grows with the number of
// threads, so that the copy costs more on more cores. Usage: growing THREADS REQUESTS

#include <pthread.h>
#include <stdlib.h>

enum { MOST = 64 };

static int threads;
static long requests;

__attribute__((noinline)) unsigned long parse(unsigned long request) {
    for (int i = 0; i < 2000; i++) request = request * 6364136223846793005UL + 1;
    return request;
}

__attribute__((noinline)) unsigned long copy_message(unsigned long request) {
    volatile unsigned long message = request;
    for (int i = 0; i < threads * threads * 2000; i++) message = message * 3 + 1;
    return message;
}

static void *serve(void *first) {
    unsigned long request = (unsigned long)first;
    for (long i = 0; i < requests / threads; i++) request = copy_message(parse(request));
    return (void *)request;
}

int main(int count, char **words) {
    pthread_t servers[MOST];
    if (count != 3) return 2;
    threads = atoi(words[1]);
    requests = atol(words[2]);
    for (long i = 0; i < threads; i++) pthread_create(servers + i, NULL, serve, (void *)i);
    for (int i = 0; i < threads; i++) pthread_join(servers[i], NULL);
    return 0;
}
