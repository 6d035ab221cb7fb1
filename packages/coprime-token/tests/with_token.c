/* Run a program on a new token: `with_token MODULE DEVICE PROGRAM TEST...` makes one with the PIN
   123456 in a temporary folder, runs `PROGRAM MODULE TEST...` and ends with its status, and without
   the folder. */
#define _GNU_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pkcs11.h>

static CK_UTF8CHAR officer_pin[] = "12345678", user_pin[] = "123456";

/* Whether a call succeeded; says so if not. */
static int succeeded(CK_RV rv, const char *call)
{
    if (rv != CKR_OK) {
        fprintf(stderr, "with_token: %s gives %#lx\n", call, rv);
    }
    return rv == CKR_OK;
}

#define OK(call) succeeded(call, #call)

/* Give the token of the first slot both PINs; 0 if that fails. */
static int make_token(CK_FUNCTION_LIST *p11)
{
    CK_UTF8CHAR label[32];
    CK_SESSION_HANDLE session;
    CK_SLOT_ID slot;
    CK_ULONG count = 1;

    memset(label, ' ', sizeof label);
    memcpy(label, "t1", 2);
    return OK(p11->C_Initialize(NULL)) && OK(p11->C_GetSlotList(CK_TRUE, &slot, &count)) &&
           OK(p11->C_InitToken(slot, officer_pin, sizeof officer_pin - 1, label)) &&
           OK(p11->C_OpenSession(slot, CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &session)) &&
           OK(p11->C_Login(session, CKU_SO, officer_pin, sizeof officer_pin - 1)) &&
           OK(p11->C_InitPIN(session, user_pin, sizeof user_pin - 1)) && OK(p11->C_Finalize(NULL));
}

/* The functions of a module; null if it cannot be loaded. */
static CK_FUNCTION_LIST *load(const char *module)
{
    void *const library = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    void *const found = library ? dlsym(library, "C_GetFunctionList") : NULL;
    CK_FUNCTION_LIST *p11 = NULL;
    CK_C_GetFunctionList get;

    if (found == NULL) {
        fprintf(stderr, "with_token: %s\n", dlerror());
        return NULL;
    }
    memcpy(&get, &found, sizeof get);
    return OK(get(&p11)) ? p11 : NULL;
}

/* Run PROGRAM MODULE TEST...; its status, or 1 if it was killed or cannot start. */
static int run(char *module, char **program)
{
    char *const path = program[0];
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        program[-1] = path;
        program[0] = module;
        execv(path, program - 1);
        _exit(1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ?
               WEXITSTATUS(status) :
               1;
}

/* Remove a folder and the files in it. */
static int clear(const char *folder)
{
    DIR *const files = opendir(folder);

    for (struct dirent *file; files && (file = readdir(files));) {
        if (strcmp(file->d_name, ".") != 0 && strcmp(file->d_name, "..") != 0) {
            (void)unlinkat(dirfd(files), file->d_name, 0);
        }
    }
    if (files) {
        (void)closedir(files);
    }
    return rmdir(folder) == 0;
}

int main(int count, char **arguments)
{
    const char *const temporary = getenv("TMPDIR");
    char folder[PATH_MAX];
    CK_FUNCTION_LIST *p11;
    int status = 1;

    if (count < 5) {
        fprintf(stderr, "usage: with_token MODULE DEVICE PROGRAM TEST...\n");
        return 2;
    }
    (void)snprintf(folder, sizeof folder, "%s/coprime-XXXXXX", temporary ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    (void)setenv("COPRIME_TOKEN_DIR", folder, 1);
    (void)setenv("COPRIME_TOKEN_DEVICE", arguments[2], 1);
    (void)setenv("COPRIME_TOKEN_ALLOW", "weak-rsa", 1); /* check.c has short keys */
    (void)unsetenv("COPRIME_TOKEN_KEYGEN");
    p11 = load(arguments[1]);
    if (p11 && make_token(p11)) {
        status = run(arguments[1], arguments + 3);
    }
    return clear(folder) ? status : 1;
}
