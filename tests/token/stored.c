/* Objects as a file may have them, and no call would make them: `stored TEST`, with the module's
   sources and a sanitizer. Each test gives an object other attributes behind the module's back, and
   uses it. COPRIME_TOKEN_DIR must have a token with the PIN 123456; no engine is needed.

   Ends with status 0, or says the line that is wrong. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "cryptoki.h"
#include "calls.h"
#include "module.h"
#include "rsa_key.h"
#ifndef WITHOUT_RULES_ACCEPT
#include "rules.h"
#endif

#define CHECK(condition) check(condition, #condition, __LINE__)
#define OK(call) CHECK((call) == CKR_OK)

static CK_SESSION_HANDLE session;
static CK_BBOOL yes = CK_TRUE;

static void check(bool right, const char *what, int line)
{
    if (!right) {
        fprintf(stderr, "line %d: not %s\n", line, what);
        exit(1);
    }
}

static void start(void)
{
    OK(C_Initialize(NULL));
    OK(C_OpenSession(0, CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &session));
    OK(C_Login(session, CKU_USER, (CK_UTF8CHAR *)"123456", 6));
}

static CK_OBJECT_HANDLE generate_aes(void)
{
    CK_MECHANISM mechanism = {CKM_AES_KEY_GEN, NULL, 0};
    CK_ULONG length = 16;
    CK_ATTRIBUTE template[] = {
        {CKA_VALUE_LEN, &length, sizeof length}, {CKA_WRAP, &yes, 1}, {CKA_EXTRACTABLE, &yes, 1}};
    CK_OBJECT_HANDLE key;

    OK(C_GenerateKey(session, &mechanism, template, 3, &key));
    return key;
}

static void generate_pair(CK_OBJECT_HANDLE *public, CK_OBJECT_HANDLE *private)
{
    CK_MECHANISM mechanism = {CKM_RSA_PKCS_KEY_PAIR_GEN, NULL, 0};
    CK_ULONG bits = 1024;
    CK_ATTRIBUTE publics[] = {{CKA_MODULUS_BITS, &bits, sizeof bits}, {CKA_WRAP, &yes, 1}};
    CK_ATTRIBUTE privates[] = {{CKA_EXTRACTABLE, &yes, 1}};

    OK(C_GenerateKeyPair(session, &mechanism, publics, 2, privates, 1, public, private));
}

/* The attributes of an object, in memory of their exact length that the sanitizer watches. */
static struct attributes *attributes_of(CK_OBJECT_HANDLE handle)
{
    struct object *const object = token_find_object(&module.tokens[0], handle);
    struct attributes copy;

    CHECK(object != NULL);
    CHECK(attributes_copy(&copy, &object->attributes, false));
    attributes_free(&object->attributes);
    object->attributes = copy;
    return &object->attributes;
}

/* Give an object a value, and free what the list has too much. */
static void plant(CK_OBJECT_HANDLE handle, CK_ATTRIBUTE_TYPE type, const void *bytes, size_t size)
{
    CHECK(attributes_set(attributes_of(handle), type, bytes, size));
    (void)attributes_of(handle);
}

/* An odd number of so many bytes. */
static uint8_t *odd_number(size_t size)
{
    uint8_t *const number = malloc(size);

    CHECK(number != NULL);
    memset(number, 0xC3, size);
    return number;
}

/* A modulus of 8192 bits would be written over the stack. */
static void test_modulus(void)
{
    CK_MECHANISM mechanism = {CKM_RSA_X_509, NULL, 0};
    uint8_t *const modulus = odd_number(1024), data[16] = {1}, output[1024];
    CK_OBJECT_HANDLE public, private;
    CK_ULONG size = sizeof output;

    generate_pair(&public, &private);
    plant(public, CKA_MODULUS, modulus, 1024);
    if (C_EncryptInit(session, &mechanism, public) == CKR_OK) {
        CHECK(C_Encrypt(session, data, sizeof data, output, &size) != CKR_OK);
        CHECK(!"a modulus of 8192 bits is refused");
    }
    CHECK(C_VerifyInit(session, &mechanism, public) != CKR_OK);
    free(modulus);
}

