/* Source: PKCS #11 Profiles 3.0, section 5. CKP_PUBLIC_CERTIFICATES_TOKEN is not here: whether every
   certificate can be found without a login, and has its key's CKA_ID, is up to who writes them. */
#include "profiles.h"

#include <stdio.h>
#include <string.h>

static const struct {
    CK_PROFILE_ID id;
    const char *label;
} profiles[] = {
    {CKP_BASELINE_PROVIDER, "Baseline Provider"},
    {CKP_EXTENDED_PROVIDER, "Extended Provider"},
    {CKP_AUTHENTICATION_TOKEN, "Authentication Token"},
};

static bool add(struct token *token, CK_PROFILE_ID id, const char *label)
{
    struct attributes list = {0};
    char unique[32];
    const int size = snprintf(unique, sizeof unique, "profile-%lu", id);

    if (attributes_set_ulong(&list, CKA_CLASS, CKO_PROFILE) &&
        attributes_set_bool(&list, CKA_TOKEN, true) &&
        attributes_set_bool(&list, CKA_PRIVATE, false) &&
        attributes_set_bool(&list, CKA_MODIFIABLE, false) &&
        attributes_set_bool(&list, CKA_COPYABLE, false) &&
        attributes_set_bool(&list, CKA_DESTROYABLE, false) &&
        attributes_set(&list, CKA_LABEL, label, strlen(label)) &&
        attributes_set(&list, CKA_UNIQUE_ID, unique, (size_t)size) &&
        attributes_set_ulong(&list, CKA_PROFILE_ID, id)) {
        return token_add_fixed(token, &list);
    }
    attributes_free(&list);
    return false;
}

bool profiles_add(struct token *token)
{
    bool added = true;

    for (size_t i = 0; added && i < sizeof profiles / sizeof *profiles; ++i) {
        added = add(token, profiles[i].id, profiles[i].label);
    }
    return added;
}
