#include "calls.h"

#include <pthread.h>
#include <stdatomic.h>

#include <openssl/err.h>

#include "process.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* a call ended, or the module is ending */
static atomic_bool ending;
static unsigned calls; /* that are under way */

bool module_is_open(void)
{
    return process_stage && atomic_load(process_stage) == OPEN;
}

void module_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void module_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

CK_RV module_enter(void)
{
    bool open;

    if (!module_is_open()) {
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    }
    module_lock();
    open = module_is_open() && !ending;
    calls += open;
    module_unlock();
    if (open) {
        (void)ERR_set_mark();
    }
    return open ? CKR_OK : CKR_CRYPTOKI_NOT_INITIALIZED;
}

void module_leave(void)
{
    (void)ERR_pop_to_mark();
    module_lock();
    --calls;
    (void)pthread_cond_broadcast(&changed);
    module_unlock();
}

bool module_is_ending(void)
{
    return ending;
}

bool module_begin_end(void)
{
    if (ending || !module_is_open()) {
        return false;
    }
    ending = true;
    (void)pthread_cond_broadcast(&changed);
    return true;
}

void module_await_calls(void)
{
    while (calls) {
        (void)pthread_cond_wait(&changed, &lock);
    }
}

void module_finish_end(void)
{
    ending = false;
    atomic_store(process_stage, CLOSED);
}

void module_await_end(void)
{
    while (!ending) {
        (void)pthread_cond_wait(&changed, &lock);
    }
}

void module_forget_calls(void)
{
    calls = 0;
    ending = false;
    (void)pthread_mutex_init(&lock, NULL);
    (void)pthread_cond_init(&changed, NULL);
}
