/* Fuzzing of what the module reads from a token's folder, with libFuzzer: a file whose digest is
   right and whose tag is, too, as if it had been written with the PIN, so that everything behind
   both is reached: records, lists of attributes, keys.

   COPRIME_TOKEN_DIR must have a token with the PIN 123456; no engine is needed. The input changes
   the bytes of the records of that token, and adds some; then all is read, searched, and used. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "crypto.h"
#include "cryptoki.h"
#include "module.h"
#include "store.h"

enum { MAX_FOUND = 16, ROOM = 5000 };

static CK_SESSION_HANDLE session;

static void must(int right)
{
    if (!right) {
        abort();
    }
}

/* Records as the input has them: two bytes of length, a byte of flags, attributes. A private key of
   ML-DSA-44 has 2,560 bytes. */
static void add_records(struct image *image, const uint8_t *data, size_t size)
{
    while (size >= 3) {
        const size_t wanted = data[0] | (size_t)(data[1] & 15) << 8;
        const size_t length = wanted < size - 3 ? wanted : size - 3;
        struct record record = {.id = image->next_id++,
                                .revision = image->generation + 1,
                                .flags = data[2] & (RECORD_PRIVATE | RECORD_GUEST),
                                .size = (uint32_t)length};

        record.bytes = malloc(length ? length : 1);
        must(record.bytes != NULL);
        memcpy(record.bytes, data + 3, length);
        must(image_add(image, &record));
        data += 3 + length;
        size -= 3 + length;
    }
}

static void use(CK_OBJECT_HANDLE object)
{
    static const CK_MECHANISM_TYPE types[] = {CKM_RSA_X_509, CKM_RSA_PKCS, CKM_AES_CBC_PAD,
                                              CKM_AES_KEY_WRAP_KWP, CKM_ML_DSA};
    static const CK_ATTRIBUTE_TYPE shown[] = {
        CKA_CLASS, CKA_MODULUS, CKA_PRIVATE_EXPONENT, CKA_ALLOWED_MECHANISMS, CKA_WRAP_TEMPLATE,
        CKA_UNWRAP_TEMPLATE, CKA_VALUE, CKA_LABEL, CKA_PARAMETER_SET, CKA_SEED,
        CKA_ENCAPSULATE_TEMPLATE, CKA_DECAPSULATE_TEMPLATE, CKA_PUBLIC_KEY_INFO,
    };
    CK_MECHANISM kem = {CKM_ML_KEM, NULL, 0};
    CK_BYTE iv[16] = {0}, data[64] = {1}, output[ROOM];
    CK_OBJECT_HANDLE made;
    CK_ULONG size;

    for (size_t i = 0; i < sizeof shown / sizeof *shown; ++i) {
        CK_ATTRIBUTE attribute = {shown[i], NULL, 0};

        (void)C_GetAttributeValue(session, object, &attribute, 1);
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        CK_MECHANISM mechanism = {types[i], types[i] == CKM_AES_CBC_PAD ? iv : NULL,
                                  types[i] == CKM_AES_CBC_PAD ? sizeof iv : 0};

        size = sizeof output;
        if (C_EncryptInit(session, &mechanism, object) == CKR_OK) {
            (void)C_Encrypt(session, data, sizeof data, output, &size);
        }
        size = sizeof output;
        if (C_SignInit(session, &mechanism, object) == CKR_OK) {
            (void)C_Sign(session, data, sizeof data, output, &size);
        }
        if (C_VerifyInit(session, &mechanism, object) == CKR_OK) {
            (void)C_Verify(session, data, sizeof data, output, size);
        }
        size = sizeof output;
        (void)C_WrapKey(session, &mechanism, object, object, output, &size);
        (void)C_UnwrapKey(session, &mechanism, object, data, sizeof data, NULL, 0, &made);
    }
    size = sizeof output;
    if (C_EncapsulateKey(session, &kem, object, NULL, 0, output, &size, &made) == CKR_OK) {
        (void)C_DestroyObject(session, made);
    }
    if (C_DecapsulateKey(session, &kem, object, NULL, 0, output, 768, &made) == CKR_OK) {
        (void)C_DestroyObject(session, made);
    }
    if (C_CopyObject(session, object, NULL, 0, &made) == CKR_OK) {
        (void)C_DestroyObject(session, made);
    }
}

/* A file that ends early, or has other numbers: the digest is right. */
static void write_raw(const char *path, const uint8_t *data, size_t size)
{
    uint8_t bytes[4096], check[32];
    const int file = open(path, O_RDONLY);
    ssize_t length = read(file, bytes, sizeof bytes - 32);

    (void)close(file);
    must(length > 32);
    length -= 32;
    for (size_t i = 0; i + 3 <= size; i += 3) {
        bytes[(data[i] | (size_t)data[i + 1] << 8) % (size_t)length] ^= data[i + 2];
    }
    if (size % 3) {
        length = length * data[size - 1] / 255;
    }
    must(crypto_digest(&module.crypto, digest_of(CKM_SHA256), bytes, (size_t)length, check));
    memcpy(bytes + length, check, 32);
    {
        FILE *const made = fopen(path, "wb");

        must(made && fwrite(bytes, 1, (size_t)length + 32, made) == (size_t)length + 32);
        must(fclose(made) == 0);
    }
}

static uint8_t original[1 << 16];
static size_t original_size;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[512];
    CK_OBJECT_HANDLE found[MAX_FOUND];
    struct token *token;
    CK_ULONG count = 0;

    if (session == 0) {
        FILE *file;

        must(snprintf(path, sizeof path, "%s/token", getenv("COPRIME_TOKEN_DIR")) > 0);
        file = fopen(path, "rb");
        must(file != NULL);
        original_size = fread(original, 1, sizeof original, file);
        (void)fclose(file);
        must(C_Initialize(NULL) == CKR_OK);
        must(C_OpenSession(0, CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &session) == CKR_OK);
        must(C_Login(session, CKU_USER, (CK_UTF8CHAR *)"123456", 6) == CKR_OK);
    }
    if (size == 0) {
        return 0;
    }
    token = module_token(0);
    if (data[0] & 1) {
        struct image image;
        struct store store = {0};

        module_lock();
        must(store_open(&store, getenv("COPRIME_TOKEN_DIR")));
        must(store_read(&store, &module.crypto, &image) == CKR_OK);
        image.generation = token->image.generation;
        add_records(&image, data + 1, size - 1);
        image.tagged = true;
        must(image_tag(&module.crypto, &image, token->master, image.tag));
        must(store_write(&store, &module.crypto, &image, false) == CKR_OK);
        image_free(&image);
        store_close(&store);
        module_unlock();
    } else {
        struct store store = {0};
        struct image image;

        write_raw(path, data + 1, size - 1);
        must(store_open(&store, getenv("COPRIME_TOKEN_DIR")));
        if (store_read(&store, &module.crypto, &image) == CKR_OK) {
            image_free(&image);
        }
        store_close(&store);
    }
    if (data[0] & 1 && C_FindObjectsInit(session, NULL, 0) == CKR_OK) {
        (void)C_FindObjects(session, found, MAX_FOUND, &count);
        (void)C_FindObjectsFinal(session);
        for (CK_ULONG i = 0; i < count; ++i) {
            use(found[i]);
        }
    }
    { /* as it was, but for the generation, which never goes back in this process */
        FILE *const made = fopen(path, "wb");

        must(made && fwrite(original, 1, original_size, made) == original_size);
        must(fclose(made) == 0);
    }
    return 0;
}
