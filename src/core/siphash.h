/*
 * core/siphash.h: a keyed hash for names from untrusted files.
 *
 * Without a key, an attacker can prepare a file with 100,000 names that all hash to the same slot
 * of a table, and the file takes minutes to open. The secret random key of each model prevents
 * this.
 */
#ifndef WB_CORE_SIPHASH_H
#define WB_CORE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct wb__hash_key {
    uint64_t word[2];
} wb__hash_key;

/* Returns a random key that is unpredictable from outside the process. Never fails. */
wb__hash_key wb__hash_key_draw(void);

/*
 * SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, with one
 * compression round and three finalization rounds, as in the hash tables of Rust, Ruby and Python).
 */
uint64_t wb__siphash(const wb__hash_key *key, const void *data, size_t len);

#endif
