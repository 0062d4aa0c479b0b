#ifndef CPKCS11_H
#define CPKCS11_H

#include <stddef.h>

/// A PKCS #11 module: the functions of a library that is loaded. Every call returns the standard's CKR code, 0 where it
/// is done; handles are the standard's.
typedef struct pkcs11_module pkcs11_module;

/// Codes of our own, above those of vendors: nothing fits a name, several do, a value does not have the expected form.
#define PKCS11_NONE 0xFFFFFFF0UL
#define PKCS11_SEVERAL 0xFFFFFFF1UL
#define PKCS11_SHAPE 0xFFFFFFF2UL

/// Flags of a token: one more wrong PIN locks it; it is locked.
#define PKCS11_PIN_LAST_TRY 0x20000
#define PKCS11_PIN_LOCKED 0x40000
#define PKCS11_TOKEN_BYTES 48

/// The functions of a library from `dlopen`; NULL where it is not such a module.
const pkcs11_module *pkcs11_module_of(void *library);

/// Makes it usable by many threads; a module that is in use already stays so.
unsigned long pkcs11_initialize(const pkcs11_module *module);
/// All of its sessions end.
unsigned long pkcs11_finalize(const pkcs11_module *module);

/// The one slot whose token has this label and serial number; NULL matches all.
unsigned long pkcs11_find_slot(
    const pkcs11_module *module, const char *label, const char *serial, unsigned long *slot);
unsigned long pkcs11_open(const pkcs11_module *module, unsigned long slot, int writes, unsigned long *session);
void pkcs11_close(const pkcs11_module *module, unsigned long session);
/// Whether the token's user is logged in, by this session or another one of this process; 0 where that is unknown.
int pkcs11_is_logged_in(const pkcs11_module *module, unsigned long session);
/// The label and the serial number of a slot's token, and its flags.
unsigned long pkcs11_token(
    const pkcs11_module *module, unsigned long slot, unsigned char *name, unsigned long *flags);
/// Logs in as the token's user, for all sessions of this process.
unsigned long pkcs11_login(const pkcs11_module *module, unsigned long session, const void *pin, size_t count);

/// The one private key that has this label and identifier; NULL matches all, and so does a count of 0.
unsigned long pkcs11_find_key(
    const pkcs11_module *module, unsigned long session, const char *label, const unsigned char *identifier, size_t count,
    unsigned long *key);

/// The public half of a private key: an RSA modulus and its exponent, or a P-256 point in `first` as 65 bytes, then
/// `*second_count` is 0. The counts say how much room there is, then how much was written.
unsigned long pkcs11_public_half(
    const pkcs11_module *module, unsigned long session, unsigned long key, unsigned char *first, size_t *first_count,
    unsigned char *second, size_t *second_count);

/// RSA of PKCS #1 v1.5 over `data`, a DigestInfo, or ECDSA over `data`, a digest: r ‖ s.
unsigned long pkcs11_sign(
    const pkcs11_module *module, unsigned long session, unsigned long key, int is_rsa, const void *data, size_t count,
    void *signature, size_t *signature_count);

/// Makes a key pair of this label, which no private key has yet. The private key never leaves the token. `bits` = 0 makes
/// one on P-256.
unsigned long pkcs11_generate(
    const pkcs11_module *module, unsigned long session, const char *label, unsigned long bits);

/// The standard's name of a code; NULL where it is not among the usual ones.
const char *pkcs11_text(unsigned long code);

#endif
