#include "ml_dsa_kind.h"

#include <string.h>

#include <openssl/crypto.h>

#include "coprime_ml_dsa.h"
#include "keccak.h"
#include "lattice_key.h"
#include "ml_dsa.h"
#include "secret.h"

/* The scheme. */

static bool expand(const void *set, const uint8_t *seed, uint8_t *public, uint8_t *private)
{
    return ml_dsa_key_pair(set, seed, public, private);
}

/* Every string of its length is a public key. */
static bool check(const void *set, const uint8_t *public)
{
    (void)set;
    (void)public;
    return true;
}

static bool public_of(const void *set, const uint8_t *private, uint8_t *public)
{
    return ml_dsa_public_of(set, private, public);
}

static const struct lattice_scheme scheme = {
    .type = CKK_ML_DSA,
    .seed_size = ML_DSA_SEED,
    .sets = {{CKP_ML_DSA_44, "2.16.840.1.101.3.4.3.17", 1312, 2560, &ml_dsa_sets[0]},
             {CKP_ML_DSA_65, "2.16.840.1.101.3.4.3.18", 1952, 4032, &ml_dsa_sets[1]},
             {CKP_ML_DSA_87, "2.16.840.1.101.3.4.3.19", 2592, 4896, &ml_dsa_sets[2]}},
    .expand = expand,
    .check = check,
    .public_of = public_of,
};

static const struct ml_dsa_set *set_of(const struct lattice_key *key)
{
    return key->set->algorithm;
}

/* Signatures. */

/* What is hashed before a message, or its hash (FIPS 204, 5.2 and 5.4): the key's hash, and the context
   with its length, after a byte that tells one from the other. */
static void write_head(const struct work *work, bool hashed, struct keccak_part parts[3],
                       uint8_t tr[ML_DSA_TR], uint8_t domain[2])
{
    const struct lattice_key *const key = lattice_key_of(work->key);
    const struct ml_dsa_variant *const variant = &work->parameters->ml_dsa;

    ml_dsa_hash_key(set_of(key), key->public, tr);
    domain[0] = hashed;
    domain[1] = (uint8_t)variant->context_size;
    parts[0] = (struct keccak_part){tr, ML_DSA_TR};
    parts[1] = (struct keccak_part){domain, 2};
    parts[2] = (struct keccak_part){variant->context, variant->context_size};
}

static bool begin(const struct work *work, EVP_MD_CTX *digest)
{
    uint8_t tr[ML_DSA_TR], domain[2];
    struct keccak_part parts[3];
    bool done = true;

    if (work->mechanism->scheme != ML_DSA) {
        return true;
    }
    write_head(work, false, parts, tr, domain);
    for (int i = 0; i < 3; ++i) {
        done = done && EVP_DigestUpdate(digest, parts[i].bytes, parts[i].size) == 1;
    }
    return done;
}

/* The hash function that the message was hashed with. */
static const struct digest *hash_of(const struct work *work)
{
    return digest_of_mechanism(work->mechanism->type == CKM_HASH_ML_DSA ?
                                   work->parameters->ml_dsa.hash :
                                   work->mechanism->digest);
}

/* The representative of a text. */
static CK_RV represent(const struct work *work, struct value text, uint8_t mu[ML_DSA_MU])
{
    uint8_t tr[ML_DSA_TR], domain[2];
    struct keccak_part parts[3];
    struct keccak hash;

    if (work->mechanism->scheme == ML_DSA) {
        memcpy(mu, text.bytes, ML_DSA_MU);
        return CKR_OK;
    }
    if (text.size != hash_of(work)->size) {
        return CKR_DATA_LEN_RANGE;
    }
    write_head(work, true, parts, tr, domain);
    keccak_begin(&hash, SHAKE256_RATE);
    for (int i = 0; i < 3; ++i) {
        keccak_absorb(&hash, parts[i].bytes, parts[i].size);
    }
    keccak_absorb(&hash, digest_identifier(hash_of(work)), DIGEST_IDENTIFIER);
    keccak_absorb(&hash, text.bytes, text.size);
    keccak_end(&hash, SHAKE_SUFFIX);
    keccak_squeeze(&hash, mu, ML_DSA_MU);
    return CKR_OK;
}

