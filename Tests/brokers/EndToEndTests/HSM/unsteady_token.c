// SoftHSM2 as a PKCS #11 module whose token a test can take away, slow down, rob of its sessions, narrow to three of them,
// have hang, and have refuse PINs or be near its lock: files in the folder $UNSTEADY_TOKEN say so. Built and loaded by HSMTests.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../../Sources/verify/CPKCS11/pkcs11_types.h"

enum {
    CKR_DEVICE_REMOVED = 0x32, CKR_PIN_INCORRECT = 0xA0, CKR_SESSION_COUNT = 0xB1, CKR_TOKEN_NOT_PRESENT = 0xE0,
    CKF_USER_PIN_FINAL_TRY = 0x20000, CKF_USER_PIN_LOCKED = 0x40000,
};

static struct pkcs11_module real, own;
static CK_SLOT_ID last_slot;
static atomic_int inside, sessions;
// SoftHSM2 frees a session that another thread is in, and crashes: so no thread is inside while sessions are robbed.
static pthread_rwlock_t use = PTHREAD_RWLOCK_INITIALIZER;

static const char *path(const char *name) {
    static _Thread_local char text[4096];
    snprintf(text, sizeof text, "%s/%s", getenv("UNSTEADY_TOKEN"), name);
    return text;
}

static int is_there(const char *name) { return access(path(name), F_OK) == 0; }

static CK_RV open_session(CK_SLOT_ID slot, CK_ULONG flags, void *data, void *notify, CK_SESSION_HANDLE *session) {
    if (is_there("away")) return CKR_TOKEN_NOT_PRESENT;
    last_slot = slot;
    if (atomic_fetch_add(&sessions, 1) >= 3 && is_there("narrow")) {
        atomic_fetch_sub(&sessions, 1);
        return CKR_SESSION_COUNT;
    }
    pthread_rwlock_rdlock(&use);
    CK_RV code = real.C_OpenSession(slot, flags, data, notify, session);
    pthread_rwlock_unlock(&use);
    return code;
}

static CK_RV close_session(CK_SESSION_HANDLE session) {
    atomic_fetch_sub(&sessions, 1);
    pthread_rwlock_rdlock(&use);
    CK_RV code = real.C_CloseSession(session);
    pthread_rwlock_unlock(&use);
    return code;
}

static CK_RV session_info(CK_SESSION_HANDLE session, CK_SESSION_INFO *info) {
    pthread_rwlock_rdlock(&use);
    CK_RV code = real.C_GetSessionInfo(session, info);
    pthread_rwlock_unlock(&use);
    return code;
}

static CK_RV sign_init(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key) {
    pthread_rwlock_rdlock(&use);
    CK_RV code = real.C_SignInit(session, mechanism, key);
    pthread_rwlock_unlock(&use);
    return code;
}

static void rob(void) {
    pthread_rwlock_wrlock(&use);
    ((CK_RV(*)(CK_SLOT_ID))real.C_CloseAllSessions)(last_slot);
    pthread_rwlock_unlock(&use);
}

// One file for each number of signatures at once: several processes use the token.
static void note_parallel(int now) {
    char name[32];
    snprintf(name, sizeof name, "parallel-%d", now);
    FILE *file = fopen(path(name), "w");
    if (file != NULL) fclose(file);
}

// A line for each login that reaches the token.
static CK_RV login(CK_SESSION_HANDLE session, CK_ULONG user, CK_BYTE *pin, CK_ULONG count) {
    FILE *file = fopen(path("logins"), "a");
    if (file != NULL) {
        fputs("login\n", file);
        fclose(file);
    }
    // Time for other threads to come.
    usleep(50 * 1000);
    if (is_there("wrong-pin")) return CKR_PIN_INCORRECT;
    pthread_rwlock_rdlock(&use);
    CK_RV code = real.C_Login(session, user, pin, count);
    pthread_rwlock_unlock(&use);
    return code;
}

static CK_RV token_info(CK_SLOT_ID slot, CK_TOKEN_INFO *info) {
    CK_RV code = real.C_GetTokenInfo(slot, info);
    if (is_there("last-try")) info->flags |= CKF_USER_PIN_FINAL_TRY;
    if (is_there("locked")) info->flags |= CKF_USER_PIN_LOCKED;
    return code;
}

static CK_RV sign(CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG count, CK_BYTE *signature, CK_ULONG *written) {
    if (is_there("away")) return CKR_DEVICE_REMOVED;
    if (unlink(path("robbed")) == 0) rob();
    note_parallel(atomic_fetch_add(&inside, 1) + 1);
    if (is_there("slow")) usleep(200 * 1000);
    while (is_there("hang")) usleep(50 * 1000);
    pthread_rwlock_rdlock(&use);
    CK_RV code = real.C_Sign(session, data, count, signature, written);
    pthread_rwlock_unlock(&use);
    atomic_fetch_sub(&inside, 1);
    return code;
}

CK_RV C_GetFunctionList(const struct pkcs11_module **list) {
    void *library = dlopen("/usr/lib/softhsm/libsofthsm2.so", RTLD_NOW | RTLD_LOCAL);
    CK_RV (*get)(const struct pkcs11_module **) =
        library == NULL ? NULL : (CK_RV(*)(const struct pkcs11_module **))dlsym(library, "C_GetFunctionList");
    const struct pkcs11_module *found = NULL;
    if (get == NULL || get(&found) != CKR_OK) return CKR_DEVICE_REMOVED;
    real = own = *found;
    own.C_OpenSession = open_session;
    own.C_CloseSession = close_session;
    own.C_Login = login;
    own.C_GetTokenInfo = token_info;
    own.C_GetSessionInfo = session_info;
    own.C_SignInit = sign_init;
    own.C_Sign = sign;
    *list = &own;
    return CKR_OK;
}
