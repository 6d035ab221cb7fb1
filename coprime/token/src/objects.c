/* Objects: creating, copying, changing, destroying, showing and finding them. */
#include "calls.h"
#include "objects.h"

#include <stdlib.h>
#include <string.h>

#include "check_value.h"
#include "key_kinds.h"
#include "mechanism.h"
#include "public_info.h"
#include "rules.h"
#include "secret_kind.h"

CK_RV objects_check_access(const struct session *session, const struct attributes *attributes)
{
    const struct token *const token = session->token;
    const CK_OBJECT_CLASS class = attributes_ulong(attributes, CKA_CLASS, CKO_DATA);
    const bool private = attributes_bool(attributes, CKA_PRIVATE, true);
    const bool of_token = attributes_bool(attributes, CKA_TOKEN, false);

    if (of_token && !session_writes(session)) {
        return CKR_SESSION_READ_ONLY;
    }
    if (private && token->login != USER) {
        return CKR_USER_NOT_LOGGED_IN;
    }
    if (of_token && !private && (class == CKO_PRIVATE_KEY || class == CKO_SECRET_KEY)) {
        return CKR_TEMPLATE_INCONSISTENT; /* it would be readable on the disk */
    }
    return CKR_OK;
}

CK_RV objects_check_trusted(const struct session *session, const CK_ATTRIBUTE *template,
                            CK_ULONG count)
{
    const CK_ATTRIBUTE *const trusted = template_find(template, count, CKA_TRUSTED);

    if (trusted && trusted->pValue && trusted->ulValueLen == sizeof(CK_BBOOL) &&
        *(const CK_BBOOL *)trusted->pValue && session->token->login != OFFICER) {
        return CKR_ATTRIBUTE_READ_ONLY; /* the officer's to say */
    }
    return CKR_OK;
}

/* With the module's lock. What an unwrapping key's template adds is not in the caller's. */
static CK_RV check_new(const struct session *session, const CK_ATTRIBUTE *template, CK_ULONG count,
                       const struct attributes *lists, unsigned lists_count)
{
    CK_RV rv = objects_check_trusted(session, template, count);

    for (unsigned i = 0; rv == CKR_OK && i < lists_count; ++i) {
        if (attributes_bool(&lists[i], CKA_TRUSTED, false) && session->token->login != OFFICER) {
            return CKR_ATTRIBUTE_READ_ONLY;
        }
        rv = objects_check_access(session, &lists[i]);
    }
    return rv;
}

CK_RV objects_check_new(const struct session *session, const CK_ATTRIBUTE *template, CK_ULONG count,
                        const struct attributes *lists, unsigned lists_count)
{
    CK_RV rv;

    module_lock();
    rv = check_new(session, template, count, lists, lists_count);
    module_unlock();
    return rv;
}

static bool set_history(struct attributes *attributes, bool local, CK_MECHANISM_TYPE mechanism)
{
    const CK_OBJECT_CLASS class = attributes_ulong(attributes, CKA_CLASS, CKO_DATA);
    bool set = true;

    if (class == CKO_DATA || class == CKO_CERTIFICATE) {
        return true;
    }
    if (class != CKO_PUBLIC_KEY) {
        const bool sensitive = attributes_bool(attributes, CKA_SENSITIVE, true);
        const bool extractable = attributes_bool(attributes, CKA_EXTRACTABLE, false);

        set = attributes_set_bool(attributes, CKA_ALWAYS_SENSITIVE, local && sensitive) &&
              attributes_set_bool(attributes, CKA_NEVER_EXTRACTABLE, local && !extractable);
    }
    return set && attributes_set_bool(attributes, CKA_LOCAL, local) &&
           attributes_set_ulong(attributes, CKA_KEY_GEN_MECHANISM, mechanism);
}

/* Without a login a key of the session is public unless the template says otherwise: it is stored
   nowhere, and is gone with the session. Clients import keys so before they ask for a PIN. */
static bool set_privacy(const struct session *session, struct attributes *attributes)
{
    bool logged_in;

    if (attributes_get(attributes, CKA_PRIVATE).bytes ||
        attributes_bool(attributes, CKA_TOKEN, false)) {
        return true;
    }
    module_lock();
    logged_in = session->token->login == USER;
    module_unlock();
    return logged_in || attributes_set_bool(attributes, CKA_PRIVATE, false);
}

