/* Which slots there are.

   COPRIME_TOKEN_DIR, a folder, makes one slot with the device that COPRIME_TOKEN_DEVICE names ("sim"
   without it). Otherwise each line of the file that COPRIME_TOKEN_CONF names, or else of
   /etc/coprime/token.conf, is a slot:

       slot FOLDER DEVICE KEYGEN

   Empty lines, and those that start with #, mean nothing. Without such a file there is one slot of a
   simulated engine, with the folder coprime/token in the user's folder for data. KEYGEN, or the
   variable COPRIME_TOKEN_KEYGEN, is where keys are generated: "device" or "software"; without it, on
   the device if that is hardware, and in software if it is simulated.

       allow WORD...

   allows what is refused otherwise, in all slots, and so does the variable COPRIME_TOKEN_ALLOW, with
   commas between the words: "weak-rsa", "reveal-wrapped" (enum allowance).

   Programs with rights that their user does not have ignore the environment. */
#ifndef COPRIME_TOKEN_CONFIG_H
#define COPRIME_TOKEN_CONFIG_H

#include <stdbool.h>

#include "policy.h"

/* Where a slot's keys are generated: BY_KIND, where its kind of device has it by default; DRAWN, on the
   device, which also draws the seeds of ML-KEM and ML-DSA. */
enum keygen { BY_KIND, ON_DEVICE, IN_SOFTWARE, DRAWN };

/* A slot: where its token is, its engines (device.h), and where its keys are generated. */
struct slot {
    const char *folder, *device;
    enum keygen keygen;
};

/* Called for each slot; false ends the reading. */
typedef bool config_slot(void *context, const struct slot *slot);

/* Read the slots, and what is allowed: members of `enum allowance`. False if a slot was refused, or a
   line or a word is none. */
bool config_read(config_slot *slot, void *context, unsigned *allowed);

#endif
