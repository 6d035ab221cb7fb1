/* Which slots there are.

   COPRIME_TOKEN_DIR, a folder, makes one slot with the device that COPRIME_TOKEN_DEVICE names ("sim"
   without it). Otherwise each line of the file that COPRIME_TOKEN_CONF names, or else of
   /etc/coprime/token.conf, is a slot:

       slot FOLDER DEVICE

   Empty lines, and those that start with #, mean nothing. Without such a file there is one slot of a
   simulated engine, with the folder coprime/token in the user's folder for data. Programs with
   rights that their user does not have ignore the environment. */
#ifndef COPRIME_TOKEN_CONFIG_H
#define COPRIME_TOKEN_CONFIG_H

#include <stdbool.h>

/* Called for each slot; false ends the reading. */
typedef bool config_slot(void *context, const char *folder, const char *device);

/* False if a slot was refused, or a line is none. */
bool config_read(config_slot *slot, void *context);

#endif
