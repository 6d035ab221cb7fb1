#define _GNU_SOURCE

#include "lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

/* How long another process may have the lock, and how often it is tried, in milliseconds. */
enum { PATIENCE = 10000, PAUSE = 5 };

/* The files that this process has locked or waits for, which a child closes. */
enum { MAX_LOCKS = 64 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int locks[MAX_LOCKS];
static unsigned count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    (void)pthread_mutex_lock(&guard);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&guard);
}

static void close_all(void)
{
    while (count) {
        (void)close(locks[--count]);
    }
}

static void after_fork_in_child(void)
{
    close_all();
    (void)pthread_mutex_unlock(&guard);
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Open the file, and remember it for a fork. */
static int begin(int (*open)(const void *context), const void *context)
{
    int file = -1;

    (void)pthread_once(&once, watch_forks);
    (void)pthread_mutex_lock(&guard);
    if (count == MAX_LOCKS) {
        errno = EMFILE;
    } else {
        file = open(context);
    }
    if (file >= 0) {
        locks[count++] = file;
    }
    (void)pthread_mutex_unlock(&guard);
    return file;
}

static int64_t milliseconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000 + now.tv_nsec / 1000000;
}

static CK_RV await(int file)
{
    const struct timespec pause = {0, PAUSE * 1000000L};
    const int64_t end = milliseconds() + PATIENCE;

    while (flock(file, LOCK_EX | LOCK_NB)) {
        if (errno != EINTR && errno != EWOULDBLOCK) {
            return CKR_DEVICE_ERROR;
        }
        if (milliseconds() > end) {
            errno = EWOULDBLOCK;
            return CKR_CANT_LOCK;
        }
        module_unlock();
        (void)nanosleep(&pause, NULL);
        module_lock();
    }
    return CKR_OK;
}

int lock_take(int (*open)(const void *context), const void *context, CK_RV *rv)
{
    const int file = begin(open, context);

    if (file < 0) {
        *rv = CKR_TOKEN_WRITE_PROTECTED;
        return file;
    }
    *rv = await(file);
    if (*rv != CKR_OK) {
        const int error = errno;

        lock_release(file);
        errno = error;
        return -1;
    }
    return file;
}

void lock_release(int lock)
{
    (void)pthread_mutex_lock(&guard);
    for (unsigned i = 0; i < count; ++i) {
        if (locks[i] == lock) {
            locks[i] = locks[--count];
            (void)flock(lock, LOCK_UN); /* a child may have the same open file */
            (void)close(lock);
            break;
        }
    }
    (void)pthread_mutex_unlock(&guard);
}

void lock_abandon(void)
{
    close_all();
    (void)pthread_mutex_init(&guard, NULL); /* a thread that is not there may have it */
}
