/*
 * model_digest.h: computes one number from all that can be queried from an open model, to compare
 * two models.
 *
 * Include support.h first.
 */
#ifndef WB_TESTS_MODEL_DIGEST_H
#define WB_TESTS_MODEL_DIGEST_H

#include "support.h"

static inline void whole_mix(uint64_t *digest, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++)
        *digest = (*digest ^ b[i]) * UINT64_C(0x100000001B3);
}

static inline void whole_findings(const wb_findings *findings, uint64_t *digest)
{
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        whole_mix(digest, finding.code, strlen(finding.code));
        whole_mix(digest, finding.message, strlen(finding.message));
        whole_mix(digest, &finding.offset, sizeof finding.offset);
    }
}

/* Adds name, shape, and the first and last values of a tensor to the digest. */
static inline wb_status whole_tensor(const wb_model *model, uint64_t i, uint64_t *digest,
                                     wb_error *error)
{
    wb_tensor tensor = {.size = sizeof tensor};
    unsigned char out[4096];
    uint64_t elements, bytes;
    wb_status status = wb_tensor_at(model, i, &tensor, error);
    if (status != WB_OK)
        return status;
    whole_mix(digest, tensor.name, tensor.name_len);
    whole_mix(digest, tensor.shape, tensor.rank * sizeof *tensor.shape);
    for (int last = 0; last < 2 && status == WB_OK; last++) {
        wb_slice some = {.size = sizeof some, .count = tensor.elements < 64 ? UINT64_MAX : 64};
        some.first = last && tensor.elements >= 64 ? tensor.elements - 64 : 0;
        status = wb_tensor_read_size(model, i, &some, WB_DTYPE_F32, &elements, &bytes, error);
        if (status == WB_ERROR_UNSUPPORTED || (status == WB_OK && bytes > sizeof out))
            return WB_OK;
        if (status == WB_OK)
            status = wb_tensor_read(model, i, &some, WB_DTYPE_F32, out, sizeof out, error);
        if (status == WB_OK)
            whole_mix(digest, out, (size_t)bytes);
    }
    return status == WB_ERROR_UNSUPPORTED ? WB_OK : status;
}

static inline wb_status whole_names(const wb_model *model, uint64_t *digest, wb_error *error)
{
    for (int kind = WB_NAMES_NATIVE; kind <= WB_NAMES_CANONICAL; kind++) {
        const char *names;
        const uint64_t *offsets;
        wb_status status = wb_tensor_names(model, (wb_names_kind)kind, &names, &offsets, error);
        if (status != WB_OK) {
            assert_null(names);
            return status;
        }
        whole_mix(digest, names, (size_t)offsets[wb_tensor_count(model)]);
    }
    return WB_OK;
}

static inline wb_status whole_meanings(const wb_model *model, uint64_t *digest, wb_error *error)
{
    static const char *const names[] = {"token_embedding.weight", "output.weight",
                                        "layers.0.attention.q.weight",
                                        "layers.1.ffn.experts.up.weight"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t index;
        const char *native;
        size_t len;
        wb_status status = wb_native_name(model, names[i], SIZE_MAX, &native, &len, error);
        if (status != WB_OK && status != WB_ERROR_NOT_FOUND)
            return status;
        if (status == WB_OK) {
            whole_mix(digest, native, len);
            status = wb_tensor_find(model, names[i], SIZE_MAX, &index);
        }
        if (status == WB_OK) /* the index may be that of a view that stacks separate experts */
            status = whole_tensor(model, index, digest, error);
        if (status != WB_OK && status != WB_ERROR_NOT_FOUND)
            return status;
    }
    return WB_OK;
}

/* Adds all that can be queried to the digest. Returns WB_OK or the first error; unknown names are
 * no errors. */
static inline wb_status whole_model(const wb_model *model, uint64_t *digest, wb_error *error)
{
    wb_config config = {.size = sizeof config};
    wb_status status = wb_config_get(model, &config, error);
    uint64_t entry;
    if (status == WB_OK) {
        whole_mix(digest, &config.dim, sizeof config - offsetof(wb_config, dim));
        status = whole_names(model, digest, error);
    }
    for (uint64_t i = 0; i < wb_tensor_count(model) && status == WB_OK; i++)
        status = whole_tensor(model, i, digest, error);
    if (status == WB_OK)
        status = whole_meanings(model, digest, error);
    /* Look up a missing key first: this creates the derived metadata and reports a failed
     * allocation. wb_meta_count below would also create it, but cannot report the failure. */
    if (status == WB_OK)
        status = wb_meta_find(model, "no such key", SIZE_MAX, &entry);
    if (status != WB_ERROR_NOT_FOUND)
        return status;
    for (uint64_t i = 0; i < wb_meta_count(model); i++) {
        wb_meta meta = {.size = sizeof meta};
        assert_int_equal(wb_meta_at(model, i, &meta, NULL), WB_OK);
        whole_mix(digest, meta.key, meta.key_len);
        whole_mix(digest, &meta.count, sizeof meta.count);
    }
    whole_findings(wb_model_findings(model), digest);
    return WB_OK;
}

#endif
