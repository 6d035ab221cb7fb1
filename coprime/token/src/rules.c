#include "rules.h"

#include <string.h>

#include "debug.h"
#include "key_kinds.h"
#include "secret_kind.h"

/* Classes, as bits. */
enum {
    DATA = 1,
    CERTIFICATE = 2,
    PUBLIC = 4,
    PRIVATE = 8,
    SECRET = 16,
    PROFILE = 32,
    HIDEABLE = PRIVATE | SECRET,
    KEYS = PUBLIC | HIDEABLE,
    ALL = DATA | CERTIFICATE | KEYS | PROFILE,
};

/* Forms of values. An integer has its highest byte first; zeros in front of it mean nothing. A
   template is an array of CK_ATTRIBUTE for callers, and a list here. */
enum form { BOOLEAN, NUMBER, INTEGER, BYTES, DATE, NUMBERS, TEMPLATE };

/* What an attribute has that no template names. */
enum otherwise { NOTHING, NO, YES, EMPTY };

/* Where a template may name it. */
enum {
    MADE = CREATED | GENERATED | UNWRAPPED | DERIVED,
    ANYWHERE = MADE | COPIED | CHANGED,
    IMPORTED = CREATED,
    NOWHERE = 0,
};

struct rule {
    CK_ATTRIBUTE_TYPE type;
    unsigned classes, origins;
    enum form form;
    enum otherwise otherwise;
    bool hidden; /* of a key that is sensitive or cannot be extracted */
};

