/* A root program whose recording somebody else wants to damage: `attacked truncated|forged`.

   `truncated`: another user, who knows the recording's path, tries to open it, to make it shorter
   and to remove it. `forged`: every reference between the blocks of the recording is overwritten
   with numbers that lead out of it, and the counters with the largest numbers that there are.

   The program then goes on taking locks, old and new, and ends with status 0. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define MUTEXES 64
/* The first words of blocks say of which kind they are. */
#define FIRST_KIND 0x4b430001u
#define LAST_KIND 0x4b43000au

static pthread_mutex_t mutexes[MUTEXES];
static pthread_mutex_t fresh[MUTEXES];
static pthread_mutex_t special[MUTEXES];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static char path[4096];
static unsigned long from, to;

/* Finds the recording in the memory map. */
static int find(void) {
    char line[5000];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char *name = strchr(line, '/');
        if (name && strstr(name, ".kcrec")) {
            name[strcspn(name, "\n")] = 0;
            strcpy(path, name);
            sscanf(line, "%lx-%lx", &from, &to);
            fclose(maps);
            return 1;
        }
    }
    return 0;
}

/* Mutexes without room for the number of their record are found by their addresses. */
static void make_special(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    for (int i = 0; i < MUTEXES; i++)
        pthread_mutex_init(&special[i], &attr);
}

static void take_all(pthread_mutex_t *all) {
    for (int i = 0; i < MUTEXES; i++) {
        pthread_mutex_lock(&all[i]);
        for (volatile int turn = 0; turn < 100; turn++)
            ;
        pthread_mutex_unlock(&all[i]);
    }
}

static void *work(void *which) {
    for (int round = 0; round < 300; round++) {
        take_all(mutexes);
        take_all(special);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        pthread_cond_signal(&condition);
    }
    return which;
}

static void take(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* What another user can do. Returns how much of it succeeded. */
static int attack(void) {
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        return 8;
    int done = 0;
    for (int flags = O_RDONLY; flags <= O_RDWR; flags++) {
        int file = open(path, flags);
        done += file >= 0;
        if (file >= 0 && ftruncate(file, 0) == 0)
            done++;
    }
    done += truncate(path, 0) == 0;
    done += unlink(path) == 0;
    *strrchr(path, '/') = 0;
    done += open(path, O_RDONLY) >= 0;
    done += open(strcat(path, "/0123.kcrec"), O_WRONLY | O_CREAT, 0600) >= 0;
    return done;
}

static void forge(void) {
    struct stat file;
    if (stat(path, &file) != 0)
        return;
    unsigned long length = to - from, used = ((uint64_t *)from)[2];
    if (length > used)
        length = used;
    for (unsigned long at = 1024; at + 64 <= length; at += 64) {
        volatile uint32_t *words = (uint32_t *)(from + at);
        if (words[0] < FIRST_KIND || words[0] > LAST_KIND)
            continue;
        int is_lock = words[0] == FIRST_KIND;
        unsigned long end = words[1] * 16ul;
        for (unsigned long word = is_lock ? 6 : 2; word < end && at + word * 4 < length; word++)
            words[word] = word % 2 ? 0xffffffff : 0x7fffffff;
    }
    ((volatile uint64_t *)from)[2] = UINT64_MAX - 100;
}

int main(int argc, char **argv) {
    make_special();
    take();
    if (argc < 2 || !find())
        return 3;
    if (strcmp(argv[1], "truncated") == 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(attack());
        int status;
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
            return 4;
        if (WEXITSTATUS(status) != 0)
            fprintf(stderr, "%d attacks succeeded\n", WEXITSTATUS(status));
    } else {
        forge();
    }
    take();
    take_all(fresh);
    for (int i = 0; i < MUTEXES; i++) {
        pthread_mutex_destroy(&fresh[i]);
        pthread_mutex_destroy(&special[i]);
    }
    return 0;
}
