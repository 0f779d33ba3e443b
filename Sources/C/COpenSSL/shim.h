#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Macros and variadic functions that Swift cannot import, as inline functions.

// Reads the parameters of a public key.
static inline int nudge_evp_pkey_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }
static inline EVP_PKEY *nudge_rsa_generate(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *nudge_ec_generate(const char *curve) { return EVP_EC_gen(curve); }
static inline long nudge_bio_contents(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline int nudge_ssl_ctx_set_min_version(SSL_CTX *ctx, int version) {
  return (int)SSL_CTX_set_min_proto_version(ctx, version);
}
// For sockets that do not block: a write may take part of what it is given, and be repeated from another buffer.
static inline void nudge_ssl_ctx_set_partial_writes(SSL_CTX *ctx) {
  SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
// Writes a name like Java's X500Principal.getName(): RFC 2253, without escaping non-ASCII characters.
static inline int nudge_x509_name_print(BIO *bio, const X509_NAME *name) {
  return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}
// `name` ends in NUL.
static inline int nudge_x509_name_set_common(X509_NAME *subject, const char *name) {
  return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0);
}
