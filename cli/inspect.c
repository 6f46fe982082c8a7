/* wb inspect: prints the contents of a model. */
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

#include "exit.h"
#include "messages.h"
#include "options.h"
#include "paths.h"
#include "report.h"

/* Without options, a model with more tensors than this is shown layer by layer. */
#define MANY_TENSORS 200

typedef struct request {
    const arguments *args;
    uint64_t top; /* maximum number of tensors to list */
    wb_open_options options;
    wb_limits limits;
} request;

const char *inspection_canonical(const inspection *in, uint64_t index, size_t *len)
{
    *len = 0;
    if (in->canonical == NULL || index >= wb_tensor_count(in->model))
        return "";
    *len = (size_t)(in->canonical_at[index + 1] - in->canonical_at[index] - 1);
    return in->canonical + in->canonical_at[index];
}

static bool is_chosen(const inspection *in, uint64_t index, const wb_tensor *tensor)
{
    size_t len;
    if (in->filter == NULL || glob_matches(in->filter, tensor->name, tensor->name_len))
        return true;
    const char *canonical = inspection_canonical(in, index, &len);
    return len > 0 && glob_matches(in->filter, canonical, len);
}

bool inspection_tensor(const inspection *in, uint64_t index, wb_tensor *tensor,
                       wb_encoding *encoding)
{
    *tensor = (wb_tensor){.size = sizeof *tensor};
    *encoding = (wb_encoding){.size = sizeof *encoding};
    return wb_tensor_at(in->model, index, tensor, NULL) == WB_OK &&
           wb_tensor_encoding(in->model, index, encoding, NULL) == WB_OK &&
           is_chosen(in, index, tensor);
}

void text_add_kind(text *t, int32_t dtype, const wb_encoding *encoding)
{
    bool has_bits = strcmp(encoding->type, "affine") == 0;
    if (encoding->parts == 1 || strcmp(encoding->type, wb_dtype_name(dtype)) == 0) {
        text_adds(t, wb_dtype_name(dtype));
        return;
    }
    text_adds(t, encoding->type);
    if (has_bits)
        text_addf(t, "%u", encoding->bits);
    if (encoding->group_size != 0)
        text_addf(t, ":%u", encoding->group_size);
}

static bool is_kind(const kind_total *kind, int32_t dtype, const wb_encoding *encoding)
{
    return kind->dtype == dtype && strcmp(kind->encoding.type, encoding->type) == 0 &&
           kind->encoding.bits == encoding->bits &&
           kind->encoding.group_size == encoding->group_size;
}

size_t inspection_kind(const totals *sum, int32_t dtype, const wb_encoding *encoding)
{
    size_t i = 0;
    while (i < sum->count && !is_kind(&sum->kinds[i], dtype, encoding))
        i++;
    return i;
}

static void add_to(kind_total *total, const wb_tensor *tensor, bool is_tied)
{
    total->tensors++;
    total->parameters += is_tied ? 0 : tensor->elements;
    total->bytes += tensor->bytes;
}

/* Returns the index of the output tensor if it repeats the values of the embedding tensor (tied
 * embeddings that are stored twice), otherwise UINT64_MAX.
 */
static uint64_t find_tied(const wb_model *model)
{
    wb_config config = WB_CONFIG_INIT;
    wb_tensor output = WB_TENSOR_INIT, embedding = WB_TENSOR_INIT;
    uint64_t first, second;
    if (wb_config_get(model, &config, NULL) != WB_OK || config.tie_embeddings == 0 ||
        wb_tensor_find(model, "token_embedding.weight", SIZE_MAX, &first) != WB_OK ||
        wb_tensor_find(model, "output.weight", SIZE_MAX, &second) != WB_OK ||
        wb_tensor_at(model, first, &embedding, NULL) != WB_OK ||
        wb_tensor_at(model, second, &output, NULL) != WB_OK)
        return UINT64_MAX;
    return first != second && output.elements == embedding.elements ? second : UINT64_MAX;
}

static void add_up(inspection *in)
{
    totals *sum = &in->totals;
    uint64_t count = wb_tensor_count(in->model);
    uint64_t tied = find_tied(in->model);
    in->listed = need_memory(NULL, (size_t)count, sizeof *in->listed);
    for (uint64_t i = 0; i < count; i++) {
        wb_tensor tensor;
        wb_encoding encoding;
        if (!inspection_tensor(in, i, &tensor, &encoding))
            continue;
        in->listed[in->listed_count++] = i;
        size_t row = inspection_kind(sum, (int32_t)tensor.dtype, &encoding);
        if (row == sum->count) {
            sum->kinds = need_memory(sum->kinds, row + 1, sizeof *sum->kinds);
            sum->kinds[sum->count++] =
                (kind_total){.dtype = (int32_t)tensor.dtype, .encoding = encoding};
        }
        add_to(&sum->kinds[row], &tensor, i == tied);
        add_to(&sum->all, &tensor, i == tied);
        sum->weight_bytes += i == tied ? 0 : tensor.bytes;
    }
}

/* Sections printed if no option selects any. */
#define USUAL (SECTION_FILES | SECTION_CONFIG | SECTION_METADATA | SECTION_TENSORS | SECTION_TOTALS)

