/*
 * arch/derive_meta.h: derives metadata under the keys of other formats.
 *
 * For a model with config.json, a caller may query llama.block_count; for a GGUF model,
 * num_hidden_layers. The facts in the files are therefore repeated under the keys of the other
 * format, in one list together with the scalars of the JSON files. Only facts that the files state
 * or imply are derived, each only once. Keys that exist in the model files themselves are not
 * overwritten.
 */
#ifndef WB_ARCH_DERIVE_META_H
#define WB_ARCH_DERIVE_META_H

#include "arch/family_scope.h"
#include "arch/model_config.h"
#include "arch/tokenizer/tokenizer.h"
#include "model/catalog.h"
#include "weighbridge/metadata.h"

typedef struct wb__deriver {
    wb__catalog *into;
    wb__context *context;
    const wb__catalog *known; /* metadata of the model files */
    const wb__facts *facts;
    const wb_config *config;
    const wb__family *family; /* NULL if unknown */
    const wb__names *names;
    bool by_key;      /* the model has key-value metadata (GGUF) */
    wb_status status; /* first failure; nothing is derived afterwards */
    size_t scalars;   /* number of scalars derived from JSON files */
    size_t elements;  /* number of array elements derived */
} wb__deriver;

/* ---- helper functions ---- */

void wb__derive_uint(wb__deriver *teller, const char *key, uint64_t value);
void wb__derive_float(wb__deriver *teller, const char *key, double value);
void wb__derive_bool(wb__deriver *teller, const char *key, bool value);
void wb__derive_text(wb__deriver *teller, const char *key, wb__str value);
void wb__derive_fact(wb__deriver *teller, const char *key, const wb__fact *fact);

/* Derive an array. The data must live as long as teller->into. Numbers are little-endian. */
void wb__derive_numbers(wb__deriver *teller, const char *key, const void *bytes, uint64_t count,
                        wb_meta_type type, uint8_t bits);
void wb__derive_strings(wb__deriver *teller, const char *key, const wb__strings *strings);

/* ---- sources of derived metadata ---- */

/*
 * Adds the scalars and arrays of a JSON file to the derived metadata. The key is the name of the
 * member; for a nested member it is the path, such as "rope_scaling.factor".
 */
void wb__derive_json(wb__deriver *teller, const wb__tree *tree);

/* Derives metadata entries from the config. They have GGUF keys or, for a GGUF model, the names of
 * config.json. */
void wb__derive_config(wb__deriver *teller);

/* Derives the tokenizer, which must live as long as teller->into. */
void wb__derive_tokenizer(wb__deriver *teller, const wb__tokenizer *tokenizer);

/* Derives sampling parameters under the keys that llama.cpp reads. */
void wb__derive_generation(wb__deriver *teller, const wb__tree *generation);

/*
 * Derives the chat template: the one in tokenizer_config.json or, if there is none, `file`, the
 * text of a chat template file.
 */
void wb__derive_templates(wb__deriver *teller, const wb__tree *tokenizer_config, wb__str file);

/* Derives GGUF's special tokens under their names in tokenizer_config.json. */
void wb__derive_special_names(wb__deriver *teller);

#endif
