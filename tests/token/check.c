/* What other modules were bad at, with our module: `check MODULE TEST [NUMBER...]`, where the token
   of slot 0 has the PIN 123456. Ends with status 0, or says the line that is wrong. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pkcs11.h>

static CK_FUNCTION_LIST *p11;
static void *library;
static CK_UTF8CHAR pin[] = "123456";

#define CHECK(condition) check(condition, #condition, __LINE__)
#define OK(call) check_rv(call, CKR_OK, #call, __LINE__)
#define GIVES(call, rv) check_rv(call, rv, #call, __LINE__)

static void check(bool right, const char *what, int line)
{
    if (!right) {
        fprintf(stderr, "line %d: not %s\n", line, what);
        exit(1);
    }
}

static void check_rv(CK_RV found, CK_RV expected, const char *what, int line)
{
    if (found != expected) {
        fprintf(stderr, "line %d: %s gives %#lx, not %#lx\n", line, what, found, expected);
        exit(1);
    }
}

static void load(const char *module)
{
    CK_C_GetFunctionList get;
    void *found;

    library = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    found = dlsym(library, "C_GetFunctionList");
    memcpy(&get, &found, sizeof get);
    OK(get(&p11));
}

/* A session of the first slot, which is 0 here, and a random number in SoftHSM. */
static CK_SESSION_HANDLE open_session(void)
{
    CK_SESSION_HANDLE session;
    CK_SLOT_ID slots[16];
    CK_ULONG count = 16;

    OK(p11->C_GetSlotList(CK_TRUE, slots, &count));
    CHECK(count > 0);
    OK(p11->C_OpenSession(slots[0], CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &session));
    return session;
}

static CK_SESSION_HANDLE start(void)
{
    CK_SESSION_HANDLE session;

    OK(p11->C_Initialize(NULL));
    session = open_session();
    OK(p11->C_Login(session, CKU_USER, pin, sizeof pin - 1));
    return session;
}

static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;

/* A key pair of the session, or of the token. */
static void generate(CK_SESSION_HANDLE session, CK_ULONG bits, bool of_token,
                     CK_OBJECT_HANDLE *public, CK_OBJECT_HANDLE *private)
{
    CK_MECHANISM mechanism = {CKM_RSA_PKCS_KEY_PAIR_GEN, NULL, 0};
    CK_ATTRIBUTE public_template[] = {
        {CKA_MODULUS_BITS, &bits, sizeof bits},
        {CKA_TOKEN, of_token ? &yes : &no, 1},
    };
    CK_ATTRIBUTE private_template[] = {{CKA_TOKEN, of_token ? &yes : &no, 1}};

    OK(p11->C_GenerateKeyPair(session, &mechanism, public_template, 2, private_template, 1, public,
                              private));
}

/* Kinds of keys: how a pair is generated, with which attribute of the public key. */
struct kind {
    const char *name;
    CK_MECHANISM_TYPE mechanism;
    CK_ATTRIBUTE_TYPE type;
    const void *value;
    CK_ULONG size;
};

static const CK_ULONG rsa_512 = 512, first_set = 1; /* ML-KEM-512, ML-DSA-44 */
static const CK_BYTE p256[] = {0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07};
static const CK_BYTE ed25519[] = {0x06, 0x03, 0x2b, 0x65, 0x70};

enum { CKK_OF_ML_KEM = 0x49, CKK_OF_ML_DSA = 0x4a, PARAMETER_SET = 0x61d }; /* of version 3.2 */
enum { ML_KEM_PAIR = 0xf, OF_ML_KEM = 0x17, ML_DSA_PAIR = 0x1c, OF_ML_DSA = 0x1d };

static const struct kind kinds[] = {
    {"p256", CKM_EC_KEY_PAIR_GEN, CKA_EC_PARAMS, p256, sizeof p256},
    {"rsa", CKM_RSA_PKCS_KEY_PAIR_GEN, CKA_MODULUS_BITS, &rsa_512, sizeof rsa_512},
    {"ed25519", CKM_EC_EDWARDS_KEY_PAIR_GEN, CKA_EC_PARAMS, ed25519, sizeof ed25519},
    {"ml-kem", ML_KEM_PAIR, PARAMETER_SET, &first_set, sizeof first_set},
    {"ml-dsa", ML_DSA_PAIR, PARAMETER_SET, &first_set, sizeof first_set},
};

static const struct kind *kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        if (strcmp(kinds[i].name, name) == 0) {
            return &kinds[i];
        }
    }
    CHECK(!"a kind of keys");
    return NULL;
}

/* A pair of a session. */
static void generate_kind(CK_SESSION_HANDLE session, const struct kind *kind,
                          CK_OBJECT_HANDLE *public, CK_OBJECT_HANDLE *private)
{
    CK_MECHANISM mechanism = {kind->mechanism, NULL, 0};
    CK_ATTRIBUTE template = {kind->type, (void *)(size_t)kind->value, kind->size};

    OK(p11->C_GenerateKeyPair(session, &mechanism, &template, 1, NULL, 0, public, private));
}

/* How a key is used. */
static CK_MECHANISM_TYPE mechanism_of(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key)
{
    CK_KEY_TYPE type = CKK_RSA;
    CK_ATTRIBUTE wanted = {CKA_KEY_TYPE, &type, sizeof type};

    (void)p11->C_GetAttributeValue(session, key, &wanted, 1); /* what fails here fails again */
    switch (type) {
    case CKK_EC:
        return CKM_ECDSA_SHA256;
    case CKK_EC_EDWARDS:
        return CKM_EDDSA;
    case CKK_OF_ML_KEM:
        return OF_ML_KEM;
    case CKK_OF_ML_DSA:
        return OF_ML_DSA;
    default:
        return CKM_SHA256_RSA_PKCS;
    }
}

enum { ROOM = 4627, SECRET = 32 };

static CK_RV sign(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG number,
                  CK_BYTE *signature, CK_ULONG *size)
{
    CK_MECHANISM mechanism = {mechanism_of(session, key), NULL, 0};
    CK_RV rv = p11->C_SignInit(session, &mechanism, key);

    *size = ROOM;
    if (rv == CKR_OK) {
        rv = p11->C_Sign(session, (CK_BYTE *)&number, sizeof number, signature, size);
    }
    return rv;
}

