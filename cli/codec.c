/* wb codec: encodes raw values to any supported type, or decodes them. */
#include "codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "exit.h"
#include "messages.h"
#include "output.h"
#include "paths.h"
#include "report.h"
#include "suggest.h"

/* ---- the type ---- */

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n > m && strcasecmp(path + n - m, end) == 0;
}

/* Parses "affine4:64" (4 bits, groups of 64) or "affine4" (groups of 64 by default). */
static bool parse_affine(const char *typed, wb_mlx_type *type)
{
    static const char word[] = "affine";
    if (strncasecmp(typed, word, strlen(word)) != 0)
        return false;
    const char *bits = typed + strlen(word);
    if (bits[0] < '1' || bits[0] > '8' || (bits[1] != ':' && bits[1] != '\0'))
        return false;
    type->bits = (uint32_t)(bits[0] - '0');
    type->group_size = 64;
    if (bits[1] == '\0')
        return true;
    const char *group = bits + 2;
    size_t digits = strspn(group, "0123456789");
    if (digits == 0 || digits > 3 || group[digits] != '\0')
        return false;
    type->group_size = (uint32_t)strtoul(group, NULL, 10);
    return true;
}

static bool find_mlx(const char *typed, wb_mlx_type *type)
{
    static const struct {
        const char *name;
        wb_mlx_mode mode;
        uint32_t bits, group;
    } modes[] = {{"mxfp4", WB_MLX_MXFP4, 4, 32},
                 {"mxfp8", WB_MLX_MXFP8, 8, 32},
                 {"nvfp4", WB_MLX_NVFP4, 4, 16},
                 {"int4", WB_MLX_AFFINE, 4, 64},
                 {"int8", WB_MLX_AFFINE, 8, 64}};
    *type = (wb_mlx_type){.size = sizeof *type, .mode = WB_MLX_AFFINE};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcasecmp(typed, modes[i].name) == 0) {
            type->mode = modes[i].mode;
            type->bits = modes[i].bits;
            type->group_size = modes[i].group;
            return true;
        }
    }
    return parse_affine(typed, type);
}

/* Finds the type given by --type. Names are case-insensitive, so MXFP4 and NVFP4 name both a GGML
 * type and an MLX mode. If the encoded file is a .safetensors file, they mean the MLX mode.
 */
static int find_type(codec_job *job)
{
    const char *typed = job->args->value[OPTION_TYPE];
    const char *encoded = job->is_encoding ? job->output : job->input;
    codec_type *type = &job->type;
    type->is_mlx = find_mlx(typed, &type->mlx);
    type->dtype = wb_dtype_find(typed, SIZE_MAX);
    if (type->is_mlx && type->dtype >= 0)
        type->is_mlx = ends_with(encoded, ".safetensors");
    if (!type->is_mlx && type->dtype < 0) {
        text shown = {0};
        text_add_shown(&shown, typed, strlen(typed));
        const char *meant = suggest_dtype(typed);
        int code = meant == NULL ? report_usage(MSG_TYPE_UNKNOWN, shown.ptr)
                                 : report_usage(MSG_TYPE_MEANT, shown.ptr, meant);
        text_free(&shown);
        return code;
    }
    if (type->is_mlx) {
        const char *rule = job->args->value[OPTION_E8M0];
        type->mlx.e8m0 =
            rule != NULL && strcmp(rule, "nearest") == 0 ? WB_MLX_E8M0_NEAREST : WB_MLX_E8M0_UP;
        (void)snprintf(type->name, sizeof type->name, "%s", typed);
    } else {
        (void)snprintf(type->name, sizeof type->name, "%s", wb_dtype_name(type->dtype));
    }
    return 0;
}

static int find_columns(codec_job *job)
{
    uint64_t columns = 0;
    const char *p = job->args->value[OPTION_COLS];
    for (; *p >= '0' && *p <= '9' && columns < (uint64_t)1 << 40; p++)
        columns = columns * 10 + (uint64_t)(*p - '0');
    if (*p != '\0' || columns == 0 || columns >= (uint64_t)1 << 40)
        return report_usage(MSG_COLS_INVALID);
    job->columns = columns;
    return 0;
}