/* A signature that is made. */
struct signing {
    const struct lattice_key *key;
    const struct crypto *crypto;
    bool undrawn; /* its random bytes are left to an engine with a source; without one libcrypto draws */
    uint8_t mu[ML_DSA_MU], random[ML_DSA_RANDOM], signature[MAX_ML_DSA_SIGNATURE];
};

/* What has been disturbed may reveal the key: only a right signature leaves. */
static int check_signature(const struct signing *made)
{
    bool valid = false;

    if (!ml_dsa_verify(set_of(made->key), made->key->public, made->mu, made->signature, &valid)) {
        return COPRIME_ERROR_MEMORY;
    }
    return valid ? COPRIME_ERROR_NONE : COPRIME_ERROR_FAULT;
}

/* Draw the random bytes that nobody has drawn yet. */
static int draw(struct signing *wanted)
{
    return !wanted->undrawn || crypto_random(wanted->crypto, wanted->random, sizeof wanted->random) ?
               COPRIME_ERROR_NONE :
               COPRIME_ERROR_RANDOM;
}

static int sign_in_software(void *context)
{
    struct signing *const wanted = context;
    const int error = draw(wanted);

    if (error) {
        return error;
    }
    if (!ml_dsa_sign(set_of(wanted->key), wanted->key->private, wanted->mu, wanted->random,
                     wanted->signature)) {
        return COPRIME_ERROR_MEMORY;
    }
    return check_signature(wanted);
}

/* Both halves stay in the engine, for further signatures, in the set in which they have their lengths:
   an engine that is not built for all sets numbers those that it has. */
static int load_key(struct engine *engine, const struct lattice_key *key)
{
    struct coprime *const driver = engine->driver;
    int error = COPRIME_ERROR_SLOT_LENGTH;

    if (engine->loaded == key->base.number) {
        return COPRIME_ERROR_NONE;
    }
    engine->loaded = 0;
    for (uint32_t number = 0; error == COPRIME_ERROR_SLOT_LENGTH; ++number) {
        error = coprime_parameter_set(driver, number);
        if (!error) {
            error = coprime_ml_dsa_check_key(driver, key->private, (uint32_t)key->set->private_size,
                                             key->public, (uint32_t)key->set->public_size);
        }
    }
    if (!error) {
        engine->loaded = key->base.number;
    }
    return error == COPRIME_ERROR_ADDRESS ? COPRIME_ERROR_UNSUPPORTED : error;
}

static int sign_on_engine(struct engine *engine, void *context)
{
    struct signing *const wanted = context;
    const struct coprime_ml_dsa_message message = {.mu = wanted->mu};
    const bool draws = wanted->undrawn && engine->driver->source != 0;
    int error = draws ? COPRIME_ERROR_NONE : draw(wanted);

    if (!error) {
        error = load_key(engine, wanted->key);
    }
    if (!error) {
        error = coprime_ml_dsa_sign(engine->driver, NULL, 0, &message, draws ? NULL : wanted->random,
                                    wanted->signature, (uint32_t)set_of(wanted->key)->signature);
    }
    return error ? error : check_signature(wanted);
}

static size_t size_of(const struct work *work)
{
    return set_of(lattice_key_of(work->key))->signature;
}

static CK_RV sign(const struct work *work, struct value text, uint8_t *signature)
{
    static const struct device_job job = {
        .sort = STRING_ENGINE,
        .call = COPRIME_ML_DSA_CALL_SIGN,
        .run = sign_on_engine,
        .in_software = sign_in_software,
    };
    const bool hedged = work->parameters->ml_dsa.hedge != CKH_DETERMINISTIC_REQUIRED;
    struct signing wanted = {
        .key = lattice_key_of(work->key),
        .crypto = work->context.crypto,
        .undrawn = hedged && device_draws(work->context.device),
    };
    CK_RV rv = represent(work, text, wanted.mu);

    if (rv == CKR_OK && hedged && !wanted.undrawn &&
        !crypto_random(work->context.crypto, wanted.random, sizeof wanted.random)) {
        rv = CKR_FUNCTION_FAILED;
    }
    if (rv == CKR_OK) {
        rv = device_run(work->context.device, work->key, &job, &wanted);
    }
    if (rv == CKR_OK) {
        memcpy(signature, wanted.signature, size_of(work));
    }
    OPENSSL_cleanse(&wanted, sizeof wanted);
    return rv;
}

