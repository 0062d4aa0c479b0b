#ifndef PKCS11_TYPES_H
#define PKCS11_TYPES_H

// What is used of PKCS #11 v2.40, in the standard's layout on systems that are not Windows.

typedef unsigned long CK_ULONG;
typedef CK_ULONG CK_RV, CK_SLOT_ID, CK_SESSION_HANDLE, CK_OBJECT_HANDLE;
typedef unsigned char CK_BYTE;

typedef struct {
    CK_BYTE major, minor;
} CK_VERSION;

typedef struct {
    CK_ULONG type;
    void *value;
    CK_ULONG count;
} CK_ATTRIBUTE;

typedef struct {
    CK_ULONG mechanism;
    void *parameter;
    CK_ULONG count;
} CK_MECHANISM;

typedef struct {
    void *create, *destroy, *lock, *unlock;
    CK_ULONG flags;
    void *reserved;
} CK_C_INITIALIZE_ARGS;

typedef struct {
    CK_BYTE label[32], manufacturer[32], model[16], serial[16];
    CK_ULONG flags, numbers[10];
    CK_VERSION hardware, firmware;
    CK_BYTE time[16];
} CK_TOKEN_INFO;

typedef struct {
    CK_SLOT_ID slot;
    CK_ULONG state, flags, error;
} CK_SESSION_INFO;

enum {
    CKS_RO_USER_FUNCTIONS = 1, CKS_RW_USER_FUNCTIONS = 3,
    CKR_OK = 0x000, CKR_USER_ALREADY_LOGGED_IN = 0x100, CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191,
    CKF_RW_SESSION = 0x2, CKF_SERIAL_SESSION = 0x4, CKF_OS_LOCKING_OK = 0x2, CKU_USER = 1,
    CKO_PUBLIC_KEY = 2, CKO_PRIVATE_KEY = 3, CKK_RSA = 0, CKK_EC = 3,
    CKM_RSA_PKCS_KEY_PAIR_GEN = 0x0000, CKM_RSA_PKCS = 0x0001, CKM_EC_KEY_PAIR_GEN = 0x1040, CKM_ECDSA = 0x1041,
    CKA_CLASS = 0x000, CKA_TOKEN = 0x001, CKA_PRIVATE = 0x002, CKA_LABEL = 0x003, CKA_KEY_TYPE = 0x100, CKA_ID = 0x102,
    CKA_SENSITIVE = 0x103, CKA_SIGN = 0x108, CKA_VERIFY = 0x10A, CKA_MODULUS = 0x120, CKA_MODULUS_BITS = 0x121,
    CKA_PUBLIC_EXPONENT = 0x122, CKA_EXTRACTABLE = 0x162, CKA_EC_PARAMS = 0x180, CKA_EC_POINT = 0x181,
};

// The functions in the standard's order; those that are not called have no type.
struct pkcs11_module {
    CK_VERSION version;
    CK_RV (*C_Initialize)(void *);
    CK_RV (*C_Finalize)(void *);
    void *C_GetInfo, *C_GetFunctionList;
    CK_RV (*C_GetSlotList)(CK_BYTE, CK_SLOT_ID *, CK_ULONG *);
    void *C_GetSlotInfo;
    CK_RV (*C_GetTokenInfo)(CK_SLOT_ID, CK_TOKEN_INFO *);
    void *C_GetMechanismList, *C_GetMechanismInfo, *C_InitToken, *C_InitPIN, *C_SetPIN;
    CK_RV (*C_OpenSession)(CK_SLOT_ID, CK_ULONG, void *, void *, CK_SESSION_HANDLE *);
    CK_RV (*C_CloseSession)(CK_SESSION_HANDLE);
    void *C_CloseAllSessions;
    CK_RV (*C_GetSessionInfo)(CK_SESSION_HANDLE, CK_SESSION_INFO *);
    void *C_GetOperationState, *C_SetOperationState;
    CK_RV (*C_Login)(CK_SESSION_HANDLE, CK_ULONG, CK_BYTE *, CK_ULONG);
    void *C_Logout, *C_CreateObject, *C_CopyObject, *C_DestroyObject, *C_GetObjectSize;
    CK_RV (*C_GetAttributeValue)(CK_SESSION_HANDLE, CK_OBJECT_HANDLE, CK_ATTRIBUTE *, CK_ULONG);
    void *C_SetAttributeValue;
    CK_RV (*C_FindObjectsInit)(CK_SESSION_HANDLE, CK_ATTRIBUTE *, CK_ULONG);
    CK_RV (*C_FindObjects)(CK_SESSION_HANDLE, CK_OBJECT_HANDLE *, CK_ULONG, CK_ULONG *);
    CK_RV (*C_FindObjectsFinal)(CK_SESSION_HANDLE);
    void *C_EncryptInit, *C_Encrypt, *C_EncryptUpdate, *C_EncryptFinal, *C_DecryptInit, *C_Decrypt, *C_DecryptUpdate;
    void *C_DecryptFinal, *C_DigestInit, *C_Digest, *C_DigestUpdate, *C_DigestKey, *C_DigestFinal;
    CK_RV (*C_SignInit)(CK_SESSION_HANDLE, CK_MECHANISM *, CK_OBJECT_HANDLE);
    CK_RV (*C_Sign)(CK_SESSION_HANDLE, CK_BYTE *, CK_ULONG, CK_BYTE *, CK_ULONG *);
    void *C_SignUpdate, *C_SignFinal, *C_SignRecoverInit, *C_SignRecover, *C_VerifyInit, *C_Verify, *C_VerifyUpdate;
    void *C_VerifyFinal, *C_VerifyRecoverInit, *C_VerifyRecover, *C_DigestEncryptUpdate, *C_DecryptDigestUpdate;
    void *C_SignEncryptUpdate, *C_DecryptVerifyUpdate, *C_GenerateKey;
    CK_RV (*C_GenerateKeyPair)(
        CK_SESSION_HANDLE, CK_MECHANISM *, CK_ATTRIBUTE *, CK_ULONG, CK_ATTRIBUTE *, CK_ULONG, CK_OBJECT_HANDLE *,
        CK_OBJECT_HANDLE *);
};

#endif
