/* Ending a call early. */
#ifndef COPRIME_TOKEN_CANCEL_H
#define COPRIME_TOKEN_CANCEL_H

#include "cryptoki.h"

/* What a call that may last long asks from time to time. */
struct cancel {
    /* CKR_OK as long as the call is wanted, or the error with which it ends. Locks may be held where
       this is called: it takes none. */
    CK_RV (*reason)(const void *context);
    const void *context;
};

static inline CK_RV cancel_reason(const struct cancel *cancel)
{
    return cancel->reason(cancel->context);
}

#endif
