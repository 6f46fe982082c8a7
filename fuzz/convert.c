/*
 * Converts a model with a target and a policy. A conversion that can be planned must either
 * succeed, with a result that matches the plan, or fail and leave no files.
 *
 *   byte 0      bits 0 to 2: the target; bit 3: the kind of model
 *   byte 1, 2   the policy
 *   the rest    the model: a directory (support/folder.h) if bit 3 of byte 0 is set, otherwise a
 *               small model (support/small.h)
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/model.h"
#include "support/scratch.h"
#include "support/small.h"
#include "weighbridge.h"

#define RESULT_MAX (1u << 20) /* in bytes; a conversion with a larger result is only planned */

static const char *const names[] = {"m.gguf", "m.safetensors", "m", "m", "m.npz"};

/* Removes the files in a directory and returns their number. */
static unsigned sweep(const char *path)
{
    unsigned files = 0;
    DIR *folder = opendir(path);
    CHECK(folder != NULL);
    for (struct dirent *d; (d = readdir(folder)) != NULL;) {
        char below[700];
        struct stat st;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        CHECK(snprintf(below, sizeof below, "%s/%s", path, d->d_name) < (int)sizeof below);
        CHECK(lstat(below, &st) == 0);
        if (S_ISDIR(st.st_mode)) {
            files += sweep(below);
            CHECK(rmdir(below) == 0);
        } else {
            files++;
            CHECK(unlink(below) == 0);
        }
    }
    (void)closedir(folder);
    return files;
}

static wb_convert_policy draw_policy(uint8_t how, uint8_t more, wb_convert_rule *rule)
{
    static const char *const quants[] = {NULL,    NULL,     "F16",        "BF16",      "F32",
                                         "Q8_0",  "Q4_0",   "Q4_K_M",     "Q6_K",      "affine4:32",
                                         "mxfp4", "mxfp8",  "nvfp4",      "mixed_3_6", "int4",
                                         "int8",  "IQ4_NL", "affine8:64", "MXFP4",     "Q5_1"};
    static const char *const patterns[] = {"attn", ".*", "weight$", "ffn|mlp", "(", "^token_embd"};
    *rule = (wb_convert_rule){patterns[more % 6], quants[2 + how / 20 % 6]};
    return (wb_convert_policy){.size = sizeof(wb_convert_policy),
                               .quant = quants[how % 20],
                               .rules = rule,
                               .rule_count = more & 64 ? 1 : 0,
                               .max_memory = more & 32 ? 1024 : 0,
                               .max_file_bytes = more & 16 ? 4096 : 0,
                               .flags = (more & 8 ? WB_CONVERT_STRICT : 0) |
                                        (more & 128 ? WB_CONVERT_FEB2026 : 0)};
}

/* Checks the plan and returns the size of the planned tensors in bytes. Sets *exact to whether the
 * conversion is lossless. */
static uint64_t check_plan(const wb_conversion *conversion, bool *exact)
{
    uint64_t bytes = 0;
    *exact = true;
    for (uint64_t i = 0; i < wb_conversion_count(conversion); i++) {
        wb_converted row = {.size = sizeof row};
        CHECK(wb_conversion_at(conversion, i, &row, NULL) == WB_OK);
        CHECK(row.name != NULL && row.source != NULL && row.to[0] != '\0');
        *exact =
            *exact && (row.fidelity == WB_FIDELITY_EXACT || row.fidelity == WB_FIDELITY_REPACKED);
        bytes += row.bytes;
    }
    fuzz_check_findings(wb_conversion_findings(conversion), SIZE_MAX);
    return bytes;
}

/* Returns true if both models name the same architecture. Otherwise their values cannot be
 * compared: a file without a config does not specify its row order and norm offset. */
static bool same_family(const wb_model *a, const wb_model *b)
{
    wb_config x = {.size = sizeof x}, y = {.size = sizeof y};
    CHECK(wb_config_get(a, &x, NULL) == WB_OK && wb_config_get(b, &y, NULL) == WB_OK);
    return x.architecture != NULL && y.architecture != NULL &&
           strcmp(x.architecture, y.architecture) == 0;
}

/* Returns true if the conversion adds 1 to norm weights or subtracts 1 from them. The comparison of
 * the values reverses this change, which turns -0 into 0. */
static bool moves_norms(const wb_model *a, const wb_model *b)
{
    wb_config x = {.size = sizeof x}, y = {.size = sizeof y};
    CHECK(wb_config_get(a, &x, NULL) == WB_OK && wb_config_get(b, &y, NULL) == WB_OK);
    return x.norm_offset != y.norm_offset;
}

/*
 * Returns true if the difference of the values is explained by the format of 4-bit GGML blocks.
 * They cannot represent -0. The order in which a value is multiplied by the per-tensor scale and by
 * the group scale differs between formats, which can change the last bit.
 */
