/*
 * arch/derive_meta.h: metadata under the keys that other formats would have it under.
 *
 * A model of config.json is asked for llama.block_count, one of GGUF for num_hidden_layers: what
 * its files say is told again in the words of the other side, and in one list with the scalars of
 * the JSON files. Nothing is told that no file says or implies, and nothing twice: a key that the
 * files themselves have as a key-value is theirs.
 */
#ifndef WB_ARCH_TELL_H
#define WB_ARCH_TELL_H

#include "arch/model_config.h"
#include "arch/tokenizer/tokenizer.h"
#include "model/catalog.h"
#include "weighbridge/metadata.h"

typedef struct wb__deriver {
    wb__catalog *into;
    wb__context *context;
    const wb__catalog *known; /* key-values of the files */
    const wb__facts *facts;
    const wb_config *config;
    const wb__family *family; /* NULL: unknown */
    const wb__names *names;
    bool by_key;      /* the model is one of key-values */
    wb_status status; /* of the first failure, after which nothing more is told */
    size_t scalars;   /* told of JSON files, */
    size_t elements;  /* and elements of arrays */
} wb__deriver;

/* ---- what every part uses ---- */

void wb__derive_uint(wb__deriver *teller, const char *key, uint64_t value);
void wb__derive_float(wb__deriver *teller, const char *key, double value);
void wb__derive_bool(wb__deriver *teller, const char *key, bool value);
void wb__derive_text(wb__deriver *teller, const char *key, wb__str value);
void wb__derive_fact(wb__deriver *teller, const char *key, const wb__fact *fact);

/* Arrays, whose bytes must live as long as `into`: numbers with the lowest byte first. */
void wb__derive_numbers(wb__deriver *teller, const char *key, const void *bytes, uint64_t count,
                        wb_meta_type type, uint8_t bits);
void wb__derive_strings(wb__deriver *teller, const char *key, const wb__strings *strings);

/* ---- what is told ---- */

/* The scalars of a JSON file, by their names, "rope_scaling.factor" within objects. */
void wb__derive_json(wb__deriver *teller, const wb__tree *tree);

/* The config under the keys of GGUF, or under those of config.json where the model is of GGUF. */
void wb__derive_config(wb__deriver *teller);

/* The tokenizer, which must live as long as `into`. */
void wb__derive_tokenizer(wb__deriver *teller, const wb__tokenizer *tokenizer);

/* Sampling parameters, as llama.cpp reads them. */
void wb__derive_generation(wb__deriver *teller, const wb__tree *generation);

/* The chat template in tokenizer_config.json, or else the text of its own file. */
void wb__derive_templates(wb__deriver *teller, const wb__tree *tokenizer_config, wb__str file);

/* Special tokens of GGUF under the names tokenizer_config.json has them by. */
void wb__derive_special_names(wb__deriver *teller);

#endif
