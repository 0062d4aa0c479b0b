#include "CPKCS11.h"

#include <dlfcn.h>
#include <string.h>

#include "pkcs11_types.h"

enum { most_slots = 64, point_bytes = 65 };

const pkcs11_module *pkcs11_module_of(void *library) {
    CK_RV (*list)(const pkcs11_module **) = (CK_RV(*)(const pkcs11_module **))dlsym(library, "C_GetFunctionList");
    const pkcs11_module *module = NULL;
    // Later versions have a list of their own, and keep this one.
    return list != NULL && list(&module) == CKR_OK && module != NULL && module->version.major == 2 ? module : NULL;
}

unsigned long pkcs11_initialize(const pkcs11_module *module) {
    CK_C_INITIALIZE_ARGS arguments = {.flags = CKF_OS_LOCKING_OK};
    CK_RV code = module->C_Initialize(&arguments);
    return code == CKR_CRYPTOKI_ALREADY_INITIALIZED ? CKR_OK : code;
}

unsigned long pkcs11_finalize(const pkcs11_module *module) { return module->C_Finalize(NULL); }

// A token's texts are padded with blanks.
static int is_text(const CK_BYTE *padded, size_t width, const char *text) {
    if (text == NULL) return 1;
    size_t count = strlen(text);
    if (count > width || memcmp(padded, text, count) != 0) return 0;
    while (count < width && (padded[count] == ' ' || padded[count] == 0)) count++;
    return count == width;
}

unsigned long pkcs11_find_slot(
    const pkcs11_module *module, const char *label, const char *serial, unsigned long *slot) {
    CK_SLOT_ID slots[most_slots];
    CK_ULONG count = most_slots;
    CK_RV code = module->C_GetSlotList(1, slots, &count);
    if (code != CKR_OK) return code;
    int found = 0;
    for (CK_ULONG index = 0; index < count; index++) {
        CK_TOKEN_INFO info;
        // A reader without its token, or with a broken one, is not the one that is sought.
        if (module->C_GetTokenInfo(slots[index], &info) != CKR_OK) continue;
        if (!is_text(info.label, sizeof info.label, label)) continue;
        if (!is_text(info.serial, sizeof info.serial, serial)) continue;
        *slot = slots[index];
        found++;
    }
    return found == 0 ? PKCS11_NONE : found == 1 ? CKR_OK : PKCS11_SEVERAL;
}

unsigned long pkcs11_open(const pkcs11_module *module, unsigned long slot, int writes, unsigned long *session) {
    CK_ULONG flags = CKF_SERIAL_SESSION | (writes ? CKF_RW_SESSION : 0);
    return module->C_OpenSession(slot, flags, NULL, NULL, session);
}

void pkcs11_close(const pkcs11_module *module, unsigned long session) { module->C_CloseSession(session); }

int pkcs11_is_logged_in(const pkcs11_module *module, unsigned long session) {
    CK_SESSION_INFO info;
    if (module->C_GetSessionInfo(session, &info) != CKR_OK) return 0;
    return info.state == CKS_RO_USER_FUNCTIONS || info.state == CKS_RW_USER_FUNCTIONS;
}

unsigned long pkcs11_token(
    const pkcs11_module *module, unsigned long slot, unsigned char *name, unsigned long *flags) {
    CK_TOKEN_INFO info;
    CK_RV code = module->C_GetTokenInfo(slot, &info);
    if (code != CKR_OK) return code;
    memcpy(name, info.label, sizeof info.label);
    memcpy(name + sizeof info.label, info.serial, sizeof info.serial);
    *flags = info.flags;
    return CKR_OK;
}

unsigned long pkcs11_login(const pkcs11_module *module, unsigned long session, const void *pin, size_t count) {
    CK_RV code = module->C_Login(session, CKU_USER, (CK_BYTE *)pin, count);
    return code == CKR_USER_ALREADY_LOGGED_IN ? CKR_OK : code;
}

