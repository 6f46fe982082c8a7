/*
 * handle/config_json.h: what lies beside the weights, and what it makes of the tensors.
 *
 * config.json is read when the model is opened, since it says how tensors are packed. A config that
 * is missing is none; one that is damaged is a finding, and the model opens without it.
 */
#ifndef WB_HANDLE_CONFIG_JSON_H
#define WB_HANDLE_CONFIG_JSON_H

#include "arch/quantization.h"
#include "core/core.h"
#include "json/tree.h"

typedef struct wb__config_json {
    wb_allocator allocator;
    char *text; /* of config.json; the tree points into it */
    size_t text_bytes;
    wb__tree config;
    bool has_config;
} wb__config_json;

/*
 * Reads a whole file of at most limits.json_bytes into memory of the context's allocator, `*bytes`
 * of it and a NUL; *text stays NULL where the file does not exist. Free with *bytes + 1.
 */
wb_status wb__read_text(wb__context *context, const char *path, char **text, size_t *bytes);

/* Reads a config from `path`, which may lead to nothing. */
wb_status wb__config_json_read(wb__config_json *config_json, wb__context *context,
                               const char *path);

/* Takes a copy of a JSON text for the config, from `label`; damaged, it is a finding. */
wb_status wb__config_json_take(wb__config_json *config_json, wb__context *context,
                               const char *label, wb__str text);

void wb__config_json_free(wb__config_json *config_json);

#endif