CK_RV objects_finish(const struct session *session, struct attributes *attributes, bool local,
                     CK_MECHANISM_TYPE mechanism)
{
    const CK_OBJECT_CLASS class = attributes_ulong(attributes, CKA_CLASS, CKO_DATA);

    if (!rules_fit_key(attributes)) {
        return CKR_TEMPLATE_INCONSISTENT;
    }
    if (!set_privacy(session, attributes) || !rules_set_defaults(attributes, class) || !set_history(attributes, local, mechanism)) {
        return CKR_HOST_MEMORY;
    }
    return CKR_OK;
}

static CK_RV check_certificate(const struct crypto *crypto, const struct attributes *attributes)
{
    CK_RV rv;

    if (attributes_get(attributes, CKA_CERTIFICATE_TYPE).bytes == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (attributes_ulong(attributes, CKA_CERTIFICATE_TYPE, 0) != CKC_X_509) {
        return CKR_ATTRIBUTE_VALUE_INVALID;
    }
    rv = check_value_test(crypto, attributes);
    return rv == CKR_OK ? public_info_check_certificate(attributes) : rv;
}

/* What a template of C_CreateObject lacks, or has too much. */
static CK_RV complete_created(const struct crypto *crypto, struct attributes *attributes,
                              CK_OBJECT_CLASS class)
{
    switch (class) {
    case CKO_DATA:
        return CKR_OK;
    case CKO_CERTIFICATE:
        return check_certificate(crypto, attributes);
    case CKO_SECRET_KEY:
        return secret_complete(crypto, attributes);
    default:
        return key_complete(crypto, attributes);
    }
}

CK_RV C_CreateObject(CK_SESSION_HANDLE hSession, CK_ATTRIBUTE_PTR pTemplate, CK_ULONG ulCount,
                     CK_OBJECT_HANDLE_PTR phObject)
{
    struct attributes made = {.secret = true};
    const CK_ATTRIBUTE *class_of;
    CK_OBJECT_CLASS class;
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if ((pTemplate == NULL && ulCount) || phObject == NULL) {
        session_end(session);
        return CKR_ARGUMENTS_BAD;
    }
    class_of = template_find(pTemplate, ulCount, CKA_CLASS);
    if (class_of == NULL) {
        rv = CKR_TEMPLATE_INCOMPLETE;
    } else if (class_of->pValue == NULL || class_of->ulValueLen != sizeof class) {
        rv = CKR_ATTRIBUTE_VALUE_INVALID;
    } else {
        memcpy(&class, class_of->pValue, sizeof class);
        rv = rules_makes_class(class) ? CKR_OK : CKR_ATTRIBUTE_VALUE_INVALID;
    }
    if (rv == CKR_OK) {
        rv = rules_apply(&made, class, CREATED, pTemplate, ulCount);
    }
    if (rv == CKR_OK) {
        rv = objects_finish(session, &made, false, CK_UNAVAILABLE_INFORMATION);
    }
    if (rv == CKR_OK) {
        rv = objects_check_new(session, pTemplate, ulCount, &made, 1);
    }
    if (rv == CKR_OK) { /* this may have to find primes, or to test them */
        rv = complete_created(session->token->crypto, &made, class);
    }
    rv = objects_add(session, rv, pTemplate, ulCount, &made, 1, phObject);
    session_end(session);
    return rv;
}

CK_RV objects_add(struct session *session, CK_RV rv, const CK_ATTRIBUTE *template, CK_ULONG count,
                  struct attributes *lists, unsigned lists_count, CK_OBJECT_HANDLE *handles)
{
    module_lock();
    if (rv == CKR_OK && session->closed) {
        rv = CKR_SESSION_CLOSED; /* meanwhile: nobody would remove its objects */
    }
    if (rv == CKR_OK) {
        rv = check_new(session, template, count, lists, lists_count);
    }
    if (rv == CKR_OK) {
        rv = token_add_objects(session->token, session->handle, lists, lists_count, handles);
    } else {
        for (unsigned i = 0; i < lists_count; ++i) {
            attributes_free(&lists[i]);
        }
    }
    module_unlock();
    return rv;
}

/* An object as another process may have changed it; null if it is not there, or cannot be seen. */
struct object *objects_find(struct session *session, CK_OBJECT_HANDLE handle)
{
    (void)token_refresh(session->token);
    return token_find_object(session->token, handle);
}

bool objects_allow(const struct attributes *attributes, CK_MECHANISM_TYPE type)
{
    const struct value list = attributes_get(attributes, CKA_ALLOWED_MECHANISMS);

    if (list.bytes == NULL) {
        return true;
    }
    for (size_t i = 0; i + sizeof type <= list.size; i += sizeof type) {
        CK_MECHANISM_TYPE allowed;

        memcpy(&allowed, list.bytes + i, sizeof allowed);
        if (allowed == type) {
            return true;
        }
    }
    return false;
}

CK_RV objects_find_key(struct session *session, CK_OBJECT_HANDLE handle, CK_OBJECT_CLASS class,
                       CK_ATTRIBUTE_TYPE allowed, CK_MECHANISM_TYPE mechanism,
                       struct object **object)
{
    const struct mechanism *const found = mechanism_find(mechanism);
    const struct attributes *attributes;

    *object = objects_find(session, handle);
    if (*object == NULL) {
        return CKR_KEY_HANDLE_INVALID;
    }
    attributes = &(*object)->attributes;
    if (found == NULL) {
        return CKR_MECHANISM_INVALID;
    }
    if (attributes_ulong(attributes, CKA_CLASS, CKO_DATA) != class ||
        !mechanism_takes(found, attributes_ulong(attributes, CKA_KEY_TYPE, NO_KEY))) {
        return CKR_KEY_TYPE_INCONSISTENT;
    }
    if (!attributes_bool(attributes, allowed, false)) {
        return CKR_KEY_FUNCTION_NOT_PERMITTED;
    }
    return objects_allow(attributes, mechanism) ? CKR_OK : CKR_MECHANISM_INVALID;
}

/* Whether this key is one that the officer trusts, and the officer is not there: what such a key unwraps
   is known by that mark, which nobody else takes away. */
static bool is_kept_by_officer(const struct session *session, const struct attributes *attributes)
{
    const CK_OBJECT_CLASS class = attributes_ulong(attributes, CKA_CLASS, CKO_DATA);

    return (class == CKO_PUBLIC_KEY || class == CKO_SECRET_KEY) &&
           attributes_bool(attributes, CKA_TRUSTED, false) && session->token->login != OFFICER;
}

/* A changed copy of an object's attributes. */
static CK_RV change(const struct session *session, const struct object *object, enum origin origin,
                    const CK_ATTRIBUTE *template, CK_ULONG count, struct attributes *changed)
{
    const struct attributes *const old = &object->attributes;
    const CK_OBJECT_CLASS class = attributes_ulong(old, CKA_CLASS, CKO_DATA);
    CK_RV rv;

    if (!attributes_copy(changed, old, true)) {
        return CKR_HOST_MEMORY;
    }
    rv = rules_apply(changed, class, origin, template, count);
    if (rv == CKR_OK) {
        rv = objects_check_trusted(session, template, count);
    }
    if (rv == CKR_OK && is_kept_by_officer(session, old) &&
        !attributes_bool(changed, CKA_TRUSTED, false)) {
        rv = CKR_ATTRIBUTE_READ_ONLY;
    }
    if (rv == CKR_OK) {
        rv = objects_check_access(session, changed);
    }
    if (rv != CKR_OK) {
        attributes_free(changed);
    }
    return rv;
}

CK_RV C_CopyObject(CK_SESSION_HANDLE hSession, CK_OBJECT_HANDLE hObject, CK_ATTRIBUTE_PTR pTemplate,
                   CK_ULONG ulCount, CK_OBJECT_HANDLE_PTR phNewObject)
{
    struct session *session;
    struct attributes made;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    if ((pTemplate == NULL && ulCount) || phNewObject == NULL) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        struct object *const object = objects_find(session, hObject);

        if (object == NULL) {
            rv = CKR_OBJECT_HANDLE_INVALID;
        } else if (!attributes_bool(&object->attributes, CKA_COPYABLE, true)) {
            rv = CKR_ACTION_PROHIBITED;
        } else {
            rv = change(session, object, COPIED, pTemplate, ulCount, &made);
        }
    }
    if (rv == CKR_OK && session->closed) {
        attributes_free(&made);
        rv = CKR_SESSION_CLOSED; /* nobody would remove its objects */
    }
    if (rv == CKR_OK) {
        rv = token_add_objects(session->token, session->handle, &made, 1, phNewObject);
    }
    module_unlock();
    session_end(session);
    return rv;
}

