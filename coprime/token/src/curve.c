#include "curve.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/objects.h>

#include "secret.h"

#define WEIERSTRASS(name, bits, driver) \
    {CKK_EC, name, NULL, NULL, bits, ((bits) + 7) / 8, 2 * (((bits) + 7) / 8), &coprime_##driver}

static const struct curve curves[CURVES] = {
    WEIERSTRASS("prime256v1", 256, p_256),
    WEIERSTRASS("secp384r1", 384, p_384),
    WEIERSTRASS("secp521r1", 521, p_521),
    WEIERSTRASS("secp224r1", 224, p_224),
    WEIERSTRASS("secp256k1", 256, secp256k1),
    WEIERSTRASS("brainpoolP224r1", 224, brainpoolp224r1),
    WEIERSTRASS("brainpoolP256r1", 256, brainpoolp256r1),
    WEIERSTRASS("brainpoolP320r1", 320, brainpoolp320r1),
    WEIERSTRASS("brainpoolP384r1", 384, brainpoolp384r1),
    WEIERSTRASS("brainpoolP512r1", 512, brainpoolp512r1),
    {CKK_EC_EDWARDS, "ED25519", "edwards25519", "1.3.6.1.4.1.11591.15.1", 255, 32, 64, &coprime_ed25519},
    {CKK_EC_EDWARDS, "ED448", "edwards448", NULL, 448, 57, 114, &coprime_ed448},
    {CKK_EC_MONTGOMERY, "X25519", "curve25519", "1.3.6.1.4.1.3029.1.5.1", 255, 32, 0, &coprime_x25519},
    {CKK_EC_MONTGOMERY, "X448", "curve448", NULL, 448, 56, 0, &coprime_x448},
};

enum { PRINTABLE_STRING = 0x13, OCTET_STRING = 0x04, UNCOMPRESSED = 0x04 };

unsigned curve_index(const struct curve *curve)
{
    return (unsigned)(curve - curves);
}

/* Whether the parameters are a PrintableString of this text. OpenSC 0.23 writes its length one too
   great. */
static bool is_text(struct value parameters, const char *text)
{
    const size_t size = text ? strlen(text) : 0;

    return size && parameters.size == 2 + size && parameters.bytes[0] == PRINTABLE_STRING &&
           (parameters.bytes[1] == size || parameters.bytes[1] == size + 1) &&
           memcmp(parameters.bytes + 2, text, size) == 0;
}

/* Whether an OBJECT IDENTIFIER is that of a curve. */
static bool is_identifier(const struct curve *curve, const ASN1_OBJECT *object)
{
    char text[64];

    return OBJ_obj2nid(object) == OBJ_sn2nid(curve->name) ||
           (curve->identifier && OBJ_obj2txt(text, sizeof text, object, 1) > 0 &&
            strcmp(text, curve->identifier) == 0);
}

const struct curve *curve_named(CK_KEY_TYPE type, struct value parameters)
{
    const unsigned char *place = parameters.bytes;
    const bool any = parameters.bytes && parameters.size > 2 && parameters.size < 64;
    ASN1_OBJECT *const object = any ? d2i_ASN1_OBJECT(NULL, &place, (long)parameters.size) : NULL;
    const bool is_whole = object && place == parameters.bytes + parameters.size;
    const struct curve *found = NULL;

    for (unsigned i = 0; any && i < CURVES && found == NULL; ++i) {
        const struct curve *const curve = &curves[i];

        if (curve->type == type && (is_text(parameters, curve->text) ||
                                    (is_whole && is_identifier(curve, object)))) {
            found = curve;
        }
    }
    ASN1_OBJECT_free(object);
    return found;
}

const struct curve *curve_of_libcrypto(const char *name)
{
    for (unsigned i = 0; i < CURVES; ++i) {
        if (OPENSSL_strcasecmp(curves[i].name, name) == 0) {
            return &curves[i];
        }
    }
    return NULL;
}

bool curve_set_parameters(const struct curve *curve, struct attributes *attributes)
{
    unsigned char *encoded = NULL;
    const int size = i2d_ASN1_OBJECT(OBJ_nid2obj(OBJ_sn2nid(curve->name)), &encoded);
    const bool set =
        size > 0 && attributes_set(attributes, CKA_EC_PARAMS, encoded, (size_t)size);

    OPENSSL_free(encoded);
    return set;
}

/* Bytes of the head of an OCTET STRING that is all of the value; 0 if it is none. Up to 127 bytes the
   length is one byte, and up to 255, which no point exceeds, two. */
static size_t head_of(struct value value)
{
    if (value.size < 2 || value.bytes[0] != OCTET_STRING) {
        return 0;
    }
    if (value.bytes[1] < 0x80) {
        return value.size == 2u + value.bytes[1] ? 2 : 0;
    }
    return value.size > 3 && value.bytes[1] == 0x81 && value.size == 3u + value.bytes[2] ? 3 : 0;
}

void curve_strip_point(const struct curve *curve, struct value *point)
{
    const size_t head = head_of(*point);
    const bool is_bare = curve->type == CKK_EC ?
                             point->size == 1 + 2 * curve->bytes && point->bytes[0] == UNCOMPRESSED :
                             point->size == curve->bytes;

    if (head && !is_bare) {
        point->bytes += head;
        point->size -= head;
    }
}

BIGNUM *curve_number(const struct curve *curve, const uint32_t *words)
{
    const size_t count = COPRIME_WORDS(curve->bits);
    uint8_t bytes[4 * MAX_CURVE_WORDS];
    BIGNUM *const number = coprime_to_bytes(bytes, 4 * count, words, count) ?
                               NULL :
                               BN_bin2bn(bytes, (int)(4 * count), NULL);

    OPENSSL_cleanse(bytes, sizeof bytes);
    return number;
}

bool curve_words(const struct curve *curve, const BIGNUM *number, uint32_t *words)
{
    const size_t count = COPRIME_WORDS(curve->bits);
    uint8_t bytes[4 * MAX_CURVE_WORDS];
    const bool fits = BN_bn2binpad(number, bytes, (int)(4 * count)) >= 0 &&
                      coprime_from_bytes(words, count, bytes, 4 * count) == 0;

    OPENSSL_cleanse(bytes, sizeof bytes);
    return fits;
}
