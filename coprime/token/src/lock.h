/* Locks between processes, of files that are locked as a whole. A child after fork has none of them:
   flock belongs to the open file, which both would share, and a child would keep it for as long as
   it lives. */
#ifndef COPRIME_TOKEN_LOCK_H
#define COPRIME_TOKEN_LOCK_H

#include "cryptoki.h"

/* Take the lock of the file that `open` opens, as open(2) does. Waits at most ten seconds, and
   releases the module's lock, which the caller has, meanwhile. Gives a lock that is not below 0, or
   below 0 with the error in `rv`: CKR_CANT_LOCK after that time, CKR_TOKEN_WRITE_PROTECTED if the
   file cannot be opened, CKR_DEVICE_ERROR; errno says more. */
int lock_take(int (*open)(const void *context), const void *context, CK_RV *rv);
void lock_release(int lock);

/* Forget the parent's locks, in a child: one that was not made by fork() may have them still. */
void lock_abandon(void);

#endif