/* Change an object as it is now. With the module's lock. */
static CK_RV set_attributes(struct session *session, CK_OBJECT_HANDLE handle,
                            const CK_ATTRIBUTE *template, CK_ULONG count)
{
    struct object *const object = objects_find(session, handle);
    struct attributes made;
    CK_RV rv;

    if (object == NULL) {
        return CKR_OBJECT_HANDLE_INVALID;
    }
    if (!attributes_bool(&object->attributes, CKA_MODIFIABLE, true)) {
        return CKR_ACTION_PROHIBITED;
    }
    rv = change(session, object, CHANGED, template, count, &made);
    return rv == CKR_OK ? token_replace_object(session->token, object, &made) : rv;
}

CK_RV C_SetAttributeValue(CK_SESSION_HANDLE hSession, CK_OBJECT_HANDLE hObject,
                          CK_ATTRIBUTE_PTR pTemplate, CK_ULONG ulCount)
{
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    if (pTemplate == NULL || ulCount == 0) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        do {
            rv = set_attributes(session, hObject, pTemplate, ulCount);
        } while (rv == CKR_FUNCTION_CANCELED); /* somebody else was faster, and has made progress */
    }
    module_unlock();
    session_end(session);
    return rv;
}

CK_RV C_DestroyObject(CK_SESSION_HANDLE hSession, CK_OBJECT_HANDLE hObject)
{
    struct session *session;
    struct object *object;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    object = objects_find(session, hObject);
    if (object == NULL) {
        rv = CKR_OBJECT_HANDLE_INVALID;
    } else if (object_is_of_token(object) && !session_writes(session)) {
        rv = CKR_SESSION_READ_ONLY;
    } else if (!attributes_bool(&object->attributes, CKA_DESTROYABLE, true) ||
               is_kept_by_officer(session, &object->attributes)) {
        rv = CKR_ACTION_PROHIBITED;
    } else {
        rv = token_destroy_object(session->token, object);
    }
    module_unlock();
    session_end(session);
    return rv;
}

