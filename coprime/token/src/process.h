/* What belongs to this process alone: a child after fork finds it empty.

   It is memory that the kernel empties in a child (MADV_WIPEONFORK), however that is made: numbers of
   processes do not tell a child from its parent, as each may be the first one of its own namespace,
   and a number is given again. Where the kernel has no such memory, the C library empties it after
   fork(). */
#ifndef COPRIME_TOKEN_PROCESS_H
#define COPRIME_TOKEN_PROCESS_H

#include <stdatomic.h>

/* Where this process is with the module: a child begins with UNTOUCHED, whatever its parent did. */
enum stage { UNTOUCHED, CLOSED, OPENING, OPEN };

/* Null if the system gave no memory for it. */
extern atomic_int *process_stage;

#endif