static const struct rule rules[] = {
    {CKA_CLASS, ALL, MADE, NUMBER, NOTHING, false},
    {CKA_TOKEN, ALL, MADE | COPIED, BOOLEAN, NO, false},
    {CKA_PRIVATE, ALL & ~(unsigned)HIDEABLE, MADE | COPIED, BOOLEAN, NO, false},
    {CKA_PRIVATE, HIDEABLE, MADE | COPIED, BOOLEAN, YES, false},
    {CKA_MODIFIABLE, ALL, MADE | COPIED, BOOLEAN, YES, false},
    {CKA_COPYABLE, ALL, MADE | COPIED, BOOLEAN, YES, false},
    {CKA_DESTROYABLE, ALL, MADE | COPIED, BOOLEAN, YES, false},
    {CKA_LABEL, ALL, ANYWHERE, BYTES, EMPTY, false},
    {CKA_UNIQUE_ID, ALL, NOWHERE, BYTES, NOTHING, false},

    {CKA_PROFILE_ID, PROFILE, NOWHERE, NUMBER, NOTHING, false},

    {CKA_APPLICATION, DATA, ANYWHERE, BYTES, EMPTY, false},
    {CKA_OBJECT_ID, DATA, ANYWHERE, BYTES, EMPTY, false},
    {CKA_VALUE, DATA, ANYWHERE, BYTES, EMPTY, false},
    {CKA_VALUE_LEN, DATA, DERIVED, NUMBER, NOTHING, false},

    {CKA_CERTIFICATE_TYPE, CERTIFICATE, IMPORTED, NUMBER, NOTHING, false},
    {CKA_CERTIFICATE_CATEGORY, CERTIFICATE, IMPORTED, NUMBER, NO, false},
    {CKA_VALUE, CERTIFICATE, IMPORTED, BYTES, EMPTY, false},
    {CKA_ISSUER, CERTIFICATE, IMPORTED | CHANGED | COPIED, BYTES, EMPTY, false},
    {CKA_SERIAL_NUMBER, CERTIFICATE, IMPORTED | CHANGED | COPIED, BYTES, EMPTY, false},
    {CKA_URL, CERTIFICATE, IMPORTED, BYTES, EMPTY, false},
    {CKA_HASH_OF_SUBJECT_PUBLIC_KEY, CERTIFICATE, IMPORTED, BYTES, EMPTY, false},
    {CKA_HASH_OF_ISSUER_PUBLIC_KEY, CERTIFICATE, IMPORTED, BYTES, EMPTY, false},
    {CKA_NAME_HASH_ALGORITHM, CERTIFICATE, IMPORTED, NUMBER, NOTHING, false},
    {CKA_JAVA_MIDP_SECURITY_DOMAIN, CERTIFICATE, IMPORTED, NUMBER, NO, false},

    {CKA_TRUSTED, CERTIFICATE | PUBLIC | SECRET, ANYWHERE, BOOLEAN, NO, false},
    {CKA_CHECK_VALUE, CERTIFICATE | SECRET, IMPORTED, BYTES, EMPTY, false},
    {CKA_PUBLIC_KEY_INFO, CERTIFICATE | PUBLIC | PRIVATE, MADE, BYTES, EMPTY, false},
    {CKA_START_DATE, CERTIFICATE | KEYS, ANYWHERE, DATE, EMPTY, false},
    {CKA_END_DATE, CERTIFICATE | KEYS, ANYWHERE, DATE, EMPTY, false},
    {CKA_SUBJECT, CERTIFICATE | PUBLIC | PRIVATE, ANYWHERE, BYTES, EMPTY, false},
    {CKA_ID, CERTIFICATE | KEYS, ANYWHERE, BYTES, EMPTY, false},

    {CKA_KEY_TYPE, KEYS, MADE, NUMBER, NOTHING, false},
    {CKA_DERIVE, PUBLIC | SECRET, ANYWHERE, BOOLEAN, NO, false},
    {CKA_LOCAL, KEYS, NOWHERE, BOOLEAN, NO, false},
    {CKA_KEY_GEN_MECHANISM, KEYS, NOWHERE, NUMBER, NOTHING, false},
    {CKA_ALLOWED_MECHANISMS, KEYS, MADE, NUMBERS, NOTHING, false},
    {CKA_ENCRYPT, PUBLIC | SECRET, ANYWHERE, BOOLEAN, YES, false},
    {CKA_VERIFY, PUBLIC | SECRET, ANYWHERE, BOOLEAN, YES, false},
    {CKA_VERIFY_RECOVER, PUBLIC, ANYWHERE, BOOLEAN, NO, false},
    {CKA_WRAP, PUBLIC, ANYWHERE, BOOLEAN, NO, false},
    /* What a key that wraps or unwraps keys is trusted with depends on these: they never change. */
    {CKA_WRAP, SECRET, MADE, BOOLEAN, NO, false},
    {CKA_DECRYPT, HIDEABLE, MADE, BOOLEAN, YES, false},
    {CKA_DERIVE, PRIVATE, MADE, BOOLEAN, NO, false},
    {CKA_ENCAPSULATE, PUBLIC, ANYWHERE, BOOLEAN, NO, false},
    {CKA_DECAPSULATE, PRIVATE, ANYWHERE, BOOLEAN, NO, false},
    {CKA_ENCAPSULATE_TEMPLATE, PUBLIC, MADE, TEMPLATE, NOTHING, false},
    {CKA_DECAPSULATE_TEMPLATE, PRIVATE, MADE, TEMPLATE, NOTHING, false},
    {CKA_SIGN, HIDEABLE, ANYWHERE, BOOLEAN, YES, false},
    {CKA_SIGN_RECOVER, PRIVATE, ANYWHERE, BOOLEAN, NO, false},
    {CKA_UNWRAP, SECRET, ANYWHERE, BOOLEAN, NO, false},
    {CKA_UNWRAP, PRIVATE, MADE, BOOLEAN, NO, false},
    {CKA_WRAP_TEMPLATE, PUBLIC | SECRET, MADE, TEMPLATE, NOTHING, false},
    {CKA_UNWRAP_TEMPLATE, HIDEABLE, MADE, TEMPLATE, NOTHING, false},
    {CKA_SENSITIVE, HIDEABLE, ANYWHERE, BOOLEAN, YES, false},
    {CKA_EXTRACTABLE, HIDEABLE, ANYWHERE, BOOLEAN, NO, false},
    {CKA_ALWAYS_SENSITIVE, HIDEABLE, NOWHERE, BOOLEAN, NO, false},
    {CKA_NEVER_EXTRACTABLE, HIDEABLE, NOWHERE, BOOLEAN, NO, false},
    {CKA_WRAP_WITH_TRUSTED, HIDEABLE, ANYWHERE, BOOLEAN, NO, false},
    {CKA_ALWAYS_AUTHENTICATE, PRIVATE, MADE | COPIED, BOOLEAN, NO, false},

    {CKA_MODULUS, PUBLIC | PRIVATE, IMPORTED, INTEGER, NOTHING, false},
    {CKA_MODULUS_BITS, PUBLIC, GENERATED, NUMBER, NOTHING, false},
    {CKA_PUBLIC_EXPONENT, PUBLIC, IMPORTED | GENERATED, INTEGER, NOTHING, false},
    {CKA_PUBLIC_EXPONENT, PRIVATE, IMPORTED, INTEGER, NOTHING, false},
    {CKA_PRIVATE_EXPONENT, PRIVATE, IMPORTED, INTEGER, NOTHING, true},
    {CKA_PRIME_1, PRIVATE, IMPORTED, INTEGER, NOTHING, true},
    {CKA_PRIME_2, PRIVATE, IMPORTED, INTEGER, NOTHING, true},
    {CKA_EXPONENT_1, PRIVATE, IMPORTED, INTEGER, NOTHING, true},
    {CKA_EXPONENT_2, PRIVATE, IMPORTED, INTEGER, NOTHING, true},
    {CKA_COEFFICIENT, PRIVATE, IMPORTED, INTEGER, NOTHING, true},

    {CKA_EC_PARAMS, PUBLIC | PRIVATE, IMPORTED | GENERATED, BYTES, NOTHING, false},
    {CKA_EC_POINT, PUBLIC | PRIVATE, IMPORTED, BYTES, NOTHING, false},
    {CKA_VALUE, PUBLIC, IMPORTED, BYTES, NOTHING, false},
    {CKA_VALUE, PRIVATE, IMPORTED, BYTES, NOTHING, true},

    {CKA_PARAMETER_SET, PUBLIC | PRIVATE, MADE, NUMBER, NOTHING, false},
    {CKA_SEED, PRIVATE, IMPORTED, BYTES, NOTHING, true},

    {CKA_VALUE, SECRET, IMPORTED, BYTES, NOTHING, true},
    {CKA_VALUE_LEN, SECRET, GENERATED | UNWRAPPED | DERIVED, NUMBER, NOTHING, false},
};