static CK_RV verify(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG number,
                    CK_BYTE *signature, CK_ULONG size)
{
    CK_MECHANISM mechanism = {mechanism_of(session, key), NULL, 0};
    CK_RV rv = p11->C_VerifyInit(session, &mechanism, key);

    return rv == CKR_OK ? p11->C_Verify(session, (CK_BYTE *)&number, sizeof number, signature, size) :
                          rv;
}

/* Of version 3.2. */
typedef CK_RV encapsulate_key(CK_SESSION_HANDLE, CK_MECHANISM *, CK_OBJECT_HANDLE, CK_ATTRIBUTE *,
                              CK_ULONG, CK_BYTE *, CK_ULONG *, CK_OBJECT_HANDLE *);
typedef CK_RV decapsulate_key(CK_SESSION_HANDLE, CK_MECHANISM *, CK_OBJECT_HANDLE, CK_ATTRIBUTE *,
                              CK_ULONG, CK_BYTE *, CK_ULONG, CK_OBJECT_HANDLE *);

static encapsulate_key *encapsulate;
static decapsulate_key *decapsulate;

static void load_lattices(void)
{
    void *const found[] = {dlsym(library, "C_EncapsulateKey"), dlsym(library, "C_DecapsulateKey")};

    memcpy(&encapsulate, &found[0], sizeof encapsulate);
    memcpy(&decapsulate, &found[1], sizeof decapsulate);
}

/* The value of a key of the session, which is then destroyed. */
static void take_secret(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_BYTE value[SECRET])
{
    CK_ATTRIBUTE wanted = {CKA_VALUE, value, SECRET};

    OK(p11->C_GetAttributeValue(session, key, &wanted, 1));
    CHECK(wanted.ulValueLen == SECRET);
    OK(p11->C_DestroyObject(session, key));
}

/* A secret that both sides have. After an error there is no key. */
static CK_RV exchange(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE public, CK_OBJECT_HANDLE private)
{
    CK_MECHANISM mechanism = {OF_ML_KEM, NULL, 0};
    CK_ATTRIBUTE shown[] = {{CKA_SENSITIVE, &no, 1}, {CKA_EXTRACTABLE, &yes, 1}};
    CK_OBJECT_HANDLE ours, theirs = CK_INVALID_HANDLE;
    CK_BYTE text[1568], values[2][SECRET];
    CK_ULONG size = sizeof text;
    CK_RV rv = encapsulate(session, &mechanism, public, shown, 2, text, &size, &ours);

    if (rv != CKR_OK) {
        return rv;
    }
    take_secret(session, ours, values[0]);
    rv = decapsulate(session, &mechanism, private, shown, 2, text, size, &theirs);
    if (rv != CKR_OK) {
        CHECK(theirs == CK_INVALID_HANDLE);
        return rv;
    }
    take_secret(session, theirs, values[1]);
    CHECK(memcmp(values[0], values[1], SECRET) == 0);
    text[0] ^= 1;
    rv = decapsulate(session, &mechanism, private, shown, 2, text, size, &theirs);
    if (rv != CKR_OK) {
        return rv;
    }
    take_secret(session, theirs, values[1]);
    CHECK(memcmp(values[0], values[1], SECRET) != 0);
    return CKR_OK;
}

/* Use a pair: a signature of a number that is verified, and not valid for another one, or a secret
   that both sides have. After an error there is no signature. */
static CK_RV use(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE public, CK_OBJECT_HANDLE private,
                 CK_ULONG number)
{
    static const CK_BYTE zeros[ROOM];
    CK_BYTE signature[ROOM] = {0};
    CK_ULONG size;
    CK_RV rv;

    if (mechanism_of(session, public) == OF_ML_KEM) {
        return exchange(session, public, private);
    }
    rv = sign(session, private, number, signature, &size);
    if (rv != CKR_OK) {
        CHECK(memcmp(signature, zeros, sizeof zeros) == 0);
        return rv;
    }
    OK(verify(session, public, number, signature, size));
    GIVES(verify(session, public, number + 1, signature, size), CKR_SIGNATURE_INVALID);
    return CKR_OK;
}

/* The life of the module, and the interfaces that callers ask for. */
static void test_life(void)
{
    CK_C_INITIALIZE_ARGS arguments = {.flags = CKF_OS_LOCKING_OK};
    CK_C_INITIALIZE_ARGS more = {.flags = 3};
    CK_C_GetInterface get;
    CK_INTERFACE *interface;
    CK_VERSION version = {3, 0};
    CK_SESSION_HANDLE session;
    CK_SLOT_ID slot;
    CK_ULONG count = 0;
    CK_INFO info;
    void *found = dlsym(library, "C_GetInterface");

    memcpy(&get, &found, sizeof get);
    OK(get(NULL, NULL, &interface, 0));
    OK(get((CK_UTF8CHAR *)"PKCS 11", &version, &interface, 0));
    CHECK(((CK_VERSION *)interface->pFunctionList)->major == 3);
    version = (CK_VERSION){2, 40};
    OK(get((CK_UTF8CHAR *)"PKCS 11", &version, &interface, 0));
    version = (CK_VERSION){3, 2};
    OK(get((CK_UTF8CHAR *)"PKCS 11", &version, &interface, 0));
    CHECK(((CK_VERSION *)interface->pFunctionList)->minor == 2);
    version = (CK_VERSION){3, 1};
    GIVES(get((CK_UTF8CHAR *)"PKCS 11", &version, &interface, 0), CKR_FUNCTION_FAILED);
    GIVES(get((CK_UTF8CHAR *)"Other", NULL, &interface, 0), CKR_FUNCTION_FAILED);

    GIVES(p11->C_GetInfo(&info), CKR_CRYPTOKI_NOT_INITIALIZED);
    GIVES(p11->C_Finalize(NULL), CKR_CRYPTOKI_NOT_INITIALIZED);
    OK(p11->C_Initialize(NULL));
    GIVES(p11->C_Initialize(NULL), CKR_CRYPTOKI_ALREADY_INITIALIZED);
    GIVES(p11->C_Finalize(&info), CKR_ARGUMENTS_BAD);
    OK(p11->C_Finalize(NULL));
    OK(p11->C_Initialize(&arguments));
    OK(p11->C_GetSlotList(CK_TRUE, NULL, &count));
    CHECK(count == 1);
    OK(p11->C_GetSlotList(CK_TRUE, &slot, &count));
    GIVES(p11->C_OpenSession(9, CKF_SERIAL_SESSION, NULL, NULL, &session), CKR_SLOT_ID_INVALID);
    GIVES(p11->C_OpenSession(0, 0, NULL, NULL, &session), CKR_SESSION_PARALLEL_NOT_SUPPORTED);
    session = open_session();
    GIVES(p11->C_Login(session, CKU_USER, NULL, 0), CKR_ARGUMENTS_BAD);
    GIVES(p11->C_WaitForSlotEvent(CKF_DONT_BLOCK, &slot, NULL), CKR_NO_EVENT);
    OK(p11->C_Finalize(NULL));
    OK(p11->C_Initialize(&more));
    GIVES(p11->C_CloseSession(session), CKR_SESSION_HANDLE_INVALID);
    arguments.CreateMutex = (CK_CREATEMUTEX)(void (*)(void))test_life;
    GIVES(p11->C_Initialize(&arguments), CKR_ARGUMENTS_BAD);
    OK(p11->C_Finalize(NULL));
}

