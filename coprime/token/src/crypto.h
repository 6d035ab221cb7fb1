/* The token's use of libcrypto, in a library context of its own.

   The application's context is not used: there the application may have put a provider or an engine
   that leads back to this module. */
#ifndef COPRIME_TOKEN_CRYPTO_H
#define COPRIME_TOKEN_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "cryptoki.h"

enum { SEAL_KEY = 32, SEAL_NONCE = 12, SEAL_TAG = 16, SALT = 16 };

/* Bytes of a sealed text of `size` bytes. */
#define SEALED(size) (SEAL_NONCE + (size) + SEAL_TAG)

/* A hash function with its names in PKCS #11, and the head of its DigestInfo (RFC 8017, 9.2). */
struct digest {
    CK_MECHANISM_TYPE mechanism;
    CK_RSA_PKCS_MGF_TYPE mgf;
    const char *name;
    bool extends; /* its output has any length; `size` is what is used here */
    size_t size;
    size_t info_size;
    uint8_t info[19];
};

enum { DIGESTS = 11, MAX_DIGEST = 64 };

struct crypto {
    OSSL_LIB_CTX *context;
    EVP_MD *md[DIGESTS];
    EVP_CIPHER *gcm;
};

/* The parameters of scrypt, which the store keeps beside each PIN. */
struct derivation {
    uint32_t log_n, r, p;
    uint8_t salt[SALT];
};

/* Get everything that is fetched; false if libcrypto lacks it. Closing twice is allowed. */
bool crypto_open(struct crypto *crypto);
void crypto_close(struct crypto *crypto);

/* The hash function of this mechanism, or mask generation function; null if there is none. */
const struct digest *digest_of(CK_MECHANISM_TYPE mechanism);
const struct digest *digest_of_mgf(CK_RSA_PKCS_MGF_TYPE mgf);
const EVP_MD *digest_md(const struct crypto *crypto, const struct digest *digest);

/* The one that a mechanism computes itself: also SHAKE128 and SHAKE256, which have no mechanism of their
   own, by the names that ML-DSA has for them. */
const struct digest *digest_of_mechanism(CK_MECHANISM_TYPE mechanism);
/* The DER of its OBJECT IDENTIFIER, of the arc that NIST has for hash functions; null for SHA-1. */
enum { DIGEST_IDENTIFIER = 11 };
const uint8_t *digest_identifier(const struct digest *digest);

bool digest_finish(const struct digest *digest, EVP_MD_CTX *context, uint8_t *result);

/* Digest of a string; and of HMAC with a key. */
bool crypto_digest(const struct crypto *crypto, const struct digest *digest, const uint8_t *bytes,
                   size_t size, uint8_t *result);
bool crypto_hmac_sha256(const struct crypto *crypto, const uint8_t *key, size_t key_size,
                        const uint8_t *bytes, size_t size, uint8_t result[32]);

/* Begin HMAC, or CMAC with a key of AES; null without memory. */
EVP_MAC_CTX *crypto_begin_hmac(const struct crypto *crypto, const struct digest *digest,
                               const uint8_t *key, size_t key_size);
EVP_MAC_CTX *crypto_begin_cmac(const struct crypto *crypto, const uint8_t *key, size_t key_size);

bool crypto_random(const struct crypto *crypto, uint8_t *bytes, size_t size);
bool crypto_add_seed(const struct crypto *crypto, const uint8_t *bytes, size_t size);

/* Whether crypto_derive takes these parameters: N up to 2^18, so that no file asks for more than
   256 MB of memory, r = 8, p up to 4. */
bool crypto_can_derive(const struct derivation *derivation);

/* A key from a PIN, slowly: scrypt (RFC 7914). */
bool crypto_derive(const struct crypto *crypto, const struct derivation *derivation,
                   const uint8_t *pin, size_t size, uint8_t key[SEAL_KEY]);

/* AES-256-GCM: nonce, ciphertext and tag, SEALED(size) bytes. `bound` is authenticated, too. */
bool crypto_seal(const struct crypto *crypto, const uint8_t key[SEAL_KEY], const uint8_t *bound,
                 size_t bound_size, const uint8_t *plain, size_t size, uint8_t *sealed);
/* The same back: `sealed_size` is that of all; false if anything was changed. */
bool crypto_unseal(const struct crypto *crypto, const uint8_t key[SEAL_KEY], const uint8_t *bound,
                   size_t bound_size, const uint8_t *sealed, size_t sealed_size, uint8_t *plain);

#endif