static void choose(inspection *in, const arguments *args)
{
    static const struct {
        option_id option;
        section section;
    } choices[] = {{OPTION_CONFIG, SECTION_CONFIG},     {OPTION_METADATA, SECTION_METADATA},
                   {OPTION_TENSORS, SECTION_TENSORS},   {OPTION_SORT, SECTION_TENSORS},
                   {OPTION_TOP, SECTION_TENSORS},       {OPTION_LAYERS, SECTION_LAYERS},
                   {OPTION_TREE, SECTION_TREE},         {OPTION_TOKENS, SECTION_TOKENS},
                   {OPTION_TEMPLATE, SECTION_TEMPLATE}, {OPTION_MODELFILE, SECTION_MODELFILE}};
    unsigned chosen = 0;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        chosen |= args->given[choices[i].option] ? choices[i].section : 0;
    in->is_chosen = chosen != 0;
    /* JSON output always has the default sections; options only add sections to them. */
    in->sections = chosen == 0 || args->given[OPTION_JSON] ? chosen | USUAL : chosen;
    if (args->given[OPTION_TENSORS_OFF])
        in->sections &= ~(unsigned)SECTION_TENSORS;
    if (args->given[OPTION_METADATA_OFF])
        in->sections &= ~(unsigned)SECTION_METADATA;
    in->is_whole = args->given[OPTION_METADATA];
    in->key = args->value[OPTION_METADATA];
}

/* Selects the tensors to list, or the table of layers (is_folded) if there are many tensors. */
static void choose_tensors(inspection *in, const request *r)
{
    const arguments *args = r->args;
    const char *sort = args->value[OPTION_SORT];
    inspection_order(in, sort == NULL && args->given[OPTION_TOP] ? "size" : sort, r->top);
    in->is_folded = in->listed_count > MANY_TENSORS && !in->is_chosen && in->filter == NULL &&
                    in->names != NAMES_BOTH && (in->sections & SECTION_TENSORS) != 0 &&
                    !args->given[OPTION_JSON];
    if (in->is_folded)
        in->sections = (in->sections & ~(unsigned)SECTION_TENSORS) | SECTION_LAYERS;
}

static wb_status choose_names(inspection *in, const arguments *args, wb_error *error)
{
    const char *asked = args->value[OPTION_NAMES];
    if (asked == NULL || strcmp(asked, "native") == 0)
        return WB_OK;
    in->names = strcmp(asked, "both") == 0 ? NAMES_BOTH : NAMES_CANONICAL;
    return wb_tensor_names(in->model, WB_NAMES_CANONICAL, &in->canonical, &in->canonical_at, error);
}

static int present(inspection *in, bool is_json)
{
    int code = EXIT_CLEAN;
    bool is_text = in->key != NULL || in->sections == SECTION_TEMPLATE ||
                   in->sections == SECTION_MODELFILE ||
                   in->sections == (SECTION_TEMPLATE | SECTION_MODELFILE);
    if (is_json && in->key != NULL) {
        code = inspect_key_as_json(in);
    } else if (is_json) {
        inspect_as_json(in);
    } else if (is_text) {
        code = print_texts(in);
    } else {
        inspect_as_text(in);
        if (in->sections & (SECTION_TEMPLATE | SECTION_MODELFILE))
            code = print_texts(in);
    }
    if (in->filter != NULL && in->totals.all.tensors == 0)
        code = worse(code, EXIT_FINDINGS);
    return worse(code, wb_findings_verdict(wb_model_findings(in->model)));
}

static int inspect(void *ctx, paths *seen, const char *path)
{
    const request *r = ctx;
    const arguments *args = r->args;
    wb_model *model;
    wb_error error;
    wb_status status = open_path(path, &r->options, &model, &error);
    if (status != WB_OK) {
        report_error(path_label(path), &error);
        if (args->given[OPTION_JSON])
            json_failure(path, &error);
        return exit_code_of_opening(status);
    }
    paths_cover(seen, model);
    inspection in = {.path = path,
                     .label = path_label(path),
                     .model = model,
                     .filter = args->value[OPTION_FILTER]};
    choose(&in, args);
    status = choose_names(&in, args, &error);
    int code = exit_code_of(status);
    if (status == WB_OK) {
        add_up(&in);
        choose_tensors(&in, r);
        code = present(&in, args->given[OPTION_JSON]);
    } else {
        report_error(in.label, &error);
        if (args->given[OPTION_JSON])
            json_failure(path, &error);
    }
    free(in.totals.kinds);
    free(in.listed);
    wb_close(model);
    return code;
}

static int parse_top(const arguments *args, uint64_t *top)
{
    const char *typed = args->value[OPTION_TOP];
    *top = UINT64_MAX;
    if (typed == NULL || (option_number(typed, top) && *top != 0))
        return 0;
    return report_usage(MSG_NUMBER_INVALID, "top");
}

int command_inspect(const arguments *args)
{
    request r = {.args = args};
    int code = parse_top(args, &r.top);
    if (code == 0)
        code = open_options_of(args, &r.options, &r.limits);
    if (code != 0)
        return code;
    return paths_each(args, inspect, &r);
}