/* Make a child: by fork(); by a system call of which the C library knows nothing; or as the first
   process of a namespace of its own, which has the number 1. */
static pid_t make_child(const char *how)
{
    if (strcmp(how, "call") == 0) {
        return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    }
    if (strcmp(how, "namespace") == 0) {
        CHECK(getpid() == 1 && unshare(CLONE_NEWPID) == 0);
    }
    return fork();
}

/* A child is without the parent's state, and can make its own. */
static void test_fork(const char *how)
{
    CK_SESSION_HANDLE session = start(), own;
    CK_OBJECT_HANDLE public, private, key;
    CK_BYTE signature[ROOM];
    CK_ULONG size, length = 16;
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE type = CKK_AES;
    CK_ATTRIBUTE template[] = {
        {CKA_CLASS, &class, sizeof class}, {CKA_KEY_TYPE, &type, sizeof type},
        {CKA_TOKEN, &yes, 1},              {CKA_VALUE, "0123456789abcdef", length},
    };
    int status;
    pid_t child;

    generate(session, 512, false, &public, &private);
    OK(sign(session, private, 1, signature, &size));
    child = make_child(how);
    if (child == 0) {
        GIVES(p11->C_CreateObject(session, template, 4, &key), CKR_CRYPTOKI_NOT_INITIALIZED);
        GIVES(sign(session, private, 2, signature, &size), CKR_CRYPTOKI_NOT_INITIALIZED);
        GIVES(p11->C_Finalize(NULL), CKR_CRYPTOKI_NOT_INITIALIZED);
        own = start();
        GIVES(p11->C_Initialize(NULL), CKR_CRYPTOKI_ALREADY_INITIALIZED);
        OK(p11->C_CreateObject(own, template, 4, &key));
        generate(own, 512, false, &public, &private);
        OK(sign(own, private, 3, signature, &size));
        OK(p11->C_Finalize(NULL));
        _exit(0); /* what the parent had is lost here, which a sanitizer would report */
    }
    OK(sign(session, private, 4, signature, &size));
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    OK(verify(session, public, 4, signature, size));
    OK(p11->C_Logout(session));
    OK(p11->C_Login(session, CKU_USER, pin, sizeof pin - 1)); /* the child has written what is right */
    OK(p11->C_Finalize(NULL));
}

/* A child that initializes the module anew, after its parent has ended it, has random numbers of its
   own. */
