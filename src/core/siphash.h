/*
 * core/siphash.h: a keyed hash for names that strangers choose.
 *
 * A file with 100,000 names that all fall into one slot of an unkeyed table takes minutes to open.
 * With a secret key, drawn anew for each model, nobody can prepare such a file.
 */
#ifndef WB_CORE_HASH_H
#define WB_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct wb__hash_key {
    uint64_t word[2];
} wb__hash_key;

/* Unpredictable from outside the process. Never fails. */
wb__hash_key wb__hash_key_draw(void);

/*
 * SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, with one and three
 * rounds, as hash tables in Rust, Ruby and Python use it).
 */
uint64_t wb__siphash(const wb__hash_key *key, const void *data, size_t len);

#endif
