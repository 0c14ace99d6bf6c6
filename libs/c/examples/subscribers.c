/*
 * Subscribers to a topic: connections come and go on many threads, and now and then a message is
 * sent to all that are there.
 *
 * The list of subscribers is an ordinary doubly linked one. Nothing in it knows of threads; the log
 * in front of it does. Prints how many updates there were and whether all of them reached the
 * list: those that did not cancelled each other on the way.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "kilocore_ldu.h"

enum { THREADS = 4, ROUNDS = 20000, KEPT = 8, MESSAGES = 200 };

struct subscriber {
	struct kc_ldu_object log; /* first, so that a pointer to it is one to the subscriber */
	struct subscriber *next, *previous;
	int number;
};

struct topic {
	struct subscriber *first;
	unsigned long changes; /* updates that reached the list */
	atomic_ulong freed;
};

static void list_insert(void *context, struct kc_ldu_object *object)
{
	struct topic *topic = context;
	struct subscriber *subscriber = (struct subscriber *)object;
	subscriber->previous = NULL;
	subscriber->next = topic->first;
	if (topic->first)
		topic->first->previous = subscriber;
	topic->first = subscriber;
	topic->changes++;
}

static void list_remove(void *context, struct kc_ldu_object *object)
{
	struct topic *topic = context;
	struct subscriber *subscriber = (struct subscriber *)object;
	if (subscriber->previous)
		subscriber->previous->next = subscriber->next;
	else
		topic->first = subscriber->next;
	if (subscriber->next)
		subscriber->next->previous = subscriber->previous;
	topic->changes++;
}

static void list_release(void *context, struct kc_ldu_object *object)
{
	struct topic *topic = context;
	atomic_fetch_add(&topic->freed, 1);
	free(object);
}

static void must(int result, int expected, const char *what)
{
	if (result != expected) {
		fprintf(stderr, "%s gave %d instead of %d\n", what, result, expected);
		exit(1);
	}
}

struct job {
	struct kc_ldu *root;
	int thread;
	struct subscriber *there[KEPT];
};

static struct subscriber *subscribe(struct kc_ldu *root, int number)
{
	struct subscriber *subscriber = malloc(sizeof *subscriber);
	if (!subscriber)
		abort();
	kc_ldu_object_init(&subscriber->log);
	subscriber->number = number;
	must(kc_ldu_insert(root, &subscriber->log), 0, "kc_ldu_insert");
	return subscriber;
}

static void unsubscribe(struct kc_ldu *root, struct subscriber *subscriber)
{
	must(kc_ldu_remove(root, &subscriber->log), 0, "kc_ldu_remove");
	must(kc_ldu_release(root, &subscriber->log), 0, "kc_ldu_release");
}

/* Subscribes and unsubscribes, and leaves the last few subscribed. */
static void *come_and_go(void *argument)
{
	struct job *job = argument;
	for (int round = 0; round < ROUNDS; round++) {
		struct subscriber **place = &job->there[round % KEPT];
		if (*place)
			unsubscribe(job->root, *place);
		*place = subscribe(job->root, job->thread * ROUNDS + round);
	}
	return NULL;
}

/* How many subscribers a message goes to. */
static int send_message(struct kc_ldu *root, struct topic *topic)
{
	int count = 0;
	struct kc_ldu_reader reader = kc_ldu_read_lock(root);
	for (struct subscriber *s = topic->first; s; s = s->next)
		count += s->number >= 0;
	kc_ldu_read_unlock(root, reader);
	return count;
}

static void run(const char *name, const struct kc_ldu_options *options)
{
	static const struct kc_ldu_structure list = {list_insert, list_remove, list_release};
	struct topic topic = {0};
	struct kc_ldu *root = kc_ldu_new(&list, &topic, options);
	if (!root)
		abort();
	pthread_t threads[THREADS];
	struct job jobs[THREADS];
	for (int i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){.root = root, .thread = i};
		if (pthread_create(&threads[i], NULL, come_and_go, &jobs[i]))
			abort();
	}
	for (int i = 0; i < MESSAGES; i++) {
		int count = send_message(root, &topic);
		if (count > THREADS * KEPT) {
			fprintf(stderr, "%d subscribers are too many\n", count);
			exit(1);
		}
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	must(send_message(root, &topic), THREADS * KEPT, "the last message");
	unsigned long updates = THREADS * (2ul * ROUNDS - KEPT);
	printf("%s: %lu updates, %s\n", name, updates,
	       topic.changes < updates ? "fewer reached the list" : "all reached the list");
	for (int i = 0; i < THREADS; i++)
		for (int place = 0; place < KEPT; place++)
			unsubscribe(root, jobs[i].there[place]);
	kc_ldu_destroy(root);
	must(topic.first == NULL, 1, "an empty list at the end");
	must((int)topic.freed, THREADS * ROUNDS, "freed");
}

/* What must be refused, and changes nothing. */
static void misuse(void)
{
	static const struct kc_ldu_structure list = {list_insert, list_remove, NULL};
	struct topic here = {0}, there = {0};
	struct kc_ldu *root = kc_ldu_new(&list, &here, NULL);
	struct kc_ldu *other = kc_ldu_new(&list, &there, NULL);
	struct subscriber subscriber = {0};
	struct kc_ldu_object *object = &subscriber.log;
	kc_ldu_object_init(object);
	must(kc_ldu_remove(root, object), -ENOENT, "removing what never was in");
	must(kc_ldu_insert(root, object), 0, "kc_ldu_insert");
	must(kc_ldu_insert(root, object), -EEXIST, "inserting twice");
	must(kc_ldu_remove(other, object), -ENOENT, "removing from another root");
	must(kc_ldu_release(root, object), -EINVAL, "releasing without a function for it");
	kc_ldu_synchronize(root);
	must(kc_ldu_remove(root, object), 0, "kc_ldu_remove");
	must(kc_ldu_insert(other, object), -EBUSY, "inserting elsewhere too early");
	must(kc_ldu_is_settled(object), 0, "settled before the log was applied");
	must(kc_ldu_flush(root), 1, "kc_ldu_flush");
	must(kc_ldu_is_settled(object), 1, "settled after");
	must(kc_ldu_insert(other, object), 0, "inserting elsewhere");
	must(kc_ldu_remove(other, object), 0, "kc_ldu_remove");
	must(here.first == NULL && here.changes == 2, 1, "the first list");
	kc_ldu_destroy(root);
	kc_ldu_destroy(other);
	must(kc_ldu_new(&(struct kc_ldu_structure){0}, NULL, NULL) == NULL, 1, "no functions");
}

int main(void)
{
	struct kc_ldu_slots *slots = kc_ldu_slots_new(8);
	run("global", NULL);
	run("per core", &(struct kc_ldu_options){.slots = slots});
	run("adaptive", &(struct kc_ldu_options){.when = KC_LDU_ADAPTIVE});
	run("short", &(struct kc_ldu_options){.most_objects = 16});
	kc_ldu_slots_destroy(slots);
	misuse();
	return 0;
}
