#include "ml_kem_kind.h"

#include <string.h>

#include <openssl/crypto.h>

#include "coprime_calls.h"
#include "coprime_lattice.h"
#include "lattice_key.h"
#include "secret.h"

/* The scheme. */

static bool expand(const void *set, const uint8_t *seed, uint8_t *public, uint8_t *private)
{
    ml_kem_key_pair(set, seed, public, private);
    return true;
}

static bool check(const void *set, const uint8_t *public)
{
    return ml_kem_check_ek(set, public);
}

static bool public_of(const void *set, const uint8_t *private, uint8_t *public)
{
    const struct ml_kem_set *const known = set;

    memcpy(public, ml_kem_ek_of(known, private), known->ek);
    return ml_kem_check_dk(known, private);
}

static const struct lattice_scheme scheme = {
    .type = CKK_ML_KEM,
    .seed_size = ML_KEM_SEED,
    .sets = {{CKP_ML_KEM_512, "2.16.840.1.101.3.4.4.1", 800, 1632, &ml_kem_sets[0]},
             {CKP_ML_KEM_768, "2.16.840.1.101.3.4.4.2", 1184, 2400, &ml_kem_sets[1]},
             {CKP_ML_KEM_1024, "2.16.840.1.101.3.4.4.3", 1568, 3168, &ml_kem_sets[2]}},
    .expand = expand,
    .check = check,
    .public_of = public_of,
};

static const struct ml_kem_set *set_of(const struct lattice_key *key)
{
    return key->set->algorithm;
}

/* Engines. */

/* Select the set in which a slot has this many bytes, and load it: an engine that is not built for all
   sets numbers those that it has. */
static int load_in_its_set(struct coprime *driver, uint32_t slot, const uint8_t *bytes, size_t size)
{
    int error = COPRIME_ERROR_SLOT_LENGTH;

    for (uint32_t number = 0; error == COPRIME_ERROR_SLOT_LENGTH; ++number) {
        error = coprime_parameter_set(driver, number);
        if (!error) {
            error = coprime_load_slot(driver, slot, bytes, (uint32_t)size);
        }
    }
    return error == COPRIME_ERROR_ADDRESS ? COPRIME_ERROR_UNSUPPORTED : error;
}

/* The key stays in the engine, for further ciphertexts. */
static int load_key(struct engine *engine, const struct lattice_key *key)
{
    int error = COPRIME_ERROR_NONE;

    if (engine->loaded != key->base.number) {
        engine->loaded = 0;
        error = load_in_its_set(engine->driver, COPRIME_LATTICE_SLOT_DK, key->private,
                                key->set->private_size);
    }
    if (!error) {
        engine->loaded = key->base.number;
    }
    return error;
}

/* A decapsulation. */
struct decapsulation {
    const struct lattice_key *key;
    const uint8_t *c;
    uint8_t *secret;
};

static int decapsulate_in_software(void *context)
{
    const struct decapsulation *const wanted = context;

    ml_kem_decapsulate(set_of(wanted->key), wanted->key->private, wanted->c, wanted->secret);
    return COPRIME_ERROR_NONE;
}

static int decapsulate(struct engine *engine, void *context)
{
    const struct decapsulation *const wanted = context;
    const struct coprime_slot_input c = {COPRIME_LATTICE_SLOT_C, wanted->c,
                                         (uint32_t)set_of(wanted->key)->c};
    uint8_t made[ML_KEM_SECRET] = {0};
    struct coprime_slot_output key = {COPRIME_LATTICE_SLOT_KEY, made, sizeof made};
    int error = load_key(engine, wanted->key);

    if (!error) {
        error = coprime_call(engine->driver, COPRIME_LATTICE_CALL_ML_KEM_DECAPSULATE, &c, 1, &key, 1);
    }
    if (!error) {
        error = decapsulate_in_software(context);
    }
    if (!error && CRYPTO_memcmp(made, wanted->secret, sizeof made)) {
        error = COPRIME_ERROR_FAULT;
    }
    OPENSSL_cleanse(made, sizeof made);
    return error;
}

