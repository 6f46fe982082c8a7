/* wb codec list: the table of supported types. */
#include <stdio.h>

#include "codec.h"
#include "exit.h"
#include "report.h"
#include "table.h"

/* One row of the table: a dtype or an MLX mode. */
typedef struct kind {
    const char *name;
    int32_t code;       /* type number in the library's interface */
    const char *blocks; /* number of elements per block */
    double bits;        /* bits per weight, scales included */
    bool decodes, encodes;
    const char *importance;
    const char *description;
    char number[16];
} kind;

#define MLX(bits) "MLX: codes with " #bits " bits, scale and bias in binary32 (bits are for G = 64)"

static const kind modes[] = {
    {"affine1:G", 97, "32|64|128", 2, true, true, "ignored", MLX(1), ""},
    {"affine2:G", 98, "32|64|128", 3, true, true, "ignored", MLX(2), ""},
    {"affine3:G", 99, "32|64|128", 4, true, true, "ignored", MLX(3), ""},
    {"affine4:G", 100, "32|64|128", 5, true, true, "ignored", MLX(4), ""},
    {"affine5:G", 103, "32|64|128", 6, true, true, "ignored", MLX(5), ""},
    {"affine6:G", 102, "32|64|128", 7, true, true, "ignored", MLX(6), ""},
    {"affine8:G", 101, "32|64|128", 9, true, true, "ignored", MLX(8), ""},
    {"int4", 100, "64", 5, true, true, "ignored", "Ollama's name for affine4:64", ""},
    {"int8", 101, "64", 9, true, true, "ignored", "Ollama's name for affine8:64", ""},
    {"mxfp4", 104, "32", 4.25, true, true, "ignored",
     "MLX: F4 values and an E8M0 scale; used for .safetensors files", ""},
    {"mxfp8", 105, "32", 8.25, true, true, "ignored", "MLX: E4M3 values and an E8M0 scale", ""},
    {"nvfp4", 106, "16", 4.5, true, true, "ignored",
     "MLX: F4 values and an E4M3 scale; used for .safetensors files", ""},
};

#define MODES (sizeof modes / sizeof modes[0])
#define DTYPES 256 /* upper bound of dtype numbers */

static const char *importance_name(wb_importance importance)
{
    switch (importance) {
    case WB_IMPORTANCE_OPTIONAL: return "optional";
    case WB_IMPORTANCE_REQUIRED: return "required";
    case WB_IMPORTANCE_IGNORED: break;
    }
    return "ignored";
}

static bool get(uint64_t index, kind *k)
{
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    if (index >= DTYPES) {
        *k = modes[index - DTYPES];
        return true;
    }
    if (wb_dtype_describe((int32_t)index, &info) != WB_OK)
        return false;
    *k = (kind){.name = info.name,
                .code = (int32_t)index,
                .bits = (double)info.block_bits / info.block_size,
                .decodes = info.decodes != 0,
                .encodes = info.encodes != 0,
                .importance = importance_name(info.importance),
                .description = info.description};
    (void)snprintf(k->number, sizeof k->number, "%u", info.block_size);
    return true;
}

static bool list_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    kind k;
    (void)ctx;
    if (!get(index, &k))
        return false;
    text_adds(&cells[0], k.name);
    text_addf(&cells[1], "%d", k.code);
    text_adds(&cells[2], k.blocks == NULL ? k.number : k.blocks);
    text_addf(&cells[3], "%.4g", k.bits);
    text_adds(&cells[4], k.decodes ? "yes" : "no");
    text_adds(&cells[5], k.encodes ? "yes" : "no");
    text_adds(&cells[6], !k.encodes ? "" : k.importance);
    text_adds(&cells[7], k.description);
    return true;
}

static void answer(const kind *k)
{
    wb_json json = out_json(out_stdout());
    json_answer(&json, "codec-type");
    json_text(&json, "type", k->name);
    json_number(&json, "code", (uint64_t)k->code);
    json_text(&json, "block", k->blocks == NULL ? k->number : k->blocks);
    wb_json_key(&json, "bits_per_weight", SIZE_MAX);
    wb_json_double(&json, k->bits);
    wb_json_key(&json, "decodes", SIZE_MAX);
    wb_json_bool(&json, k->decodes);
    wb_json_key(&json, "encodes", SIZE_MAX);
    wb_json_bool(&json, k->encodes);
    json_text(&json, "importance", k->importance);
    json_text(&json, "description", k->description);
    wb_json_end(&json, '}');
    out_json_end(&json);
}

int codec_list(const arguments *args)
{
    kind k;
    for (uint64_t i = 0; args->given[OPTION_JSON] && i < DTYPES + MODES; i++) {
        if (get(i, &k))
            answer(&k);
    }
    if (!args->given[OPTION_JSON])
        table_print(out_stdout(), &(table){.columns = 8,
                                           .titles = {"type", "code", "block", "bits", "decodes",
                                                      "encodes", "importance", "description"},
                                           .align = "lrrrllll",
                                           .rows = DTYPES + MODES,
                                           .row = list_row});
    return EXIT_CLEAN;
}