static void test_fork_random(const char *how)
{
    CK_BYTE number[2][32];
    int ends[2], status;
    pid_t child;

    (void)start();
    OK(p11->C_GenerateRandom(open_session(), number[0], sizeof *number));
    OK(p11->C_Finalize(NULL));
    CHECK(pipe(ends) == 0);
    child = make_child(how);
    OK(p11->C_Initialize(NULL));
    OK(p11->C_GenerateRandom(open_session(), number[0], sizeof *number));
    OK(p11->C_Finalize(NULL));
    if (child == 0) {
        CHECK(write(ends[1], number[0], sizeof *number) == sizeof *number);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(read(ends[0], number[1], sizeof *number) == sizeof *number);
    CHECK(memcmp(number[0], number[1], sizeof *number) != 0);
}

/* Wait for a child, which has so many seconds; those of a hanging one end it. */
static void check_child(pid_t child)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static atomic_bool stopping;
static atomic_ulong written;

static void *sign_until_stopped(void *argument)
{
    const CK_OBJECT_HANDLE key = *(const CK_OBJECT_HANDLE *)argument;
    CK_SESSION_HANDLE session = open_session();
    CK_BYTE signature[ROOM];
    CK_ULONG size;

    while (!stopping) {
        OK(sign(session, key, 1, signature, &size));
    }
    return NULL;
}

/* Children that are forked while threads sign initialize the module, and hang nowhere. */
static void test_fork_signing(unsigned long count)
{
    CK_SESSION_HANDLE session = start();
    CK_OBJECT_HANDLE public, private;
    pthread_t threads[4];

    generate(session, 512, false, &public, &private);
    for (int i = 0; i < 4; ++i) {
        CHECK(pthread_create(&threads[i], NULL, sign_until_stopped, &private) == 0);
    }
    for (unsigned long i = 0; i < count; ++i) {
        pid_t child;

        usleep(3000);
        child = fork();
        if (child == 0) {
            alarm(60);
            session = start();
            OK(p11->C_Finalize(NULL));
            _exit(0);
        }
        check_child(child);
    }
    stopping = true;
    for (int i = 0; i < 4; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    OK(p11->C_Finalize(NULL));
}

static void *write_until_stopped(void *argument)
{
    CK_SESSION_HANDLE session = open_session();
    CK_OBJECT_CLASS class = CKO_DATA;
    CK_ATTRIBUTE template[] = {{CKA_CLASS, &class, sizeof class}, {CKA_TOKEN, &yes, 1}};
    CK_OBJECT_HANDLE made;

    (void)argument;
    while (!stopping) {
        OK(p11->C_CreateObject(session, template, 2, &made));
        OK(p11->C_DestroyObject(session, made));
        atomic_fetch_add(&written, 1);
    }
    return NULL;
}

/* Children that are forked while the token is written do not keep it locked. */
static void test_fork_writing(unsigned long count)
{
    pid_t *const children = calloc(count, sizeof *children);
    pthread_t thread;
    unsigned long before;

    (void)start();
    CHECK(pthread_create(&thread, NULL, write_until_stopped, NULL) == 0);
    for (unsigned long i = 0; i < count; ++i) {
        usleep(1000);
        children[i] = fork();
        if (children[i] == 0) {
            (void)pause();
            _exit(0);
        }
    }
    before = written;
    for (int i = 0; i < 1200 && written < before + 10; ++i) { /* a lock is given up after ten seconds */
        usleep(100000);
    }
    CHECK(written >= before + 10);
    stopping = true;
    (void)pthread_join(thread, NULL);
    for (unsigned long i = 0; i < count; ++i) {
        (void)kill(children[i], SIGKILL);
        (void)waitpid(children[i], NULL, 0);
    }
    free(children);
    OK(p11->C_Finalize(NULL));
}

/* Whichever of two threads initializes the module, for both it is ready when the call ends. */
static pthread_barrier_t together;

static void *initialize(void *argument)
{
    CK_ULONG count = 0;
    CK_RV rv;

    (void)argument;
    (void)pthread_barrier_wait(&together);
    rv = p11->C_Initialize(NULL);
    CHECK(rv == CKR_OK || rv == CKR_CRYPTOKI_ALREADY_INITIALIZED);
    OK(p11->C_GetSlotList(CK_TRUE, NULL, &count));
    CHECK(count == 1);
    (void)pthread_barrier_wait(&together);
    return NULL;
}

static void test_initialize_twice(unsigned long count)
{
    (void)pthread_barrier_init(&together, NULL, 2);
    for (unsigned long i = 0; i < count; ++i) {
        pthread_t threads[2];

        for (int k = 0; k < 2; ++k) {
            CHECK(pthread_create(&threads[k], NULL, initialize, NULL) == 0);
        }
        for (int k = 0; k < 2; ++k) {
            (void)pthread_join(threads[k], NULL);
        }
        OK(p11->C_Finalize(NULL));
    }
}

/* A login whose session is closed meanwhile leaves nobody logged in. */
static CK_SESSION_HANDLE login_session;

static void *log_in(void *argument)
{
    const CK_RV rv = p11->C_Login(login_session, CKU_USER, pin, sizeof pin - 1);

    (void)argument;
    CHECK(rv == CKR_SESSION_CLOSED || rv == CKR_SESSION_HANDLE_INVALID);
    return NULL;
}

static void test_close_while_logging_in(void)
{
    CK_SESSION_INFO info;
    pthread_t thread;

    OK(p11->C_Initialize(NULL));
    login_session = open_session();
    CHECK(pthread_create(&thread, NULL, log_in, NULL) == 0);
    usleep(20000);
    OK(p11->C_CloseAllSessions(0));
    (void)pthread_join(thread, NULL);
    OK(p11->C_GetSessionInfo(open_session(), &info));
    CHECK(info.state == CKS_RW_PUBLIC_SESSION);
    OK(p11->C_Finalize(NULL));
}

/* Ten wrong PINs lock the PIN, for this process at least. */
static void test_lock_pin(void)
{
    CK_UTF8CHAR wrong[] = "000000";
    CK_SESSION_HANDLE session;

    OK(p11->C_Initialize(NULL));
    session = open_session();
    for (int i = 0; i < 10; ++i) {
        GIVES(p11->C_Login(session, CKU_USER, wrong, sizeof wrong - 1), CKR_PIN_INCORRECT);
    }
    GIVES(p11->C_Login(session, CKU_USER, pin, sizeof pin - 1), CKR_PIN_LOCKED);
    OK(p11->C_Finalize(NULL));
}

/* Threads: each has a session; the keys are common. */
enum { THREADS = 16, KEYS = 8 };

static CK_OBJECT_HANDLE publics[KEYS], privates[KEYS];
static atomic_ulong next, signed_numbers, failures;
static unsigned long limit;
static atomic_uchar *times;

static bool is_end(CK_RV rv)
{
    return rv == CKR_CRYPTOKI_NOT_INITIALIZED || rv == CKR_SESSION_HANDLE_INVALID ||
           rv == CKR_SESSION_CLOSED;
}

static void *use_in_turn(void *argument)
{
    CK_SESSION_HANDLE session = open_session();
    unsigned long number, random = (unsigned long)(size_t)argument;

    while ((number = atomic_fetch_add(&next, 1)) < limit) {
        unsigned long key;

        random = random * 6364136223846793005u + 1442695040888963407u;
        key = random >> 33 & (KEYS - 1);
        OK(use(session, publics[key], privates[key], number));
        atomic_fetch_add(&times[number], 1);
        atomic_fetch_add(&signed_numbers, 1);
    }
    OK(p11->C_CloseSession(session));
    return NULL;
}

static void run_threads(void *(*body)(void *), pthread_t *threads)
{
    for (size_t i = 0; i < THREADS; ++i) {
        CHECK(pthread_create(&threads[i], NULL, body, (void *)(i + 1)) == 0);
    }
}

/* With keys of one kind; of the first three in turn, `mixed`; or of each, `all`. */
static void test_threads(unsigned long count, const char *name)
{
    const int mixed = strcmp(name, "all") == 0 ? 5 : strcmp(name, "mixed") == 0 ? 3 : 0;
    CK_SESSION_HANDLE session = start();
    pthread_t threads[THREADS];

    limit = count;
    times = calloc(count, sizeof *times);
    for (int i = 0; i < KEYS; ++i) {
        const struct kind *const kind = mixed ? &kinds[i % mixed] : kind_named(name);

        generate_kind(session, kind, &publics[i], &privates[i]);
    }
    run_threads(use_in_turn, threads);
    for (int i = 0; i < THREADS; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK(signed_numbers == count);
    for (unsigned long i = 0; i < count; ++i) {
        CHECK(times[i] == 1);
    }
    free((void *)times);
    OK(p11->C_Finalize(NULL));
}

/* ML-KEM and ML-DSA, of version 3.2: each thread has keys of its own. */

static void generate_set(CK_SESSION_HANDLE session, CK_MECHANISM_TYPE type, CK_ULONG set,
                         CK_OBJECT_HANDLE *public, CK_OBJECT_HANDLE *private)
{
    CK_MECHANISM mechanism = {type, NULL, 0};
    CK_ATTRIBUTE template = {0x61d /* CKA_PARAMETER_SET */, &set, sizeof set};

    OK(p11->C_GenerateKeyPair(session, &mechanism, &template, 1, NULL, 0, public, private));
}

static void share_secret(CK_SESSION_HANDLE session, CK_ULONG set)
{
    CK_MECHANISM mechanism = {0x17 /* CKM_ML_KEM */, NULL, 0};
    CK_ATTRIBUTE shown[] = {{CKA_SENSITIVE, &no, 1}, {CKA_EXTRACTABLE, &yes, 1}};
    CK_OBJECT_HANDLE public, private, keys[2];
    CK_BYTE text[1568], values[2][32];
    CK_ULONG size = sizeof text;

    generate_set(session, 0xf, set, &public, &private);
    OK(encapsulate(session, &mechanism, public, shown, 2, text, &size, &keys[0]));
    OK(decapsulate(session, &mechanism, private, shown, 2, text, size, &keys[1]));
    for (int i = 0; i < 2; ++i) {
        CK_ATTRIBUTE value = {CKA_VALUE, values[i], sizeof values[i]};

        OK(p11->C_GetAttributeValue(session, keys[i], &value, 1));
    }
    CHECK(memcmp(values[0], values[1], sizeof values[0]) == 0);
    GIVES(decapsulate(session, &mechanism, private, shown, 2, text, size - 1, &keys[1]),
          CKR_WRAPPED_KEY_LEN_RANGE);
}

static void sign_parts(CK_SESSION_HANDLE session, CK_ULONG set)
{
    CK_MECHANISM mechanism = {0x1d /* CKM_ML_DSA */, NULL, 0};
    CK_OBJECT_HANDLE public, private;
    CK_BYTE signature[4627], text[1000] = {1};
    CK_ULONG size = sizeof signature;

    generate_set(session, 0x1c, set, &public, &private);
    OK(p11->C_SignInit(session, &mechanism, private));
    OK(p11->C_SignUpdate(session, text, 1));
    OK(p11->C_SignUpdate(session, text + 1, sizeof text - 1));
    OK(p11->C_SignFinal(session, signature, &size));
    OK(p11->C_VerifyInit(session, &mechanism, public));
    OK(p11->C_Verify(session, text, sizeof text, signature, size));
    signature[0] ^= 1;
    OK(p11->C_VerifyInit(session, &mechanism, public));
    GIVES(p11->C_Verify(session, text, sizeof text, signature, size), CKR_SIGNATURE_INVALID);
}

static void *use_lattices(void *argument)
{
    const CK_SESSION_HANDLE session = open_session();
    const CK_ULONG first = (CK_ULONG)(size_t)argument;

    for (CK_ULONG i = first; i < first + limit; ++i) {
        share_secret(session, i % 3 + 1);
        sign_parts(session, i % 3 + 1);
    }
    OK(p11->C_CloseSession(session));
    return NULL;
}

static void test_lattices(unsigned long count)
{
    pthread_t threads[THREADS];

    (void)start();
    limit = count;
    run_threads(use_lattices, threads);
    for (int i = 0; i < THREADS; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    OK(p11->C_Finalize(NULL));
}

/* Signing while somebody ends the module, logs out, or closes sessions. */
static void *sign_until_the_end(void *argument)
{
    CK_BYTE signature[ROOM];
    CK_SESSION_HANDLE session;
    CK_ULONG size;
    CK_RV rv = p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, &session);

    while (rv == CKR_OK) {
        rv = sign(session, privates[(size_t)argument % KEYS], 1, signature, &size);
    }
    if (!is_end(rv) && rv != CKR_KEY_HANDLE_INVALID && rv != CKR_OPERATION_NOT_INITIALIZED &&
        rv != CKR_USER_NOT_LOGGED_IN) {
        fprintf(stderr, "a thread ended with %#lx\n", rv);
        atomic_fetch_add(&failures, 1);
    }
    return NULL;
}

static void test_end(const char *how)
{
    CK_SESSION_HANDLE session = start();
    pthread_t threads[THREADS];

    for (int i = 0; i < KEYS; ++i) {
        generate(session, 512, false, &publics[i], &privates[i]);
    }
    run_threads(sign_until_the_end, threads);
    usleep(300000);
    if (strcmp(how, "finalize") == 0) {
        OK(p11->C_Finalize(NULL));
        CHECK(dlclose(library) == 0);
    } else if (strcmp(how, "logout") == 0) {
        OK(p11->C_Logout(session));
    } else {
        OK(p11->C_CloseAllSessions(0));
    }
    for (int i = 0; i < THREADS; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK(failures == 0);
    if (strcmp(how, "finalize") != 0) {
        OK(p11->C_Finalize(NULL));
    }
}

/* One thread waits for a slot's event while another ends the module. */
static void *wait_for_event(void *argument)
{
    CK_SLOT_ID slot;

    (void)argument;
    GIVES(p11->C_WaitForSlotEvent(0, &slot, NULL), CKR_CRYPTOKI_NOT_INITIALIZED);
    return NULL;
}

static void test_wait(void)
{
    pthread_t thread;

    OK(p11->C_Initialize(NULL));
    CHECK(pthread_create(&thread, NULL, wait_for_event, NULL) == 0);
    usleep(100000);
    OK(p11->C_Finalize(NULL));
    (void)pthread_join(thread, NULL);
}

/* With a device that errs: a result is right, or there is none. Prints how many of each. */
static void test_faults(unsigned long count, const char *name)
{
    CK_SESSION_HANDLE session = start();
    CK_OBJECT_HANDLE public, private;
    unsigned long right = 0, wrong = 0;

    generate_kind(session, kind_named(name), &public, &private);
    for (unsigned long i = 0; i < count; ++i) {
        const CK_RV rv = use(session, public, private, i);

        if (rv == CKR_OK) {
            ++right;
        } else {
            GIVES(rv, CKR_DEVICE_ERROR);
            ++wrong;
        }
    }
    printf("%lu %lu\n", right, wrong);
    OK(p11->C_Finalize(NULL));
}

/* A function of the libcrypto that the module has, too. */
static void find_in_libcrypto(const char *name, void *function)
{
    void *const found = dlsym(dlopen("libcrypto.so.3", RTLD_NOW), name);

    CHECK(found != NULL);
    memcpy(function, &found, sizeof found);
}

/* What the module does leaves libcrypto's queue of errors as the application has it. */
static void test_errors(void)
{
    static CK_BYTE off[65] = {4, 1};
    static CK_UTF8CHAR wrong[] = "wrong PIN";
    CK_OBJECT_CLASS class = CKO_PUBLIC_KEY;
    CK_KEY_TYPE type = CKK_EC;
    CK_ATTRIBUTE template[] = {{CKA_CLASS, &class, sizeof class},
                               {CKA_KEY_TYPE, &type, sizeof type},
                               {CKA_EC_PARAMS, (void *)(size_t)p256, sizeof p256},
                               {CKA_EC_POINT, off, sizeof off}};
    unsigned long (*first)(void), (*last)(void), (*take)(void);
    void (*set)(int, int, const char *, ...), (*add)(void);
    CK_OBJECT_HANDLE made;

    find_in_libcrypto("ERR_new", &add);
    find_in_libcrypto("ERR_set_error", &set);
    find_in_libcrypto("ERR_peek_error", &first);
    find_in_libcrypto("ERR_peek_last_error", &last);
    find_in_libcrypto("ERR_get_error", &take);
    for (unsigned long own = 0; own < 3; ++own) {
        CK_SESSION_HANDLE session;
        unsigned long before;

        for (unsigned long i = 0; i < own; ++i) {
            add();
            set(1, 100 + (int)i, NULL);
        }
        before = last();
        session = start();
        GIVES(p11->C_CreateObject(session, template, 4, &made), CKR_ATTRIBUTE_VALUE_INVALID);
        CHECK(last() == before);
        OK(p11->C_Logout(session));
        GIVES(p11->C_Login(session, CKU_USER, wrong, sizeof wrong - 1), CKR_PIN_INCORRECT);
        CHECK(last() == before);
        OK(p11->C_Finalize(NULL));
        for (unsigned long i = 0; i < own; ++i) {
            CHECK((take() & 0xff) == 100 + i);
        }
        CHECK(first() == 0);
    }
}

/* libcrypto's memory, of which an allocation fails, and all after it if that lasts. */
static unsigned long left; /* allocations until then; 0: none fails */
static bool lasting, has_failed;

static bool fails_now(void)
{
    if (left == 1 || (lasting && has_failed)) {
        left = 0;
        return has_failed = true;
    }
    left -= left > 0;
    return false;
}

static void *allocate(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return fails_now() ? NULL : malloc(size);
}

static void *reallocate(void *memory, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return fails_now() ? NULL : realloc(memory, size);
}

static void release(void *memory, const char *file, int line)
{
    (void)file;
    (void)line;
    free(memory);
}

static void take_over_memory(void)
{
    int (*set)(void *(*)(size_t, const char *, int), void *(*)(void *, size_t, const char *, int),
               void (*)(void *, const char *, int));

    find_in_libcrypto("CRYPTO_set_mem_functions", &set);
    CHECK(set(allocate, reallocate, release) == 1);
}

/* C_Sign and C_Verify of right signatures, while libcrypto lacks memory from the first allocation on,
   then from the second, and so on until none fails any more: a lack of memory is neither a wrong
   signature nor a fault of the engine. Prints how many allocations there are. */
static void test_memory(const char *what, const char *kind)
{
    const bool signs = strcmp(what, "sign") == 0;
    CK_BYTE digest[32] = {1}, signature[ROOM];
    CK_SESSION_HANDLE session;
    CK_OBJECT_HANDLE public, private;
    CK_MECHANISM mechanism = {strcmp(kind, "p256") == 0 ? CKM_ECDSA : CKM_EDDSA, NULL, 0};
    CK_ULONG size = sizeof signature;
    unsigned long tried = 0, lacked = 0;

    take_over_memory();
    session = start();
    generate_kind(session, kind_named(kind), &public, &private);
    OK(p11->C_SignInit(session, &mechanism, private));
    OK(p11->C_Sign(session, digest, sizeof digest, signature, &size));
    for (int i = 0; i < 2; ++i) {
        do {
            CK_RV rv;

            OK(signs ? p11->C_SignInit(session, &mechanism, private) :
                       p11->C_VerifyInit(session, &mechanism, public));
            has_failed = false;
            lasting = i == 1;
            left = ++tried;
            rv = signs ? p11->C_Sign(session, digest, sizeof digest, signature, &size) :
                         p11->C_Verify(session, digest, sizeof digest, signature, size);
            left = 0;
            lasting = false;
            lacked += rv == CKR_HOST_MEMORY;
            if (rv != CKR_HOST_MEMORY || !has_failed) {
                OK(rv);
            }
        } while (has_failed);
        printf("%lu of %lu allocations are needed\n", lacked, tried - 1);
        CHECK(lacked > 0);
        tried = lacked = 0;
    }
    OK(p11->C_Finalize(NULL));
}

/* Generate key pairs in the token until killed; each is said when it is there. */
static void test_generate(void)
{
    CK_SESSION_HANDLE session = start();
    CK_OBJECT_HANDLE public, private;

    for (;;) {
        generate(session, 512, true, &public, &private);
        printf("made\n");
        fflush(stdout);
    }
}

/* Use a key, fork, and log out. The memory of each process is searched, of the child by its number. */
static void test_core(void)
{
    CK_SESSION_HANDLE session = start();
    CK_OBJECT_HANDLE found;
    CK_OBJECT_CLASS class = CKO_PRIVATE_KEY;
    CK_ATTRIBUTE template[] = {{CKA_CLASS, &class, sizeof class}};
    CK_BYTE signature[ROOM];
    CK_ULONG size, count;
    pid_t child;

    OK(p11->C_FindObjectsInit(session, template, 1));
    OK(p11->C_FindObjects(session, &found, 1, &count));
    CHECK(count == 1);
    OK(p11->C_FindObjectsFinal(session));
    OK(sign(session, found, 1, signature, &size));
    printf("signed\n");
    fflush(stdout);
    (void)getchar();
    child = fork();
    if (child == 0) {
        OK(p11->C_Initialize(NULL));
        printf("%ld\n", (long)getpid());
        fflush(stdout);
        (void)pause(); /* until it is killed */
    }
    CHECK(waitpid(child, NULL, 0) == child);
    OK(p11->C_Logout(session));
    printf("logged out\n");
    fflush(stdout);
    (void)getchar();
}

/* Waiting: how long calls take while others sign, or generate keys. */

static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double processor_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The first signature with a key takes no more of the processor's time than another one, but for a
   quarter; the best of three, as other programs disturb that. */
static void test_first(void)
{
    CK_OBJECT_HANDLE public, private;
    CK_BYTE signature[ROOM];
    double least = 1e9;
    CK_ULONG size;

    for (int i = 0; i < 3; ++i) {
        CK_SESSION_HANDLE session = start();
        double begin, first, second;

        generate(session, 2048, false, &public, &private);
        begin = processor_seconds();
        OK(sign(session, private, 1, signature, &size));
        first = processor_seconds() - begin;
        OK(sign(session, private, 2, signature, &size));
        second = processor_seconds() - begin - first;
        printf("the first signature takes %.3f s, the second %.3f s\n", first, second);
        least = first / second < least ? first / second : least;
        OK(p11->C_Finalize(NULL));
    }
    CHECK(least < 1.25);
}

/* How long a signature of 32 bytes takes: in the processor's time, and by the clock. SoftHSM has no
   ECDSA that hashes. */
static void test_speed(unsigned long count, const char *kind)
{
    CK_SESSION_HANDLE session = start();
    CK_OBJECT_HANDLE public, private;
    CK_BYTE data[32] = {0}, signature[ROOM];
    CK_MECHANISM mechanism = {CKM_ECDSA, NULL, 0};
    double own = 0, all = 0;
    CK_ULONG size;

    if (strcmp(kind, "rsa") == 0) {
        generate(session, 2048, false, &public, &private);
    } else {
        generate_kind(session, kind_named(kind), &public, &private);
    }
    if (strcmp(kind, "p256") != 0) {
        mechanism.mechanism = mechanism_of(session, private);
    }
    for (unsigned long i = 0; i <= count; ++i) {
        if (i == 1) { /* the first one loads the key */
            own = processor_seconds();
            all = seconds();
        }
        memcpy(data, &i, sizeof i);
        size = sizeof signature;
        OK(p11->C_SignInit(session, &mechanism, private));
        OK(p11->C_Sign(session, data, sizeof data, signature, &size));
    }
    printf("%.9f %.9f\n", (processor_seconds() - own) / (double)count,
           (seconds() - all) / (double)count);
    OK(p11->C_VerifyInit(session, &mechanism, public));
    OK(p11->C_Verify(session, data, sizeof data, signature, size));
    OK(p11->C_Finalize(NULL));
}

/* A thread that generates keys of the session, one after the other, until that fails. */
struct generator {
    pthread_t thread;
    CK_SESSION_HANDLE session;
    CK_ULONG bits;
    unsigned long made;
    CK_RV rv;
};

static void *generate_until_the_end(void *argument)
{
    CK_MECHANISM mechanism = {CKM_RSA_PKCS_KEY_PAIR_GEN, NULL, 0};
    struct generator *const own = argument;
    CK_ATTRIBUTE template[] = {{CKA_MODULUS_BITS, &own->bits, sizeof own->bits}};
    CK_OBJECT_HANDLE public, private;

    while ((own->rv = p11->C_GenerateKeyPair(own->session, &mechanism, template, 1, NULL, 0,
                                             &public, &private)) == CKR_OK) {
        ++own->made;
    }
    return NULL;
}

static void start_generator(struct generator *generator, CK_ULONG bits)
{
    *generator = (struct generator){.session = open_session(), .bits = bits};
    CHECK(pthread_create(&generator->thread, NULL, generate_until_the_end, generator) == 0);
}

/* The generation of a key of 4096 bits ends when its session is closed, and so on: at once, where the
   generation itself would last for minutes, or in software for seconds. Times are the processor's here and
   below: what threads wait for is the work of others in this process, however busy the machine is. */
static void test_cancel(const char *how)
{
    CK_SESSION_HANDLE session = start();
    struct generator generator;
    CK_RV expected = CKR_SESSION_CLOSED;
    double begin;

    start_generator(&generator, 4096);
    usleep(100000);
    begin = processor_seconds();
    if (strcmp(how, "finalize") == 0) {
        expected = CKR_CRYPTOKI_NOT_INITIALIZED;
        OK(p11->C_Finalize(NULL));
    } else if (strcmp(how, "logout") == 0) {
        expected = CKR_USER_NOT_LOGGED_IN;
        OK(p11->C_Logout(session));
    } else if (strcmp(how, "own") == 0) {
        expected = CKR_USER_NOT_LOGGED_IN;
        OK(p11->C_Logout(generator.session));
    } else if (strcmp(how, "all") == 0) {
        OK(p11->C_CloseAllSessions(0));
    } else {
        OK(p11->C_CloseSession(generator.session));
    }
    (void)pthread_join(generator.thread, NULL);
    printf("%s: the generation ends within %.3f s\n", how, processor_seconds() - begin);
    CHECK(generator.made == 0);
    GIVES(generator.rv, expected);
    CHECK(processor_seconds() - begin < 10);
    if (strcmp(how, "finalize") != 0) {
        OK(p11->C_Finalize(NULL));
    }
}

enum { MANY = 32 };

/* Somebody logs out while many threads sign with one key of 2048 bits. */
static void test_logout(void)
{
    CK_SESSION_HANDLE session = start();
    pthread_t threads[MANY];
    double begin;

    generate(session, 2048, false, &publics[0], &privates[0]);
    for (size_t i = 0; i < MANY; ++i) {
        CHECK(pthread_create(&threads[i], NULL, sign_until_the_end, (void *)(i * KEYS)) == 0);
    }
    usleep(500000);
    begin = processor_seconds();
    OK(p11->C_Logout(session));
    printf("C_Logout: %.3f s", processor_seconds() - begin);
    CHECK(processor_seconds() - begin < 5);
    for (int i = 0; i < MANY; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    printf(", the last thread ends within %.3f s\n", processor_seconds() - begin);
    CHECK(processor_seconds() - begin < 5);
    CHECK(failures == 0);
    OK(p11->C_Finalize(NULL));
}

static double longest[THREADS];

/* As sign_in_turn, and how long a call takes at most. */
static void *sign_and_measure(void *argument)
{
    const size_t own = (size_t)argument - 1;
    CK_SESSION_HANDLE session = open_session();
    CK_BYTE signature[ROOM];
    unsigned long number;
    CK_ULONG size;

    while ((number = atomic_fetch_add(&next, 1)) < limit) {
        const size_t key = number % KEYS;
        const double begin = processor_seconds();
        double wait;

        OK(sign(session, privates[key], number, signature, &size));
        wait = processor_seconds() - begin;
        longest[own] = wait > longest[own] ? wait : longest[own];
        OK(verify(session, publics[key], number, signature, size));
        atomic_fetch_add(&times[number], 1);
    }
    OK(p11->C_CloseSession(session));
    return NULL;
}

/* Threads sign while keys of so many bits are generated. Prints the longest wait of a signature, how
   many keys were made, and how long logging out takes, which also ends the generation. */
static void test_generation(unsigned long count, CK_ULONG bits, CK_ULONG limit_in_seconds)
{
    CK_SESSION_HANDLE session = start();
    struct generator generator;
    pthread_t threads[THREADS];
    double most = 0, begin;

    limit = count;
    times = calloc(count, sizeof *times);
    for (int i = 0; i < KEYS; ++i) {
        /* Lengths that are generated in software. */
        generate(session, bits < 2048 ? 512 : 1032, false, &publics[i], &privates[i]);
    }
    start_generator(&generator, bits);
    usleep(100000);
    begin = processor_seconds();
    run_threads(sign_and_measure, threads);
    for (int i = 0; i < THREADS; ++i) {
        (void)pthread_join(threads[i], NULL);
        most = longest[i] > most ? longest[i] : most;
    }
    printf("%lu signatures in %.1f s while %lu keys are made; the longest wait %.3f s", count,
           processor_seconds() - begin, generator.made, most);
    begin = processor_seconds();
    OK(p11->C_Logout(session));
    printf(", C_Logout %.3f s\n", processor_seconds() - begin);
    CHECK(processor_seconds() - begin < 10);
    (void)pthread_join(generator.thread, NULL);
    CHECK(generator.rv == CKR_USER_NOT_LOGGED_IN);
    for (unsigned long i = 0; i < count; ++i) {
        CHECK(times[i] == 1);
    }
    CHECK(most < (double)limit_in_seconds);
    free((void *)times);
    OK(p11->C_Finalize(NULL));
}

int main(int count, char **arguments)
{
    const char *const name = count > 2 ? arguments[2] : "";
    const unsigned long number = count > 3 ? strtoul(arguments[3], NULL, 10) : 0;

    const char *const kind = count > 4 ? arguments[4] : "rsa"; /* of keys */

    CHECK(count > 2);
    load(arguments[1]);
    load_lattices();
    if (strcmp(name, "life") == 0) {
        test_life();
    } else if (strcmp(name, "fork") == 0) {
        test_fork(count > 3 ? arguments[3] : "fork");
    } else if (strcmp(name, "fork-random") == 0) {
        test_fork_random(count > 3 ? arguments[3] : "fork");
    } else if (strcmp(name, "fork-signing") == 0) {
        test_fork_signing(number);
    } else if (strcmp(name, "fork-writing") == 0) {
        test_fork_writing(number);
    } else if (strcmp(name, "initialize") == 0) {
        test_initialize_twice(number);
    } else if (strcmp(name, "close-login") == 0) {
        test_close_while_logging_in();
    } else if (strcmp(name, "lock-pin") == 0) {
        test_lock_pin();
    } else if (strcmp(name, "threads") == 0) {
        test_threads(number, kind);
    } else if (strcmp(name, "lattices") == 0) {
        test_lattices(number);
    } else if (strcmp(name, "end") == 0) {
        test_end(arguments[3]);
    } else if (strcmp(name, "wait") == 0) {
        test_wait();
    } else if (strcmp(name, "faults") == 0) {
        test_faults(number, kind);
    } else if (strcmp(name, "errors") == 0) {
        test_errors();
    } else if (strcmp(name, "memory") == 0) {
        test_memory(arguments[3], kind);
    } else if (strcmp(name, "generate") == 0) {
        test_generate();
    } else if (strcmp(name, "core") == 0) {
        test_core();
    } else if (strcmp(name, "cancel") == 0) {
        test_cancel(arguments[3]);
    } else if (strcmp(name, "first") == 0) {
        test_first();
    } else if (strcmp(name, "speed") == 0) {
        test_speed(number, kind);
    } else if (strcmp(name, "logout") == 0) {
        test_logout();
    } else if (strcmp(name, "generation") == 0) {
        CHECK(count > 5);
        test_generation(number, strtoul(arguments[4], NULL, 10), strtoul(arguments[5], NULL, 10));
    } else {
        CHECK(!"a test");
    }
    return 0;
}