static CK_RV verify(const struct work *work, struct value text, struct value signature)
{
    const struct lattice_key *const key = lattice_key_of(work->key);
    uint8_t mu[ML_DSA_MU];
    bool valid;
    CK_RV rv;

    if (signature.size != size_of(work)) {
        return CKR_SIGNATURE_LEN_RANGE;
    }
    rv = represent(work, text, mu);
    if (rv == CKR_OK && !ml_dsa_verify(set_of(key), key->public, mu, signature.bytes, &valid)) {
        rv = CKR_HOST_MEMORY;
    }
    return rv == CKR_OK && !valid ? CKR_SIGNATURE_INVALID : rv;
}

const struct scheme_functions ml_dsa_functions = {
    .begin = begin,
    .size = size_of,
    .sign = sign,
    .verify = verify,
};

/* The kind. */

/* A pair in secret memory, and the public key that software finds for the private one. */
struct pair {
    uint8_t seed[ML_DSA_SEED], pk[MAX_ML_DSA_PK], sk[MAX_ML_DSA_SK], found_pk[MAX_ML_DSA_PK];
};

/* A pair from random bytes that leave the engine only as this pair. */
static int draw_pair(struct coprime *driver, const struct lattice_set *set, struct pair *pair)
{
    const uint32_t pk_size = (uint32_t)set->public_size;
    int error = coprime_ml_dsa_select(driver, pair->pk, pk_size);

    if (!error) {
        error = coprime_ml_dsa_key_pair(driver, NULL, pair->pk, pk_size, pair->sk,
                                        (uint32_t)set->private_size);
    }
    if (!error && (!ml_dsa_public_of(set->algorithm, pair->sk, pair->found_pk) ||
                   memcmp(pair->pk, pair->found_pk, pk_size) != 0)) {
        error = COPRIME_ERROR_FAULT;
    }
    return error ? error : coprime_wipe(driver);
}

static CK_RV draw_on_device(const struct maker *maker, const struct lattice_set *set,
                            struct pair *pair)
{
    static const struct device_job job = {.sort = STRING_ENGINE,
                                          .call = COPRIME_ML_DSA_CALL_SIGN};
    struct engine *engine;
    int error;
    const CK_RV rv =
        device_take_drawing(maker->device, 0, &job, maker->cancel, &engine, &error);

    if (rv != CKR_OK) {
        return rv;
    }
    if (!error) {
        engine->loaded = 0;
        error = draw_pair(engine->driver, set, pair);
    }
    device_give_back(maker->device, engine, error);
    return device_result_of(error);
}

static CK_RV generate(const struct maker *maker, struct attributes halves[2])
{
    const struct lattice_set *const set = lattice_set_of(&scheme, &halves[0]);
    struct pair *const pair = secret_allocate(sizeof *pair);
    CK_RV rv = CKR_HOST_MEMORY;

    if (pair && device_draws(maker->device)) {
        rv = draw_on_device(maker, set, pair);
        if (rv == CKR_OK) {
            rv = lattice_set_pair(&scheme, set, NULL, pair->pk, pair->sk, halves);
        }
    } else if (pair && !crypto_random(maker->crypto, pair->seed, sizeof pair->seed)) {
        rv = CKR_FUNCTION_FAILED;
    } else if (pair && ml_dsa_key_pair(set->algorithm, pair->seed, pair->pk, pair->sk)) {
        rv = lattice_set_pair(&scheme, set, pair->seed, pair->pk, pair->sk, halves);
    }
    secret_free(pair);
    return rv;
}

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

const struct key_kind ml_dsa_kind = {
    .type = CKK_ML_DSA,
    .public_half = {lattice_attributes, 2},
    .private_half = {lattice_attributes, 3},
    .secret = CKA_VALUE,
    .common = UNAVAILABLE,
    .reads = CKA_DECRYPT,
    .rights = RIGHT_SIGN,
    .is_complete = lattice_is_complete,
    .make = make,
    .complete = complete,
    .check_pair = check_pair,
    .generate = generate,
    .identify = lattice_identify,
    .encode = encode,
    .decode = decode,
};
