#define _GNU_SOURCE

#include "config.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const file_name = "/etc/coprime/token.conf";

/* Add a slot; null or an empty string for what is not given. */
static bool add(config_slot *add_slot, void *context, const char *folder, const char *device,
                const char *keygen)
{
    struct slot slot = {folder, device && device[0] ? device : "sim", true};

    if (keygen && strcmp(keygen, "software") == 0) {
        slot.device_generates = false;
    } else if (keygen && keygen[0] && strcmp(keygen, "device") != 0) {
        return false;
    }
    return add_slot(context, &slot);
}

/* A line of the file. */
static bool read_line(char *line, config_slot *slot, void *context)
{
    static const char *const blanks = " \t\r\n";
    char *rest = NULL;
    const char *const word = strtok_r(line, blanks, &rest), *folder, *device, *keygen;

    if (word == NULL || word[0] == '#') {
        return true;
    }
    folder = strtok_r(NULL, blanks, &rest);
    device = strtok_r(NULL, blanks, &rest);
    keygen = strtok_r(NULL, blanks, &rest);
    if (strcmp(word, "slot") != 0 || folder == NULL || strtok_r(NULL, blanks, &rest)) {
        return false;
    }
    return add(slot, context, folder, device, keygen);
}

static bool read_file(FILE *file, config_slot *slot, void *context)
{
    char *line = NULL;
    size_t room = 0;
    bool read = true;

    while (read && getline(&line, &room, file) >= 0) {
        read = read_line(line, slot, context);
    }
    free(line);
    return read;
}

/* The user's folder for data. */
static bool default_slot(config_slot *slot, void *context, const char *keygen)
{
    const char *const data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
    char path[PATH_MAX], buffer[4096];
    struct passwd user, *found = NULL;
    int length;

    if (home == NULL && getpwuid_r(getuid(), &user, buffer, sizeof buffer, &found) == 0 && found) {
        home = user.pw_dir;
    }
    if (data && data[0] == '/') {
        length = snprintf(path, sizeof path, "%s/coprime/token", data);
    } else {
        length = snprintf(path, sizeof path, "%s/.local/share/coprime/token", home ? home : "");
    }
    return length > 0 && length < PATH_MAX && add(slot, context, path, NULL, keygen);
}

bool config_read(config_slot *slot, void *context)
{
    const char *const folder = secure_getenv("COPRIME_TOKEN_DIR");
    const char *const device = secure_getenv("COPRIME_TOKEN_DEVICE");
    const char *const keygen = secure_getenv("COPRIME_TOKEN_KEYGEN");
    const char *const path = secure_getenv("COPRIME_TOKEN_CONF");
    FILE *file;
    bool read;

    if (folder && folder[0]) {
        return add(slot, context, folder, device, keygen);
    }
    file = fopen(path ? path : file_name, "re");
    if (file == NULL) {
        return path == NULL && default_slot(slot, context, keygen);
    }
    read = read_file(file, slot, context);
    (void)fclose(file);
    return read;
}