CK_RV ml_kem_key_decapsulate(struct device *device, struct key *key, const uint8_t *c,
                             uint8_t secret[ML_KEM_SECRET])
{
    static const struct device_job job = {
        .sort = STRING_ENGINE,
        .call = COPRIME_LATTICE_CALL_ML_KEM_DECAPSULATE,
        .run = decapsulate,
        .in_software = decapsulate_in_software,
    };
    struct decapsulation wanted = {lattice_key_of(key), c, secret};
    const CK_RV rv = device_run(device, key, &job, &wanted);

    if (rv != CKR_OK) {
        OPENSSL_cleanse(secret, ML_KEM_SECRET);
    }
    return rv;
}

size_t ml_kem_ciphertext_size(struct key *key)
{
    return set_of(lattice_key_of(key))->c;
}

CK_RV ml_kem_key_encapsulate(const struct crypto *crypto, struct key *key, uint8_t *c,
                             uint8_t secret[ML_KEM_SECRET])
{
    const struct lattice_key *const own = lattice_key_of(key);
    uint8_t m[ML_KEM_MESSAGE];

    if (!crypto_random(crypto, m, sizeof m)) {
        return CKR_FUNCTION_FAILED;
    }
    ml_kem_encapsulate(set_of(own), own->public, m, c, secret);
    OPENSSL_cleanse(m, sizeof m);
    return CKR_OK;
}

/* Generating. */

/* A pair in secret memory, and the engine's. */
struct pair {
    bool is_drawn; /* by an engine: there is no seed */
    uint8_t seed[ML_KEM_SEED], ek[MAX_ML_KEM_EK], dk[MAX_ML_KEM_DK];
    uint8_t made_ek[MAX_ML_KEM_EK], made_dk[MAX_ML_KEM_DK];
};

/* What an engine makes of the seed is compared with what software makes of it. */
static int make_pair(struct coprime *driver, const struct ml_kem_set *set, struct pair *pair)
{
    const size_t half = sizeof pair->seed / 2;
    const struct coprime_slot_input z = {COPRIME_LATTICE_SLOT_Z, pair->seed + half, (uint32_t)half};
    struct coprime_slot_output made[] = {
        {COPRIME_LATTICE_SLOT_EK, pair->made_ek, (uint32_t)set->ek},
        {COPRIME_LATTICE_SLOT_DK, pair->made_dk, (uint32_t)set->dk},
    };
    /* Loading a key of the set selects it. */
    int error = load_in_its_set(driver, COPRIME_LATTICE_SLOT_EK, pair->ek, set->ek);

    if (!error) {
        error = coprime_load_slot(driver, COPRIME_LATTICE_SLOT_D, pair->seed, (uint32_t)half);
    }
    if (!error) {
        error = coprime_call(driver, COPRIME_LATTICE_CALL_ML_KEM_KEY_PAIR, &z, 1, made, 2);
    }
    if (!error && (memcmp(pair->ek, pair->made_ek, set->ek) != 0 ||
                   CRYPTO_memcmp(pair->dk, pair->made_dk, set->dk) != 0)) {
        error = COPRIME_ERROR_FAULT;
    }
    return error ? error : coprime_wipe(driver);
}

/* Whether the halves of a pair belong together, one ciphertext being decrypted. */
static bool is_pair(const struct ml_kem_set *set, const struct pair *pair)
{
    static const uint8_t m[ML_KEM_MESSAGE];
    uint8_t c[MAX_ML_KEM_C], secrets[2][ML_KEM_SECRET];

    if (memcmp(ml_kem_ek_of(set, pair->dk), pair->ek, set->ek) != 0 ||
        !ml_kem_check_ek(set, pair->ek) || !ml_kem_check_dk(set, pair->dk)) {
        return false;
    }
    ml_kem_encapsulate(set, pair->ek, m, c, secrets[0]);
    ml_kem_decapsulate(set, pair->dk, c, secrets[1]);
    return memcmp(secrets[0], secrets[1], sizeof secrets[0]) == 0;
}

