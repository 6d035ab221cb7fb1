/* Which slots there are.

   COPRIME_TOKEN_DIR, a folder, makes one slot with the device that COPRIME_TOKEN_DEVICE names ("sim"
   without it). Otherwise each line of the file that COPRIME_TOKEN_CONF names, or else of
   /etc/coprime/token.conf, is a slot:

       slot FOLDER DEVICE KEYGEN

   Empty lines, and those that start with #, mean nothing. Without such a file there is one slot of a
   simulated engine, with the folder coprime/token in the user's folder for data. KEYGEN, or the
   variable COPRIME_TOKEN_KEYGEN, is where keys are generated: "device", which is the default, or
   "software". Programs with rights that their user does not have ignore the environment. */
#ifndef COPRIME_TOKEN_CONFIG_H
#define COPRIME_TOKEN_CONFIG_H

#include <stdbool.h>

/* A slot: where its token is, its engines (device.h), and whether these generate its keys. */
struct slot {
    const char *folder, *device;
    bool device_generates;
};

/* Called for each slot; false ends the reading. */
typedef bool config_slot(void *context, const struct slot *slot);

/* False if a slot was refused, or a line is none. */
bool config_read(config_slot *slot, void *context);

#endif