CK_RV C_GetObjectSize(CK_SESSION_HANDLE hSession, CK_OBJECT_HANDLE hObject, CK_ULONG_PTR pulSize)
{
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    if (pulSize == NULL) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        const struct object *const object = objects_find(session, hObject);

        rv = object ? CKR_OK : CKR_OBJECT_HANDLE_INVALID;
        *pulSize = object ? object->attributes.size : 0;
    }
    module_unlock();
    session_end(session);
    return rv;
}

/* Give a value to a caller who has a place for it, or asks for its length. */
static CK_RV give(struct value value, CK_ATTRIBUTE *wanted)
{
    if (wanted->pValue && wanted->ulValueLen < value.size) {
        wanted->ulValueLen = CK_UNAVAILABLE_INFORMATION;
        return CKR_BUFFER_TOO_SMALL;
    }
    if (wanted->pValue && value.size) {
        memcpy(wanted->pValue, value.bytes, value.size);
    }
    wanted->ulValueLen = value.size;
    return CKR_OK;
}

/* Fill a caller's array of attributes: each has a place of its own, or asks for its length. */
static CK_RV fill_array(const struct nested *nested, CK_BYTE *array)
{
    CK_RV rv = CKR_OK;

    for (CK_ULONG i = 0; i < nested->count; ++i) {
        const CK_ATTRIBUTE *const item = &nested->items[i];
        CK_ATTRIBUTE wanted;
        CK_RV given;

        memcpy(&wanted, array + i * sizeof wanted, sizeof wanted);
        wanted.type = item->type;
        given = give((struct value){item->pValue, item->ulValueLen}, &wanted);
        rv = given == CKR_OK ? rv : given;
        memcpy(array + i * sizeof wanted, &wanted, sizeof wanted);
    }
    return rv;
}