// The one object of a class that has the name.
static CK_RV find(
    const pkcs11_module *module, CK_SESSION_HANDLE session, CK_ULONG class, const char *label,
    const CK_BYTE *identifier, size_t count, CK_OBJECT_HANDLE *object) {
    CK_ATTRIBUTE wanted[3] = {{CKA_CLASS, &class, sizeof class}};
    CK_ULONG parts = 1, found = 0;
    if (label != NULL) wanted[parts++] = (CK_ATTRIBUTE){CKA_LABEL, (void *)label, strlen(label)};
    if (count > 0) wanted[parts++] = (CK_ATTRIBUTE){CKA_ID, (void *)identifier, count};
    CK_OBJECT_HANDLE objects[2];
    CK_RV code = module->C_FindObjectsInit(session, wanted, parts);
    if (code != CKR_OK) return code;
    code = module->C_FindObjects(session, objects, 2, &found);
    module->C_FindObjectsFinal(session);
    if (code != CKR_OK) return code;
    if (found > 1) return PKCS11_SEVERAL;
    if (found == 0) return PKCS11_NONE;
    *object = objects[0];
    return CKR_OK;
}

unsigned long pkcs11_find_key(
    const pkcs11_module *module, unsigned long session, const char *label, const unsigned char *identifier, size_t count,
    unsigned long *key) {
    return find(module, session, CKO_PRIVATE_KEY, label, identifier, count, key);
}

static CK_RV get(
    const pkcs11_module *module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ULONG type, void *value,
    size_t *count) {
    CK_ATTRIBUTE attribute = {type, value, *count};
    CK_RV code = module->C_GetAttributeValue(session, object, &attribute, 1);
    if (code == CKR_OK && attribute.count > *count) code = PKCS11_SHAPE;
    if (code == CKR_OK) *count = attribute.count;
    return code;
}

// Only the public object has the point: as an OCTET STRING in DER, or bare, as some tokens have it.
static CK_RV point(
    const pkcs11_module *module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_BYTE *target, size_t *count) {
    CK_BYTE identifier[256], value[point_bytes + 2];
    char label[257] = {0};
    size_t identifier_count = sizeof identifier, label_count = sizeof label - 1, value_count = sizeof value;
    CK_OBJECT_HANDLE object;
    if (get(module, session, key, CKA_ID, identifier, &identifier_count) != CKR_OK) identifier_count = 0;
    int has_label = identifier_count == 0 && get(module, session, key, CKA_LABEL, label, &label_count) == CKR_OK;
    CK_RV code =
        find(module, session, CKO_PUBLIC_KEY, has_label ? label : NULL, identifier, identifier_count, &object);
    if (code == CKR_OK) code = get(module, session, object, CKA_EC_POINT, value, &value_count);
    if (code != CKR_OK) return code;
    int is_wrapped = value_count == sizeof value && value[0] == 0x04 && value[1] == point_bytes;
    if ((!is_wrapped && value_count != point_bytes) || *count < point_bytes) return PKCS11_SHAPE;
    memcpy(target, value + (is_wrapped ? 2 : 0), point_bytes);
    *count = point_bytes;
    return CKR_OK;
}

unsigned long pkcs11_public_half(
    const pkcs11_module *module, unsigned long session, unsigned long key, unsigned char *first, size_t *first_count,
    unsigned char *second, size_t *second_count) {
    CK_ULONG type = 0;
    size_t count = sizeof type;
    CK_RV code = get(module, session, key, CKA_KEY_TYPE, &type, &count);
    if (code != CKR_OK) return code;
    if (type == CKK_EC) {
        *second_count = 0;
        return point(module, session, key, first, first_count);
    }
    if (type != CKK_RSA) return PKCS11_SHAPE;
    code = get(module, session, key, CKA_MODULUS, first, first_count);
    return code == CKR_OK ? get(module, session, key, CKA_PUBLIC_EXPONENT, second, second_count) : code;
}

unsigned long pkcs11_sign(
    const pkcs11_module *module, unsigned long session, unsigned long key, int is_rsa, const void *data, size_t count,
    void *signature, size_t *signature_count) {
    CK_MECHANISM mechanism = {is_rsa ? CKM_RSA_PKCS : CKM_ECDSA, NULL, 0};
    CK_ULONG written = *signature_count;
    CK_RV code = module->C_SignInit(session, &mechanism, key);
    if (code == CKR_OK) code = module->C_Sign(session, (CK_BYTE *)data, count, signature, &written);
    *signature_count = written;
    return code;
}

