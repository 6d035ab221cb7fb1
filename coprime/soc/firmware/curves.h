#ifndef CURVES_H
#define CURVES_H

#include "coprime.h"

/* An operation on a curve whose result is known: its name, and what it does. `run` gives 0 if the
   result is right, COPRIME_ERROR_SIGNATURE if it is another one, or the driver's error. */
struct known_answer {
    const char *name;
    enum coprime_command command;
    int (*run)(struct coprime *driver);
};

/* All of them, with a null name after the last one. */
extern const struct known_answer known_answers[];

#endif
