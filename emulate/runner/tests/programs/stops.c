// Threads for which QEMU has to stop all others now and then: stops THREADS HOW.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000, FORKS = 12, ODD = 2 };

static long count, guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// The eight bytes from 60 on lie on two lines.
static _Alignas(64) char lines[128];
static const char *how;

static void *work(void *nothing)
{
	int is_odd = !strcmp(how, "odd");
	for (int round = 0; round < ROUNDS; round++) {
		__sync_fetch_and_add(&count, 1);
		if (!strcmp(how, "pages")) {
			// Every third is mapped anew, so that its pages are touched for the first time.
			size_t bytes = round % 3 ? 300 : 200000;
			char *memory = malloc(bytes);
			memory[0] = memory[bytes - 1] = 1;
			free(memory);
		}
		// Without the lock, so that the others are not in a call.
		if (is_odd) {
			__sync_fetch_and_add(&guarded, 1);
			if (round % (ROUNDS / ODD) == 0)
				__sync_fetch_and_add((long *)(lines + 60), 1);
			continue;
		}
		pthread_mutex_lock(&lock);
		guarded++;
		pthread_mutex_unlock(&lock);
	}
	return nothing;
}

// Starts a process that ends at once. Returns whether it did as it should.
static int start(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(3);
	if (strcmp(how, "waits"))
		return child > 0;
	int status;
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

int main(int words, char **word)
{
	(void)words;
	int threads = atoi(word[1]), begun = 0, odd = 0;
	how = word[2];
	if (strcmp(how, "waits"))
		signal(SIGCHLD, SIG_IGN);
	pthread_t all[threads];
	for (int i = 0; i < threads; i++)
		pthread_create(&all[i], NULL, work, NULL);
	for (int i = 0; i < FORKS && strcmp(how, "odd"); i++)
		begun += start();
	for (int i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	memcpy(&odd, lines + 60, sizeof odd);
	printf("%ld %ld %d %d\n", count / threads, guarded / threads, begun, odd);
	return 0;
}
