/* A service that begins as root and gives up its rights before its first lock, in the way that its
   argument names. It then takes 3,000 mutexes of its own, each ten times. */
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define SITE(number)                                          \
    for (int i = 0; i < 1500; i++) {                          \
        for (int turn = 0; turn < 10; turn++) {               \
            pthread_mutex_lock(&mutexes[number][i]);          \
            pthread_mutex_unlock(&mutexes[number][i]);        \
        }                                                     \
    }

static pthread_mutex_t mutexes[2][1500];

static void drop(void) {
    if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        _exit(9);
}

static void close_all(void) {
    for (int descriptor = 3; descriptor < 1024; descriptor++)
        close(descriptor);
}

static int take(void) {
    SITE(0)
    SITE(1)
    return 0;
}

static int wait_for(pid_t child) {
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 8;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "take") == 0)
        return take();
    if (strcmp(way, "drop") == 0) {
        drop();
    } else if (strcmp(way, "lock-drop") == 0) {
        static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&first);
        pthread_mutex_unlock(&first);
        drop();
        close_all();
    } else if (strcmp(way, "close-drop") == 0) {
        close_all();
        drop();
    } else if (strcmp(way, "drop-fork") == 0) {
        drop();
        close_all();
        pid_t child = fork();
        if (child != 0)
            return wait_for(child);
    } else if (strcmp(way, "fork-drop") == 0) {
        pid_t child = fork();
        if (child != 0)
            return wait_for(child);
        close_all();
        drop();
    } else if (strcmp(way, "drop-exec") == 0) {
        drop();
        close_all();
        execl("/proc/self/exe", "dropped", "take", (char *)NULL);
        return 7;
    } else {
        return 5;
    }
    return take();
}