static bool are_four_bits(const wb_conversion *conversion, const wb_distance *distance)
{
    bool four = false, factor = false;
    for (uint64_t i = 0; i < wb_conversion_count(conversion); i++) {
        wb_converted row = {.size = sizeof row};
        CHECK(wb_conversion_at(conversion, i, &row, NULL) == WB_OK);
        four = four || strcasecmp(row.to, "nvfp4") == 0 || strcasecmp(row.to, "mxfp4") == 0;
        factor = factor || strstr(row.name, "scale") != NULL;
    }
    return four && (distance->maximum == 0 || (factor && distance->nmse < 1e-12));
}

/* Checks that the result has the planned tensors and, if the plan is lossless, the same values. */
static void check_result(const wb_model *model, const wb_conversion *conversion, const char *path,
                         const char *store)
{
    wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ, .store = store};
    wb_model *result;
    wb_error error;
    bool exact;
    if (wb_open(path, &options, &result, &error) != WB_OK) {
        fprintf(stderr, "%s: %s\n", error.name, error.message);
        CHECK(false);
    }
    (void)check_plan(conversion, &exact);
    if (exact && same_family(model, result)) {
        wb_distance distance;
        wb_diff *diff;
        if (wb_diff_models(model, result, NULL, &diff, &error) == WB_OK) {
            wb_diff_distance(diff, &distance);
            CHECK(distance.different == 0 ||
                  (moves_norms(model, result) && distance.maximum == 0) ||
                  are_four_bits(conversion, &distance));
            wb_diff_free(diff);
        }
    }
    wb_close(result);
}

static void convert(const wb_model *model, wb_target target, const wb_convert_policy *policy,
                    const char *folder)
{
    char path[700], store[700];
    wb_conversion *conversion;
    wb_error error;
    bool exact;
    wb_convert_policy into = *policy;
    (void)snprintf(store, sizeof store, "%s/store", folder);
    if (target == WB_TARGET_OLLAMA)
        (void)snprintf(path, sizeof path, "m");
    else
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[target - 1]);
    into.store = store;
    wb_status status = wb_convert_plan(model, target, &into, &conversion, &error);
    CHECK((status == WB_OK) == (conversion != NULL));
    if (status != WB_OK) {
        fuzz_check_error(&error, status, SIZE_MAX);
        CHECK(status != WB_ERROR_IO && status != WB_ERROR_MEMORY && status != WB_ERROR_CHANGED);
        return;
    }
    if (check_plan(conversion, &exact) <= RESULT_MAX) {
        status = wb_convert(conversion, path, NULL, &error);
        if (status == WB_OK) {
            (void)snprintf(path, sizeof path, target == WB_TARGET_OLLAMA ? "ollama://m" : "%s/%s",
                           folder, names[target - 1]);
            if (access(path, F_OK) == 0 || target == WB_TARGET_OLLAMA)
                check_result(model, conversion, path, store);
            CHECK(sweep(folder) > 0);
        } else {
            fuzz_check_error(&error, status, SIZE_MAX);
            CHECK(status != WB_ERROR_IO && status != WB_ERROR_MEMORY && status != WB_ERROR_CHANGED);
            CHECK(sweep(folder) == 0);
        }
    }
    wb_conversion_free(conversion);
}

static char out[600];

static void remove_out(void)
{
    (void)rmdir(out);
}

/* Writes the model of this input. If the previous input was of the other kind (small model or
 * directory), removes the files of that input first, because they have other names. */
static void draw_model(fuzz_tape *tape, bool is_folder)
{
    static bool was_folder;
    if (is_folder && !was_folder) {
        fuzz_scratch_remove("config.json");
        fuzz_scratch_remove("model.safetensors");
    } else if (!is_folder && was_folder) {
        (void)fuzz_folder(tape->data, 0);
    }
    was_folder = is_folder;
    if (is_folder)
        (void)fuzz_folder(tape->data + tape->at, tape->size - tape->at);
    else
        fuzz_small_model(tape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_tape tape = {data, size, 0};
    uint32_t kind = fuzz_choose(&tape, 256);
    uint8_t how = (uint8_t)fuzz_choose(&tape, 256), more = (uint8_t)fuzz_choose(&tape, 256);
    fuzz_heap heap = {0, 0};
    wb_allocator allocator = fuzz_allocator(&heap);
    wb_open_options options = {
        .size = sizeof options, .access = WB_ACCESS_READ, .allocator = &allocator};
    wb_convert_rule rule;
    wb_convert_policy policy = draw_policy(how, more, &rule);
    wb_model *model;
    draw_model(&tape, (kind & 8) != 0);
    if (out[0] == '\0') {
        (void)snprintf(out, sizeof out, "%s-out", fuzz_scratch());
        CHECK(mkdir(out, 0700) == 0 && atexit(remove_out) == 0);
    }
    if (wb_open(fuzz_scratch(), &options, &model, NULL) == WB_OK)
        convert(model, (wb_target)(1 + (kind & 7) % 5), &policy, out);
    wb_close(model);
    CHECK(heap.live == 0);
    return 0;
}
