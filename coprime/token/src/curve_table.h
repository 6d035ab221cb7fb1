/* The table of a curve's base point, computed by libcrypto: a simulated engine takes many seconds for
   it, and what software has computed no disturbed engine has made wrong. */
#ifndef COPRIME_TOKEN_CURVE_TABLE_H
#define COPRIME_TOKEN_CURVE_TABLE_H

#include <stdbool.h>

#include "crypto.h"
#include "curve.h"

/* The most words of a table. */
enum { MAX_TABLE_WORDS = 27 * MAX_CURVE_WORDS };

/* Compute the table of constants that are made, but for it, as coprime_curves.h describes it. False
   without memory. */
bool curve_table_compute(const struct crypto *crypto, const struct coprime *driver,
                         const struct curve *curve, const struct coprime_curve_constants *made,
                         uint32_t table[MAX_TABLE_WORDS]);

#endif