/* A modulus that is too short, an even one, and exponents that no key has. */
static void test_exponent(void)
{
    static const struct {
        CK_ATTRIBUTE_TYPE type;
        size_t size;
        int last;
    } wrong[] = {
        {CKA_MODULUS, 16, 0xC3},          {CKA_MODULUS, 128, 0xC2},
        {CKA_PUBLIC_EXPONENT, 1, 1},      {CKA_PUBLIC_EXPONENT, 1, 4},
        {CKA_PUBLIC_EXPONENT, 512, 0xC3}, {CKA_PUBLIC_EXPONENT, 0, 0},
    };
    CK_MECHANISM mechanism = {CKM_RSA_X_509, NULL, 0};
    CK_OBJECT_HANDLE public, private;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        uint8_t *const number = odd_number(wrong[i].size + 1);

        if (wrong[i].size) {
            number[wrong[i].size - 1] = (uint8_t)wrong[i].last;
        }
        generate_pair(&public, &private);
        plant(public, wrong[i].type, number, wrong[i].size);
        CHECK(C_EncryptInit(session, &mechanism, public) != CKR_OK);
        free(number);
    }
}

/* Numbers of a private key that do not fit each other's lengths. */
static void test_private(void)
{
    static const size_t lengths[] = {1, 63, 65, 128, 129, 512, 1024};
    CK_MECHANISM mechanism = {CKM_RSA_X_509, NULL, 0};
    CK_OBJECT_HANDLE public, private;

    for (int number = 0; number < RSA_NUMBERS; ++number) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
            uint8_t *const planted = odd_number(lengths[i]);
            const bool may_be = (number == RSA_E && lengths[i] <= 128) ||
                                (number >= RSA_DP && lengths[i] < 64) ||
                                (number == RSA_D && lengths[i] <= 128);

            generate_pair(&public, &private);
            plant(private, rsa_attributes[number], planted, lengths[i]);
            if (!may_be) {
                CHECK(C_SignInit(session, &mechanism, private) != CKR_OK);
            }
            free(planted);
        }
    }
}

/* A list of mechanisms of a length that is no multiple of a number's. */
static void test_mechanisms(void)
{
    static const size_t lengths[] = {0, 1, 7, 9, 12, 15};
    CK_MECHANISM mechanism = {CKM_RSA_X_509, NULL, 0};
    const uint8_t zeros[16] = {0};
    CK_OBJECT_HANDLE public, private;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        generate_pair(&public, &private);
        plant(public, CKA_ALLOWED_MECHANISMS, zeros, lengths[i]);
        CHECK(C_EncryptInit(session, &mechanism, public) == CKR_MECHANISM_INVALID);
    }
}

/* Booleans and numbers of a wrong length. */
static void test_lengths(void)
{
    static const CK_ATTRIBUTE_TYPE types[] = {
        CKA_SENSITIVE, CKA_EXTRACTABLE, CKA_ENCRYPT, CKA_WRAP, CKA_CLASS, CKA_KEY_TYPE, CKA_PRIVATE,
    };
    CK_MECHANISM encrypt = {CKM_AES_CBC_PAD, (uint8_t[16]){0}, 16};
    uint8_t bytes[32] = {1};

    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        for (size_t size = 0; size < sizeof bytes; size += 3) {
            const CK_OBJECT_HANDLE key = generate_aes();
            CK_ATTRIBUTE shown = {CKA_VALUE, bytes, sizeof bytes};

            plant(key, types[i], bytes, size);
            (void)C_EncryptInit(session, &encrypt, key);
            (void)C_EncryptInit(session, NULL, key);
            CHECK(C_GetAttributeValue(session, key, &shown, 1) != CKR_OK); /* still hidden */
        }
    }
}