enum { RULES = sizeof rules / sizeof *rules, MAX_ATTRIBUTE = 1 << 20, MAX_INTEGER = 4096 / 8 };

static unsigned class_bit(CK_OBJECT_CLASS class)
{
    switch (class) {
    case CKO_DATA:
        return DATA;
    case CKO_CERTIFICATE:
        return CERTIFICATE;
    case CKO_PUBLIC_KEY:
        return PUBLIC;
    case CKO_PRIVATE_KEY:
        return PRIVATE;
    case CKO_SECRET_KEY:
        return SECRET;
    case CKO_PROFILE:
        return PROFILE;
    default:
        return 0;
    }
}

bool rules_makes_class(CK_OBJECT_CLASS class)
{
    return class_bit(class) & (ALL & ~(unsigned)PROFILE);
}

/* The rule of an attribute in a class; null if it has none. */
static const struct rule *rule_of(CK_ATTRIBUTE_TYPE type, unsigned class, bool *known)
{
    *known = false;
    for (size_t i = 0; i < RULES; ++i) {
        if (rules[i].type == type) {
            *known = true;
            if (rules[i].classes & class) {
                return &rules[i];
            }
        }
    }
    return NULL;
}

static bool are_equal(struct value a, struct value b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

/* Leave out the zeros in front of an integer. */
static struct value integer_of(const void *bytes, size_t size)
{
    struct value value = {bytes, size};

    while (value.size > 0 && value.bytes[0] == 0) {
        ++value.bytes;
        --value.size;
    }
    return value;
}

static bool has_form(struct value value, enum form form)
{
    const size_t size = value.size;

    if (size > MAX_ATTRIBUTE || (value.bytes == NULL && size > 0)) {
        return false;
    }
    switch (form) {
    case BOOLEAN:
        return size == sizeof(CK_BBOOL) && value.bytes[0] <= CK_TRUE;
    case NUMBER:
        return size == sizeof(CK_ULONG);
    case NUMBERS:
        return size % sizeof(CK_ULONG) == 0;
    case INTEGER:
        return size > 0;
    case DATE:
        return size == 0 || size == sizeof(CK_DATE);
    default:
        return true;
    }
}

bool rules_is_nested(CK_ATTRIBUTE_TYPE type)
{
    return type == CKA_WRAP_TEMPLATE || type == CKA_UNWRAP_TEMPLATE ||
           type == CKA_ENCAPSULATE_TEMPLATE || type == CKA_DECAPSULATE_TEMPLATE;
}

/* Whether an attribute with this value may be in a template for keys that are wrapped or unwrapped. */
static bool may_be_nested(CK_ATTRIBUTE_TYPE type, struct value value)
{
    bool known;
    const struct rule *const rule = rule_of(type, HIDEABLE, &known);

    return rule && rule->form != TEMPLATE && has_form(value, rule->form);
}

/* Make a list of an array of CK_ATTRIBUTE. False without memory, or if it has an attribute that may
   not be there, or one twice. */
static bool encode_nested(struct attributes *list, struct value array)
{
    CK_ATTRIBUTE item;

    if (array.size % sizeof item || array.size > MAX_NESTED * sizeof item ||
        (array.bytes == NULL && array.size)) {
        return false;
    }
    for (size_t at = 0; at < array.size; at += sizeof item) {
        struct value value;
        bool known;

        memcpy(&item, array.bytes + at, sizeof item);
        value = (struct value){item.pValue, item.ulValueLen};
        if (!may_be_nested(item.type, value) || attributes_get(list, item.type).bytes) {
            return false;
        }
        if (rule_of(item.type, HIDEABLE, &known)->form == INTEGER) {
            value = integer_of(value.bytes, value.size);
        }
        if (!may_be_nested(item.type, value)) { /* zero is no number of a key */
            return false;
        }
        if (!attributes_set(list, item.type, value.bytes, value.size)) {
            return false;
        }
    }
    return list->size <= MAX_ATTRIBUTE;
}

bool nested_read(struct nested *nested, const struct attributes *attributes,
                 CK_ATTRIBUTE_TYPE type)
{
    const struct value stored = attributes_get(attributes, type);
    CK_ATTRIBUTE_TYPE found;
    struct value value;
    size_t place = 0;

    memset(nested, 0, sizeof *nested);
    if (stored.bytes == NULL) {
        return true;
    }
    if (!attributes_parse(&nested->list, stored.bytes, stored.size, true)) {
        return false;
    }
    while (attributes_next(&nested->list, &place, &found, &value)) {
        if (nested->count == MAX_NESTED || !may_be_nested(found, value) ||
            template_find(nested->items, nested->count, found)) {
            attributes_free(&nested->list);
            return false;
        }
        nested->items[nested->count++] = (CK_ATTRIBUTE){found, (void *)value.bytes, value.size};
    }
    return true;
}

/* Whether a stored template can be read. */
static bool is_sound_template(const struct attributes *list, CK_ATTRIBUTE_TYPE type)
{
    struct nested nested;
    const bool sound = nested_read(&nested, list, type);

    attributes_free(&nested.list);
    return sound;
}

/* Set a value of the rule's form. */
static CK_RV change(struct attributes *attributes, const struct rule *rule, struct value value,
                    enum origin origin)
{
    const struct value old = attributes_get(attributes, rule->type);

    if (old.bytes && are_equal(old, value)) {
        return CKR_OK; /* as it is */
    }
    if (!(rule->origins & (unsigned)origin)) {
        return origin & MADE && rule->origins != NOWHERE ? CKR_TEMPLATE_INCONSISTENT :
                                                           CKR_ATTRIBUTE_READ_ONLY;
    }
    if (old.bytes && origin & MADE) {
        return CKR_TEMPLATE_INCONSISTENT; /* twice, and not the same */
    }
    if (old.bytes && rule->form == BOOLEAN) {
        const bool now = old.bytes[0] != CK_FALSE;

        /* These change in one direction only. */
        if ((now && (rule->type == CKA_SENSITIVE || rule->type == CKA_WRAP_WITH_TRUSTED ||
                     rule->type == CKA_PRIVATE || rule->type == CKA_ALWAYS_AUTHENTICATE)) ||
            (!now && (rule->type == CKA_EXTRACTABLE || rule->type == CKA_COPYABLE ||
                      rule->type == CKA_MODIFIABLE))) {
            return CKR_ATTRIBUTE_READ_ONLY;
        }
    }
    return attributes_set(attributes, rule->type, value.bytes, value.size) ? CKR_OK :
                                                                             CKR_HOST_MEMORY;
}

static CK_RV apply(struct attributes *attributes, const struct rule *rule,
                   const CK_ATTRIBUTE *attribute, enum origin origin)
{
    struct value value = {attribute->pValue, attribute->ulValueLen};
    struct attributes nested = {.secret = true};
    CK_RV rv = CKR_ATTRIBUTE_VALUE_INVALID;

    if (rule->form == TEMPLATE) {
        if (encode_nested(&nested, value)) {
            rv = change(attributes, rule, (struct value){nested.bytes, nested.size}, origin);
        }
    } else if (has_form(value, rule->form)) {
        if (rule->form == INTEGER) {
            value = integer_of(value.bytes, value.size);
        }
        rv = change(attributes, rule, value, origin);
    }
    attributes_free(&nested);
    return rv;
}

CK_RV rules_apply(struct attributes *attributes, CK_OBJECT_CLASS class, enum origin origin,
                  const CK_ATTRIBUTE *template, CK_ULONG count)
{
    for (CK_ULONG i = 0; i < count; ++i) {
        bool known;
        const struct rule *const rule = rule_of(template[i].type, class_bit(class), &known);
        CK_RV rv;

        if (rule == NULL) {
            rv = known && origin & MADE ? CKR_TEMPLATE_INCONSISTENT : CKR_ATTRIBUTE_TYPE_INVALID;
        } else {
            rv = apply(attributes, rule, &template[i], origin);
        }
        if (rv != CKR_OK) {
            debug_say("template: attribute %#lx of an object of class %#lx: error %#lx",
                      template[i].type, class, rv);
            return rv;
        }
    }
    return CKR_OK;
}

bool rules_reads(const struct attributes *key, bool otherwise)
{
    const struct key_kind *const kind = key_kind_of_object(key);

    return attributes_bool(key, kind ? kind->reads : CKA_DECRYPT, otherwise);
}

/* What keys may do: those of one half by their kind, secret keys everything. */
static unsigned rights_of(const struct attributes *attributes, unsigned class)
{
    const struct key_kind *const kind = key_kind_of_object(attributes);

    return class & (PUBLIC | PRIVATE) && kind ? kind->rights : ~(unsigned)RIGHT_DERIVE;
}

/* What a boolean is by default. Who can decrypt with a key that wraps reads what it wraps, and who can
   encrypt with one that unwraps chooses what it unwraps: no template gets that without asking. */
static bool boolean_by_default(const struct attributes *attributes, const struct rule *rule,
                               unsigned class)
{
    const bool unwraps = attributes_bool(attributes, CKA_UNWRAP, false);
    const bool wraps = attributes_bool(attributes, CKA_WRAP, false);
    const unsigned rights = rights_of(attributes, class);

    switch (rule->type) {
    case CKA_DECRYPT:
        return rights & RIGHT_ENCRYPT && !unwraps && !wraps;
    case CKA_ENCRYPT:
        return rights & RIGHT_ENCRYPT && (class != SECRET || !unwraps);
    case CKA_SIGN:
    case CKA_VERIFY: /* with AES it is encryption */
        return rights & RIGHT_SIGN && (class != SECRET || !(unwraps || wraps));
    case CKA_DERIVE:
        return class == PRIVATE && rights & RIGHT_DERIVE && !unwraps;
    case CKA_ENCAPSULATE:
    case CKA_DECAPSULATE:
        return rights & RIGHT_ENCAPSULATE;
    default:
        return rule->otherwise == YES;
    }
}

/* Whether a key of two halves has an attribute of a key of another kind. */
static bool has_foreign(const struct attributes *attributes, unsigned class)
{
    const struct key_kind *const kind = key_kind_of_object(attributes);

    return class & (PUBLIC | PRIVATE) && kind &&
           key_has_foreign(kind, attributes, class == PRIVATE);
}

bool rules_fit_key(const struct attributes *attributes)
{
    return !has_foreign(attributes,
                        class_bit(attributes_ulong(attributes, CKA_CLASS, UNAVAILABLE)));
}

bool rules_set_defaults(struct attributes *attributes, CK_OBJECT_CLASS class)
{
    const unsigned bit = class_bit(class);

    for (size_t i = 0; i < RULES; ++i) {
        const struct rule *const rule = &rules[i];
        bool set = true;

        if (!(rule->classes & bit) || rule->otherwise == NOTHING ||
            attributes_get(attributes, rule->type).bytes) {
            continue;
        }
        if (rule->otherwise == EMPTY) {
            set = attributes_set(attributes, rule->type, NULL, 0);
        } else if (rule->form == NUMBER) {
            set = attributes_set_ulong(attributes, rule->type, 0);
        } else {
            set = attributes_set_bool(attributes, rule->type,
                                      boolean_by_default(attributes, rule, bit));
        }
        if (!set) {
            return false;
        }
    }
    return true;
}

/* Whether a stored value has the form of its rule. No integer is longer than the longest modulus. */
static bool is_sound(struct value value, const struct rule *rule)
{
    return has_form(value, rule->form) && (rule->form != INTEGER || value.size <= MAX_INTEGER);
}

/* Whether a key of two halves has the numbers of its half. */
static bool has_numbers(const struct attributes *list, bool is_private)
{
    const struct key_kind *const kind = key_kind_of_object(list);

    return kind && kind->is_complete(list, is_private);
}

bool rules_accept(const struct attributes *list)
{
    const unsigned class = class_bit(attributes_ulong(list, CKA_CLASS, UNAVAILABLE));
    bool known, seen[RULES] = {false};
    CK_ATTRIBUTE_TYPE type;
    struct value value;
    size_t place = 0;

    while (attributes_next(list, &place, &type, &value)) {
        const struct rule *const rule = rule_of(type, class, &known);

        if (rule == NULL || seen[rule - rules] || !is_sound(value, rule) ||
            (rule->form == TEMPLATE && !is_sound_template(list, type))) {
            return false;
        }
        seen[rule - rules] = true;
    }
    switch (class) {
    case PUBLIC:
        return has_numbers(list, false) && !has_foreign(list, class);
    case PRIVATE:
        return has_numbers(list, true) && !has_foreign(list, class);
    case SECRET:
        return secret_is_complete(list);
    default:
        return class & (DATA | CERTIFICATE);
    }
}

bool rules_hides(const struct attributes *attributes, CK_ATTRIBUTE_TYPE type)
{
    const unsigned class = class_bit(attributes_ulong(attributes, CKA_CLASS, UNAVAILABLE));
    bool hidden = false;

    for (size_t i = 0; i < RULES; ++i) { /* of an unknown class: what any class hides */
        hidden = hidden || (rules[i].type == type && rules[i].hidden &&
                            (class == 0 || rules[i].classes & class));
    }
    return hidden && (attributes_bool(attributes, CKA_SENSITIVE, true) ||
                      !attributes_bool(attributes, CKA_EXTRACTABLE, false));
}

bool rules_bind(const struct attributes *key)
{
    static const CK_ATTRIBUTE_TYPE lists[] = {CKA_ALLOWED_MECHANISMS, CKA_WRAP_TEMPLATE,
                                              CKA_UNWRAP_TEMPLATE, CKA_DECAPSULATE_TEMPLATE};
    const bool is_private = attributes_ulong(key, CKA_CLASS, CKO_DATA) == CKO_PRIVATE_KEY;
    const bool is_aes = attributes_ulong(key, CKA_KEY_TYPE, UNAVAILABLE) == CKK_AES;
    bool bound = attributes_bool(key, CKA_ALWAYS_AUTHENTICATE, false);

    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        bound = bound || attributes_get(key, lists[i]).bytes;
    }
    return bound || ((is_private ? attributes_bool(key, CKA_UNWRAP, false) : is_aes) &&
                     !rules_reads(key, false));
}