/* ---- importance matrix ---- */

static int read_importance(codec_job *job)
{
    const char *path = job->args->value[OPTION_IMATRIX];
    if (path == NULL)
        return 0;
    if (!job->is_encoding || job->type.is_mlx)
        return report_usage(MSG_IMPORTANCE_NOT_USED);
    codec_job matrix = {.args = job->args, .input = path, .label = path};
    size_t bytes = (size_t)job->columns * sizeof *job->importance, got = 0;
    int code = codec_open_input(&matrix, false);
    if (code == 0) {
        char end;
        size_t more = 0;
        job->importance = need_memory(NULL, (size_t)job->columns, sizeof *job->importance);
        code = codec_read(&matrix, job->importance, bytes, &got);
        if (code == 0 && got == bytes)
            code = codec_read(&matrix, &end, 1, &more);
        if (code == 0 && (got != bytes || more != 0))
            code = report_usage(MSG_IMPORTANCE_SIZE, (unsigned long long)bytes);
    }
    codec_close_input(&matrix);
    return code;
}

/* ---- command ---- */

static void answer(const codec_job *job)
{
    bool is_dry = job->args->given[OPTION_DRY_RUN];
    if (job->args->given[OPTION_JSON]) {
        wb_json json = out_json(out_stdout());
        json_answer(&json, "codec");
        json_text(&json, "type", job->type.name);
        json_number(&json, "columns", job->columns);
        json_number(&json, "rows", job->rows);
        json_text(&json, "output", job->output);
        json_number(&json, "bytes", job->bytes);
        wb_json_key(&json, "written", SIZE_MAX);
        wb_json_bool(&json, !is_dry);
        wb_json_end(&json, '}');
        out_json_end(&json);
    } else if (is_dry) {
        text t = {0};
        text_adds(&t, "would write ");
        text_add_count(&t, job->bytes);
        text_adds(&t, " bytes to ");
        text_add_shown(&t, job->output, strlen(job->output));
        text_adds(&t, ": ");
        text_add_count(&t, job->rows);
        text_addf(&t, " row%s of ", job->rows == 1 ? "" : "s");
        text_add_count(&t, job->columns);
        text_addf(&t, job->is_encoding ? " values as %s\n" : " values out of %s\n", job->type.name);
        out_text(out_stdout(), &t);
        text_free(&t);
    }
}

static int run(codec_job *job)
{
    int code = find_type(job);
    if (code == 0)
        code = find_columns(job);
    if (code == 0)
        code = read_importance(job);
    if (code == 0)
        code = !job->type.is_mlx  ? codec_blocks(job)
               : job->is_encoding ? codec_mlx_encode(job)
                                  : codec_mlx_decode(job);
    free(job->importance);
    if (code == 0)
        answer(job);
    return code;
}

int command_codec(const arguments *args)
{
    const char *verb = args->operands[0];
    bool is_encoding = strcmp(verb, "encode") == 0;
    if (strcmp(verb, "list") == 0)
        return args->count == 1 ? codec_list(args) : report_usage(MSG_CODEC_LIST_OPERANDS);
    if (!is_encoding && strcmp(verb, "decode") != 0)
        return report_usage(MSG_CODEC_VERB);
    if (args->count != 3)
        return report_usage("wb codec %s takes IN and OUT; - is standard input or output", verb);
    if (!args->given[OPTION_TYPE] || !args->given[OPTION_COLS])
        return report_usage(MSG_CODEC_TYPE_AND_COLS);
    codec_job job = {.args = args,
                     .input = args->operands[1],
                     .output = args->operands[2],
                     .label = path_label(args->operands[1]),
                     .is_encoding = is_encoding};
    int code = open_options_of(args, &job.options, &job.limits);
    if (code != 0)
        return code;
    if (output_is_stdout(job.output) && args->given[OPTION_JSON] && !args->given[OPTION_DRY_RUN])
        return report_usage(MSG_JSON_AND_STDOUT);
    return run(&job);
}