/* Values of a secret key that no key of AES has: wrapping has memory for 32 bytes. */
static void test_value(void)
{
    static const size_t lengths[] = {0, 1, 15, 33, 4096};
    CK_MECHANISM encrypt = {CKM_AES_CBC_PAD, (uint8_t[16]){0}, 16};
    CK_MECHANISM wrap = {CKM_AES_KEY_WRAP_KWP, NULL, 0};
    uint8_t output[8192];

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        uint8_t *const value = odd_number(lengths[i] + 1);
        const CK_OBJECT_HANDLE key = generate_aes();
        CK_ULONG size = sizeof output;

        plant(key, CKA_VALUE, value, lengths[i]);
        CHECK(C_EncryptInit(session, &encrypt, key) != CKR_OK);
        CHECK(C_WrapKey(session, &wrap, key, generate_aes(), output, &size) != CKR_OK);
        free(value);
    }
}

#ifndef WITHOUT_RULES_ACCEPT
/* Put the attributes of one list behind those of another, even if they are there. */
static void append(struct attributes *list, const struct attributes *more)
{
    const size_t size = list->size + more->size;
    uint8_t *const bytes = malloc(size);

    CHECK(bytes != NULL);
    memcpy(bytes, list->bytes, list->size);
    memcpy(bytes + list->size, more->bytes, more->size);
    attributes_free(list);
    *list = (struct attributes){bytes, size, size, false};
}

/* Whether a list with this change is taken for an object. */
static bool accepts(CK_OBJECT_HANDLE handle, CK_ATTRIBUTE_TYPE type, size_t size, bool twice)
{
    const struct object *const object = token_find_object(&module.tokens[0], handle);
    struct attributes list, more = {0};
    uint8_t bytes[2048] = {1};
    bool accepted;

    CHECK(attributes_copy(&list, &object->attributes, false));
    CHECK(attributes_set(twice ? &more : &list, type, bytes, size));
    if (twice) {
        append(&list, &more);
    }
    accepted = rules_accept(&list);
    attributes_free(&list);
    attributes_free(&more);
    return accepted;
}

/* What the module makes is accepted when it is read; what it does not make is not. */
static void test_accept(void)
{
    const CK_OBJECT_HANDLE secret = generate_aes();
    CK_OBJECT_HANDLE public, private;

    generate_pair(&public, &private);
    CHECK(rules_accept(attributes_of(public)));
    CHECK(rules_accept(attributes_of(private)));
    CHECK(rules_accept(attributes_of(secret)));
    CHECK(accepts(public, CKA_LABEL, 300, false));
    CHECK(accepts(public, CKA_ALLOWED_MECHANISMS, 24, false));
    CHECK(!accepts(public, CKA_ALLOWED_MECHANISMS, 20, false));
    CHECK(!accepts(public, CKA_MODULUS, 513, false));
    CHECK(!accepts(public, CKA_MODULUS, 0, false));
    CHECK(!accepts(public, CKA_LABEL, 3, true));
    CHECK(!accepts(public, CKA_SENSITIVE, 1, false));
    CHECK(!accepts(public, CKA_VENDOR_DEFINED, 1, false));
    CHECK(!accepts(private, CKA_SENSITIVE, 2, false));
    CHECK(!accepts(private, CKA_SENSITIVE, 0, false));
    CHECK(!accepts(private, CKA_PRIME_1, 1024, false));
    CHECK(!accepts(private, CKA_CLASS, 4, false));
    CHECK(!accepts(private, CKA_START_DATE, 7, false));
    CHECK(!accepts(secret, CKA_VALUE, 33, false));
    CHECK(!accepts(secret, CKA_VALUE, 24, false)); /* CKA_VALUE_LEN says 16 */
    CHECK(!accepts(secret, CKA_KEY_TYPE, 1, false));
    CHECK(!accepts(secret, CKA_VALUE_LEN, 4, false));
    CHECK(!rules_accept(&(struct attributes){0}));
}
#endif

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        {"modulus", test_modulus},       {"exponent", test_exponent}, {"private", test_private},
        {"mechanisms", test_mechanisms}, {"lengths", test_lengths},   {"value", test_value},
#ifndef WITHOUT_RULES_ACCEPT
        {"accept", test_accept},
#endif
    };
    const char *const name = count > 1 ? arguments[1] : "";

    for (size_t i = 0; i < sizeof tests / sizeof *tests; ++i) {
        if (strcmp(name, tests[i].name) == 0) {
            start();
            tests[i].run();
            OK(C_Finalize(NULL));
            return 0;
        }
    }
    CHECK(!"a test");
}