/* Whether a stored template is that of a caller. */
static bool is_template(struct value stored, struct value array)
{
    struct attributes list = {.secret = true};
    const bool is = encode_nested(&list, array) &&
                    are_equal(stored, (struct value){list.bytes, list.size});

    attributes_free(&list);
    return is;
}

bool rules_match(const struct attributes *attributes, const CK_ATTRIBUTE *template, CK_ULONG count)
{
    const unsigned class = class_bit(attributes_ulong(attributes, CKA_CLASS, CKO_DATA));

    for (CK_ULONG i = 0; i < count; ++i) {
        bool known;
        const struct rule *const rule = rule_of(template[i].type, class, &known);
        const struct value found = attributes_get(attributes, template[i].type);
        struct value sought = {template[i].pValue, template[i].ulValueLen};

        if (found.bytes == NULL || rules_hides(attributes, template[i].type) ||
            (sought.bytes == NULL && sought.size > 0)) {
            return false;
        }
        if (rule && rule->form == INTEGER) {
            sought = integer_of(sought.bytes, sought.size);
        }
        if (rule && rule->form == TEMPLATE ? !is_template(found, sought) :
                                             !are_equal(found, sought)) {
            return false;
        }
    }
    return true;
}

const CK_ATTRIBUTE *template_find(const CK_ATTRIBUTE *template, CK_ULONG count,
                                  CK_ATTRIBUTE_TYPE type)
{
    for (CK_ULONG i = 0; i < count; ++i) {
        if (template[i].type == type) {
            return &template[i];
        }
    }
    return NULL;
}
