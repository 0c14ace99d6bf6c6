// Ends in the way that its argument says, while a second thread is busy.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long turns;
static char *volatile nowhere;

static void *busy(void *argument) {
    for (;;) turns++;
    return argument;
}

static void *ends(void *first) {
    pthread_join(*(pthread_t *)first, NULL);
    exit(11);
    return NULL;
}

int main(int count, char **words) {
    const char *how = count > 1 ? words[1] : "";
    pthread_t thread;
    if (pthread_create(&thread, NULL, busy, NULL)) return 1;
    while (turns < 1000) {}
    if (!strcmp(how, "exit")) exit(9);
    if (!strcmp(how, "_exit")) _exit(10);
    if (!strcmp(how, "other")) {
        static pthread_t first;
        first = pthread_self();
        pthread_create(&thread, NULL, ends, &first);
        pthread_exit(NULL);
    }
    if (!strcmp(how, "fault")) *nowhere = 1;
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "exec")) execl("/bin/echo", "echo", "from another program", (char *)NULL);
    if (!strcmp(how, "no-exec")) {
        execl("/no/such/program", "x", (char *)NULL);
        return 12;
    }
    if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            for (long i = 0; i < 3000000; i++) turns++;
            _exit(turns > 0 ? 3 : 4);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("the child returned %d\n", WEXITSTATUS(status));
        return 5;
    }
    return 1;
}