static CK_RV show_nested(const struct attributes *attributes, CK_ATTRIBUTE *wanted)
{
    struct nested nested;
    size_t size;
    CK_RV rv = CKR_OK;

    if (!nested_read(&nested, attributes, wanted->type)) {
        wanted->ulValueLen = CK_UNAVAILABLE_INFORMATION;
        return CKR_HOST_MEMORY;
    }
    size = nested.count * sizeof *nested.items;
    if (wanted->pValue && wanted->ulValueLen < size) {
        size = CK_UNAVAILABLE_INFORMATION;
        rv = CKR_BUFFER_TOO_SMALL;
    } else if (wanted->pValue) {
        rv = fill_array(&nested, wanted->pValue);
    }
    wanted->ulValueLen = size;
    attributes_free(&nested.list);
    return rv;
}

static CK_RV show(const struct attributes *attributes, CK_ATTRIBUTE *wanted)
{
    const struct value value = attributes_get(attributes, wanted->type);
    CK_RV rv;

    if (rules_hides(attributes, wanted->type)) {
        rv = CKR_ATTRIBUTE_SENSITIVE;
    } else if (value.bytes == NULL) {
        rv = CKR_ATTRIBUTE_TYPE_INVALID;
    } else {
        return rules_is_nested(wanted->type) ? show_nested(attributes, wanted) :
                                               give(value, wanted);
    }
    wanted->ulValueLen = CK_UNAVAILABLE_INFORMATION;
    return rv;
}

CK_RV C_GetAttributeValue(CK_SESSION_HANDLE hSession, CK_OBJECT_HANDLE hObject,
                          CK_ATTRIBUTE_PTR pTemplate, CK_ULONG ulCount)
{
    struct session *session;
    const struct object *object;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    object = objects_find(session, hObject);
    if (object == NULL) {
        rv = CKR_OBJECT_HANDLE_INVALID;
    } else if (pTemplate == NULL && ulCount) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        for (CK_ULONG i = 0; i < ulCount; ++i) {
            const CK_RV shown = show(&object->attributes, &pTemplate[i]);

            rv = shown == CKR_OK ? rv : shown;
        }
    }
    module_unlock();
    session_end(session);
    return rv;
}

/* Searching. */

static CK_RV search(struct session *session, const CK_ATTRIBUTE *template, CK_ULONG count)
{
    struct token *const token = session->token;
    CK_ULONG room = 0;
    const CK_RV rv = token_refresh(token);

    if (rv != CKR_OK) {
        return rv;
    }
    for (const struct object *object = token->objects; object; object = object->next) {
        ++room;
    }
    session->found = malloc((room ? room : 1) * sizeof *session->found);
    if (session->found == NULL) {
        return CKR_HOST_MEMORY;
    }
    session->found_count = session->found_next = 0;
    for (const struct object *object = token->objects; object; object = object->next) {
        if (rules_match(&object->attributes, template, count)) {
            session->found[session->found_count++] = object->handle;
        }
    }
    return CKR_OK;
}

CK_RV C_FindObjectsInit(CK_SESSION_HANDLE hSession, CK_ATTRIBUTE_PTR pTemplate, CK_ULONG ulCount)
{
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pTemplate == NULL && ulCount) {
        rv = CKR_ARGUMENTS_BAD;
    } else if (session->found) {
        rv = CKR_OPERATION_ACTIVE;
    } else {
        module_lock();
        rv = search(session, pTemplate, ulCount);
        module_unlock();
    }
    session_end(session);
    return rv;
}

CK_RV C_FindObjects(CK_SESSION_HANDLE hSession, CK_OBJECT_HANDLE_PTR phObject,
                    CK_ULONG ulMaxObjectCount, CK_ULONG_PTR pulObjectCount)
{
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pulObjectCount == NULL || (phObject == NULL && ulMaxObjectCount)) {
        rv = CKR_ARGUMENTS_BAD;
    } else if (session->found == NULL) {
        rv = CKR_OPERATION_NOT_INITIALIZED;
    } else {
        const CK_ULONG left = session->found_count - session->found_next;
        const CK_ULONG count = left < ulMaxObjectCount ? left : ulMaxObjectCount;

        if (count) {
            memcpy(phObject, session->found + session->found_next, count * sizeof *phObject);
        }
        session->found_next += count;
        *pulObjectCount = count;
    }
    session_end(session);
    return rv;
}

CK_RV C_FindObjectsFinal(CK_SESSION_HANDLE hSession)
{
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    rv = session->found ? CKR_OK : CKR_OPERATION_NOT_INITIALIZED;
    free(session->found);
    session->found = NULL;
    session_end(session);
    return rv;
}