unsigned long pkcs11_generate(
    const pkcs11_module *module, unsigned long session, const char *label, unsigned long bits) {
    CK_BYTE yes = 1, no = 0, exponent[] = {1, 0, 1};
    CK_BYTE curve[] = {0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07};
    CK_OBJECT_HANDLE key, other;
    // Tokens take several objects of one name, which then names none of them.
    if (find(module, session, CKO_PRIVATE_KEY, label, NULL, 0, &key) != PKCS11_NONE) return PKCS11_SEVERAL;
    CK_ATTRIBUTE token = {CKA_TOKEN, &yes, sizeof yes};
    CK_ATTRIBUTE label_part = {CKA_LABEL, (void *)label, strlen(label)};
    CK_ATTRIBUTE identifier_part = {CKA_ID, (void *)label, strlen(label)};
    CK_ATTRIBUTE private[] = {
        token, label_part, identifier_part, {CKA_PRIVATE, &yes, sizeof yes}, {CKA_SENSITIVE, &yes, sizeof yes},
        {CKA_EXTRACTABLE, &no, sizeof no}, {CKA_SIGN, &yes, sizeof yes},
    };
    CK_ATTRIBUTE rsa[] = {
        token, label_part, identifier_part, {CKA_VERIFY, &yes, sizeof yes}, {CKA_MODULUS_BITS, &bits, sizeof bits},
        {CKA_PUBLIC_EXPONENT, exponent, sizeof exponent},
    };
    CK_ATTRIBUTE ec[] = {
        token, label_part, identifier_part, {CKA_VERIFY, &yes, sizeof yes}, {CKA_EC_PARAMS, curve, sizeof curve},
    };
    CK_MECHANISM mechanism = {bits > 0 ? CKM_RSA_PKCS_KEY_PAIR_GEN : CKM_EC_KEY_PAIR_GEN, NULL, 0};
    CK_ATTRIBUTE *public = bits > 0 ? rsa : ec;
    CK_ULONG public_count = bits > 0 ? sizeof rsa / sizeof *rsa : sizeof ec / sizeof *ec;
    CK_ULONG private_count = sizeof private / sizeof *private;
    return module->C_GenerateKeyPair(
        session, &mechanism, public, public_count, private, private_count, &other, &key);
}

const char *pkcs11_text(unsigned long code) {
    static const struct {
        unsigned long code;
        const char *text;
    } texts[] = {
        {0x005, "CKR_GENERAL_ERROR"}, {0x006, "CKR_FUNCTION_FAILED"}, {0x030, "CKR_DEVICE_ERROR"},
        {0x032, "CKR_DEVICE_REMOVED"}, {0x054, "CKR_FUNCTION_NOT_SUPPORTED"}, {0x060, "CKR_KEY_HANDLE_INVALID"},
        {0x068, "CKR_KEY_FUNCTION_NOT_PERMITTED"}, {0x070, "CKR_MECHANISM_INVALID"},
        {0x082, "CKR_OBJECT_HANDLE_INVALID"}, {0x0A0, "CKR_PIN_INCORRECT"}, {0x0A4, "CKR_PIN_LOCKED"},
        {0x0B0, "CKR_SESSION_CLOSED"}, {0x0B1, "CKR_SESSION_COUNT"}, {0x0B3, "CKR_SESSION_HANDLE_INVALID"},
        {0x0E0, "CKR_TOKEN_NOT_PRESENT"}, {0x0E2, "CKR_TOKEN_WRITE_PROTECTED"}, {0x101, "CKR_USER_NOT_LOGGED_IN"},
        {0x102, "CKR_USER_PIN_NOT_INITIALIZED"}, {0x190, "CKR_CRYPTOKI_NOT_INITIALIZED"},
    };
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) {
        if (texts[index].code == code) return texts[index].text;
    }
    return NULL;
}
