#define _GNU_SOURCE

#include "debug.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int output = -1;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_output(void)
{
    const char *const where = secure_getenv("COPRIME_TOKEN_DEBUG");

    if (where == NULL || where[0] == '\0' || strcmp(where, "0") == 0) {
        return;
    }
    output = strcmp(where, "1") == 0 ?
                 STDERR_FILENO :
                 open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

void debug_say(const char *format, ...)
{
    const int before = errno;
    char line[512];
    va_list arguments;
    int head, body;

    (void)pthread_once(&opened, open_output);
    if (output < 0) {
        errno = before;
        return;
    }
    head = snprintf(line, sizeof line, "coprime token [%d]: ", (int)getpid());
    va_start(arguments, format);
    body = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, arguments);
    va_end(arguments);
    if (body >= 0) {
        const size_t length = strlen(line);

        line[length] = '\n';
        (void)!write(output, line, length + 1); /* one call, so that lines stay whole */
    }
    errno = before;
}
