/* Texts as PKCS #11 has them: of a fixed length, with blanks at the end. */
#ifndef COPRIME_TOKEN_TEXT_H
#define COPRIME_TOKEN_TEXT_H

#include <string.h>

#include "cryptoki.h"

static inline void text_pad(CK_UTF8CHAR *to, size_t size, const char *text)
{
    const size_t length = strlen(text);

    memset(to, ' ', size);
    memcpy(to, text, length < size ? length : size);
}

#endif