/* A pair from random bytes that leave the engine only as this pair. */
static int draw_pair(struct coprime *driver, const struct ml_kem_set *set, struct pair *pair)
{
    struct coprime_slot_output made[] = {
        {COPRIME_LATTICE_SLOT_EK, pair->ek, (uint32_t)set->ek},
        {COPRIME_LATTICE_SLOT_DK, pair->dk, (uint32_t)set->dk},
    };
    /* Loading a key of the set selects it. */
    int error = load_in_its_set(driver, COPRIME_LATTICE_SLOT_EK, pair->ek, set->ek);

    if (!error) {
        error = coprime_call(driver, COPRIME_LATTICE_CALL_ML_KEM_KEY_PAIR, NULL, 0, made, 2);
    }
    if (!error && !is_pair(set, pair)) {
        error = COPRIME_ERROR_FAULT;
    }
    pair->is_drawn = true;
    return error ? error : coprime_wipe(driver);
}

static CK_RV make_on_device(const struct maker *maker, const struct ml_kem_set *set,
                            struct pair *pair)
{
    static const struct device_job job = {.sort = STRING_ENGINE,
                                          .call = COPRIME_LATTICE_CALL_ML_KEM_KEY_PAIR};
    struct engine *engine;
    int error;
    const bool draws = device_draws(maker->device);
    const CK_RV rv = (draws ? device_take_drawing : device_take)(maker->device, 0, &job,
                                                                maker->cancel, &engine, &error);

    if (rv != CKR_OK) {
        return rv == CKR_MECHANISM_INVALID && !draws ? CKR_OK : rv; /* as software has made it */
    }
    if (!error) {
        engine->loaded = 0;
        error = (draws ? draw_pair : make_pair)(engine->driver, set, pair);
    }
    device_give_back(maker->device, engine, error);
    return device_result_of(error);
}

static CK_RV generate(const struct maker *maker, struct attributes halves[2])
{
    const struct lattice_set *const set = lattice_set_of(&scheme, &halves[0]);
    struct pair *const pair = secret_allocate(sizeof *pair);
    CK_RV rv = pair ? CKR_FUNCTION_FAILED : CKR_HOST_MEMORY;

    if (pair && device_draws(maker->device)) {
        rv = make_on_device(maker, set->algorithm, pair);
    } else if (pair && crypto_random(maker->crypto, pair->seed, sizeof pair->seed)) {
        ml_kem_key_pair(set->algorithm, pair->seed, pair->ek, pair->dk);
        rv = maker->on_device ? make_on_device(maker, set->algorithm, pair) : CKR_OK;
    }
    if (rv == CKR_OK) {
        rv = lattice_set_pair(&scheme, set, pair->is_drawn ? NULL : pair->seed, pair->ek, pair->dk,
                              halves);
    }
    secret_free(pair);
    return rv;
}

/* The kind. */

static struct key *make(const struct crypto *crypto, const struct attributes *attributes,
                        bool is_private)
{
    (void)crypto;
    return lattice_make(&scheme, attributes, is_private);
}

static CK_RV complete(const struct crypto *crypto, struct attributes *attributes, bool is_private)
{
    (void)crypto;
    return lattice_complete(&scheme, attributes, is_private);
}

static CK_RV check_pair(const struct attributes halves[2])
{
    return lattice_check_pair(&scheme, halves);
}

static PKCS8_PRIV_KEY_INFO *encode(const struct crypto *crypto, const struct attributes *attributes)
{
    (void)crypto;
    return lattice_encode(&scheme, attributes);
}

static CK_RV decode(const struct crypto *crypto, const PKCS8_PRIV_KEY_INFO *info,
                    struct attributes *attributes)
{
    (void)crypto;
    return lattice_decode(&scheme, info, attributes);
}

const struct key_kind ml_kem_kind = {
    .type = CKK_ML_KEM,
    .public_half = {lattice_attributes, 2},
    .private_half = {lattice_attributes, 3},
    .secret = CKA_VALUE,
    .common = UNAVAILABLE,
    .reads = CKA_DECAPSULATE,
    .rights = RIGHT_ENCAPSULATE,
    .is_complete = lattice_is_complete,
    .make = make,
    .complete = complete,
    .check_pair = check_pair,
    .generate = generate,
    .identify = lattice_identify,
    .encode = encode,
    .decode = decode,
};
