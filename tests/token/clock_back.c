/* A clock that is set back by a day at each look, for a test: what is preloaded hides the C library's.
   The monotonic clock is as it is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static atomic_long looks;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int (*real)(clockid_t, struct timespec *);
    void *const found = dlsym(RTLD_NEXT, "clock_gettime");
    int result;

    memcpy(&real, &found, sizeof real);
    result = real(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
        now->tv_sec -= 86400 * atomic_fetch_add(&looks, 1);
    }
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec found;

    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now)
{
    struct timespec found;

    (void)clock_gettime(CLOCK_REALTIME, &found);
    if (now) {
        *now = found.tv_sec;
    }
    return found.tv_sec;
}
