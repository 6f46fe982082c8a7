#include "convert/lora/lora.h"

#include <math.h>
#include <stdlib.h>

#include "arch/row_order.h"
#include "convert/convert_messages.h"
#include "convert/lora/lora_alphas.h"
#include "convert/plan/input_files.h"

typedef struct adapter {
    wb_conversion *conversion;
    wb__context *context;
    wb_model *model;
    bool is_gguf, is_mlx;
    /* Alpha of all modules without an alpha of their own; 0: not specified. For MLX: the scale,
     * which is not divided by the rank. */
    double alpha;
    wb__lora_alphas own; /* alphas of single modules, which override `alpha` */
    double pair_alpha;   /* alpha of the pair of matrices A and B that is being read */
    /* the scale is alpha divided by the square root of the rank (rsLoRA), not by the rank */
    bool by_root;
    double scale;
    /* rows of the plan, sorted by meaning (rule, layer, suffix) and name */
    wb__planned_tensor **rows;
    wb__list hung; /* list of hung_at, used to detect two pairs for the same weight */
} adapter;

/* The place to which a pair was attached: the plan row of an output tensor, and the first row of
 * this tensor to which the pair applies. */
typedef struct hung_at {
    const wb__planned_tensor *row;
    uint64_t first;
} hung_at;

static wb_status fail(const adapter *of, wb_status status, wb__str name, const char *what)
{
    return wb__fail(of->context, status, WB__FINDING_CONVERT_LORA, WB_NO_OFFSET, name, "%s", what);
}

/* ---- adapter configuration ---- */

/* Reads the configuration of an MLX adapter. `parameters` is the JSON object lora_parameters.
 * Returns false if the object contains no scale. */
static bool read_mlx(adapter *of, const wb__tree *tree, wb__node parameters, bool *is_lora)
{
    wb__node type = wb__tree_get(tree, 0, "fine_tune_type");
    of->is_mlx = true;
    *is_lora = type == WB__NO_NODE || wb__str_equal(wb__tree_string(tree, type), WB__STR("lora"));
    return wb__tree_double(tree, wb__tree_get(tree, parameters, "scale"), &of->alpha);
}

/* Rejects adapter types that have the same tensors as plain LoRA but another meaning. For
 * example, an activated LoRA (aLoRA) takes effect only after certain tokens. */
static wb_status check_kind(const adapter *of, const wb__tree *tree)
{
    bool is_dora = false;
    wb__node type = wb__tree_get(tree, 0, "peft_type"), dora = wb__tree_get(tree, 0, "use_dora");
    wb__node tokens = wb__tree_get(tree, 0, "alora_invocation_tokens");
    if (dora != WB__NO_NODE)
        (void)wb__tree_bool(tree, dora, &is_dora);
    if (is_dora ||
        (type != WB__NO_NODE && !wb__str_equal(wb__tree_string(tree, type), WB__STR("LORA"))))
        return fail(of, WB_ERROR_UNSUPPORTED, WB__STR(""), WB__MSG_CONVERT_LORA_KIND);
    if (tokens != WB__NO_NODE && wb__tree_type(tree, tokens) != WB__JSON_NULL)
        return fail(of, WB_ERROR_UNSUPPORTED, WB__STR(""), WB__MSG_CONVERT_LORA_ALORA);
    return WB_OK;
}

static wb_status read_peft(adapter *of, const wb__tree *tree, bool *is_sound)
{
    double rank;
    wb__node alpha = wb__tree_get(tree, 0, "lora_alpha");
    of->alpha = 8; /* default value in PEFT */
    *is_sound = wb__tree_double(tree, wb__tree_get(tree, 0, "r"), &rank) &&
                (alpha == WB__NO_NODE || wb__tree_double(tree, alpha, &of->alpha));
    if (wb__tree_get(tree, 0, "use_rslora") != WB__NO_NODE)
        (void)wb__tree_bool(tree, wb__tree_get(tree, 0, "use_rslora"), &of->by_root);
    wb_status status = check_kind(of, tree);
    return status == WB_OK ? wb__lora_alphas_read(of->context, &of->conversion->arena, tree,
                                                  wb__tree_get(tree, 0, "alpha_pattern"), &of->own)
                           : status;
}

static wb_status read_config(adapter *of)
{
    char *text;
    size_t n;
    wb__tree tree;
    bool is_lora = true;
    if (wb_meta_get_float(of->model, "adapter.lora.alpha", SIZE_MAX, &of->alpha, NULL) == WB_OK) {
        of->is_gguf = true;
        return WB_OK;
    }
    if (strcmp(wb_format(of->model), "gguf") == 0)
        return fail(of, WB_ERROR_UNSUPPORTED, WB__STR(""), WB__MSG_CONVERT_LORA_GGUF);
    wb_status status = wb__sidecar_text(of->model, of->context, "adapter_config.json", &text, &n);
    if (status != WB_OK)
        return status;
    if (text == NULL)
        return fail(of, WB_ERROR_NOT_FOUND, WB__STR(""), WB__MSG_CONVERT_LORA_CONFIG_MISSING);
    bool sound = wb__tree_parse(&tree, text, n, &of->context->allocator);
    wb__node parameters = sound ? wb__tree_get(&tree, 0, "lora_parameters") : WB__NO_NODE;
    if (sound && parameters != WB__NO_NODE)
        sound = read_mlx(of, &tree, parameters, &is_lora);
    else if (sound)
        status = read_peft(of, &tree, &sound);
    wb__tree_free(&tree);
    wb__free(&of->context->allocator, text, n + 1);
    if (status != WB_OK)
        return status;
    if (!is_lora)
        return fail(of, WB_ERROR_UNSUPPORTED, WB__STR(""), WB__MSG_CONVERT_LORA_FINE_TUNE);
    return sound ? WB_OK : fail(of, WB_ERROR_FORMAT, WB__STR(""), WB__MSG_CONVERT_LORA_CONFIG);
}

/* ---- pairs of matrices A and B ---- */

/* Computes the name of the weight from the name of its matrix A, for example "….lora_A.weight".
 * Returns false if the tensor is not a matrix A. */
static bool weight_of(wb__str name, char *out, size_t capacity, wb__str *weight)
{
    static const wb__str ends[] = {
        {".lora_A.weight", 14}, {".lora_A.default.weight", 22}, {".lora_a", 7}};
    static const wb__str front = {"base_model.model.", 17};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (!wb__str_ends_with(name, ends[i]))
            continue;
        wb__str stem = {name.ptr, name.len - ends[i].len};
        if (wb__str_starts_with(stem, front) && stem.len > front.len)
            stem = (wb__str){stem.ptr + front.len, stem.len - front.len};
        wb__str tail =
            wb__str_ends_with(stem, WB__STR(".weight")) ? WB__STR("") : WB__STR(".weight");
        if (stem.len >= capacity - tail.len)
            return false;
        memcpy(out, stem.ptr, stem.len);
        memcpy(out + stem.len, tail.ptr, tail.len);
        *weight = (wb__str){out, stem.len + tail.len};
        return true;
    }
    return false;
}

/* Returns the name of matrix B for the name of matrix A, or the reverse. */
static wb__str other_of(wb__str name, char *out, size_t capacity)
{
    if (name.len >= capacity)
        return (wb__str){"", 0};
    memcpy(out, name.ptr, name.len);
    for (size_t i = name.len; i-- > 5;) {
        if (memchr("AaBb", out[i], 4) != NULL && memcmp(out + i - 5, "lora_", 5) == 0) {
            out[i] ^= 'A' ^ 'B';
            break;
        }
    }
    return (wb__str){out, name.len};
}

/* ---- rows of the plan ---- */

/* Compares rows by rule, layer and suffix. The order of the rule pointers has no meaning. It
 * only makes rows with the same rule adjacent. */
static int by_meaning(const wb__planned_tensor *a, const wb__planned_tensor *b)
{
    uintptr_t x = (uintptr_t)a->rule, y = (uintptr_t)b->rule;
    if (x != y)
        return x < y ? -1 : 1;
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    return (a->suffix > b->suffix) - (a->suffix < b->suffix);
}

static int by_meaning_and_name(const void *left, const void *right)
{
    const wb__planned_tensor *a = *(wb__planned_tensor *const *)left,
                             *b = *(wb__planned_tensor *const *)right;
    int order = by_meaning(a, b);
    return order != 0 ? order : wb__str_compare(a->name, b->name);
}

static wb_status sort_rows(adapter *of)
{
    size_t n = of->conversion->tensors.count;
    of->rows = wb__arena_alloc(&of->conversion->arena, (n + 1) * sizeof *of->rows);
    if (of->rows == NULL)
        return wb__fail_memory(of->context);
    for (size_t i = 0; i < n; i++)
        of->rows[i] = wb__list_at(&of->conversion->tensors, i);
    qsort(of->rows, n, sizeof *of->rows, by_meaning_and_name);
    return WB_OK;
}

/* Returns the first row with the rule, layer and suffix of `matched` whose name is not before
 * `name` in sort order. Returns NULL if no such row exists. */
static wb__planned_tensor **find_rows(const adapter *of, const wb__matched *matched, wb__str name)
{
    wb__planned_tensor what = {
        .rule = matched->rule, .layer = matched->layer, .suffix = matched->suffix, .name = name};
    wb__planned_tensor *const wanted = &what;
    size_t low = 0, high = of->conversion->tensors.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_meaning_and_name(&of->rows[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool has = low < of->conversion->tensors.count && by_meaning(of->rows[low], wanted) == 0;
    return has ? &of->rows[low] : NULL;
}

/* Returns the next row if it has the same rule, layer and suffix as this row, otherwise NULL. */
static wb__planned_tensor **next_row(const adapter *of, wb__planned_tensor **row)
{
    wb__planned_tensor **end = of->rows + of->conversion->tensors.count;
    return row + 1 < end && by_meaning(row[1], row[0]) == 0 ? row + 1 : NULL;
}

/* The rows of an output tensor to which a pair is applied. */
typedef struct target {
    wb__planned_tensor *row;
    uint64_t first, rows; /* range of rows: one expert of a stack, or the complete tensor */
    /* number of experts if the matrices of the adapter are stacked; otherwise 1 */
    uint64_t experts;
} target;

/* Returns true if the adapter changes the output tensor of *row, and sets *to to the rows that it
 * changes. `matched` is the parsed name in the adapter. If this name contains an expert number,
 * *row must be the stack of all experts, or the tensor `name`, which contains only this expert. */
static bool is_target(const wb__matched *matched, wb__str name, wb__planned_tensor *row, target *to)
{
    if (row->rank < 2 || row->rank > 3)
        return false;
    *to = (target){row, 0, row->rows, row->rank == 3 ? row->shape[0] : 1};
    if (!matched->has_expert)
        return to->experts > 0;
    if (row->rank == 2)
        return wb__str_equal(name, row->name);
    if (matched->expert >= to->experts)
        return false;
    to->rows = row->rows / to->experts;
    to->first = matched->expert * to->rows;
    to->experts = 1;
    return true;
}

static bool target_of(const adapter *of, wb__str name, target *to)
{
    wb__matched matched;
    if (!wb__rule_match(&of->conversion->semantics->names.rules, name, &matched) ||
        matched.suffix != WB__SUFFIX_WEIGHT)
        return false;
    if (!matched.has_expert) {
        wb__planned_tensor **row = find_rows(of, &matched, WB__STR(""));
        while (row != NULL && !is_target(&matched, name, *row, to))
            row = next_row(of, row);
        return row != NULL;
    }
    /* The output contains the expert in a stack or as a separate tensor. A stack is the only row
     * with its rule, layer and suffix. */
    wb__str own =
        wb__plan_name(of->conversion, matched.rule, matched.layer, matched.expert, matched.suffix);
    wb__planned_tensor **stack = find_rows(of, &matched, WB__STR(""));
    wb__planned_tensor **one = own.ptr == NULL ? NULL : find_rows(of, &matched, own);
    return (stack != NULL && is_target(&matched, own, *stack, to)) ||
           (one != NULL && is_target(&matched, own, *one, to));
}

/* Reads a matrix, or a stack that contains one matrix per expert. */
static wb_status read_matrix(const adapter *of, wb__str name, uint64_t experts, uint64_t rows,
                             uint64_t columns, float **values)
{
    uint64_t index, bytes;
    size_t size;
    wb_tensor tensor = {.size = sizeof tensor};
    if (wb_tensor_find(of->model, name.ptr, name.len, &index) != WB_OK)
        return fail(of, WB_ERROR_FORMAT, name, WB__MSG_CONVERT_LORA_HALF);
    wb_status status = wb_tensor_at(of->model, index, &tensor, of->context->error);
    if (status != WB_OK)
        return status;
    const uint64_t *shape = tensor.shape + (tensor.rank == 3 ? 1 : 0);
    bool fits = experts > 1 ? tensor.rank == 3 && tensor.shape[0] == experts : tensor.rank == 2;
    if (!fits || shape[0] != rows || shape[1] != columns)
        return fail(of, WB_ERROR_ARGUMENT, name, WB__MSG_CONVERT_LORA_SHAPE);
    if (!wb__mul(tensor.elements, sizeof(float), &bytes) || !wb__to_size(bytes, &size) ||
        (*values = wb__arena_alloc(&of->conversion->arena, size)) == NULL)
        return wb__fail_memory(of->context);
    return wb_tensor_read(of->model, index, NULL, WB_DTYPE_F32, *values, bytes, of->context->error);
}

/* Transposes a matrix. MLX stores the matrices of an adapter transposed. */
static wb_status transpose(const adapter *of, uint64_t rows, uint64_t columns, float **values)
{
    float *turned =
        wb__arena_alloc(&of->conversion->arena, (size_t)(rows * columns) * sizeof *turned);
    if (turned == NULL)
        return wb__fail_memory(of->context);
    for (uint64_t row = 0; row < rows; row++) {
        for (uint64_t column = 0; column < columns; column++)
            turned[column * rows + row] = (*values)[row * columns + column];
    }
    *values = turned;
    return WB_OK;
}

/* Reads the matrices A and B. For a stack of experts, reads the matrices of each expert. Sets
 * *a to matrices [rank, inputs] and *b to matrices [outputs, rank], whatever layout the adapter
 * file has. */
static wb_status read_halves(const adapter *of, wb__str name, const target *to, uint64_t rank,
                             float **a, float **b)
{
    char text[512];
    uint64_t columns = to->row->columns, rows = to->rows / to->experts;
    bool turned = of->is_mlx && to->experts == 1;
    wb_status status =
        read_matrix(of, name, to->experts, turned ? columns : rank, turned ? rank : columns, a);
    if (status == WB_OK)
        status = read_matrix(of, other_of(name, text, sizeof text), to->experts,
                             turned ? rank : rows, turned ? rows : rank, b);
    if (status == WB_OK && turned)
        status = transpose(of, columns, rank, a);
    return status == WB_OK && turned ? transpose(of, rank, rows, b) : status;
}

/* Permutes the rows of B from the row order of the adapter's format (GGUF or Hugging Face) to
 * the row order of the output. */
static wb_status order_rows(const adapter *of, const wb__planned_tensor *row, uint64_t rank,
                            float **b)
{
    bool into = of->conversion->target == WB_TARGET_GGUF;
    uint64_t heads;
    if (!wb__plan_interleaves(of->conversion, row->rule, &heads) || of->is_gguf == into)
        return WB_OK;
    uint64_t head_rows = wb__row_order_head(row->rows, heads);
    if (head_rows == 0)
        return fail(of, WB_ERROR_UNSUPPORTED, row->name, WB__MSG_CONVERT_LORA_HEADS);
    size_t bytes = (size_t)(row->rows * rank) * sizeof(float);
    float *sorted = wb__arena_alloc(&of->conversion->arena, bytes);
    if (sorted == NULL)
        return wb__fail_memory(of->context);
    wb__rows_reorder(into ? WB__ROWS_INTERLEAVE : WB__ROWS_SEPARATE, head_rows, (uint8_t *)sorted,
                     (const uint8_t *)*b, row->rows, (size_t)rank * sizeof(float));
    *b = sorted;
    return WB_OK;
}

/* Returns true if the adapter and the output store the weight in different layouts, or if one of
 * them stores it transposed. */
static bool has_other_layout(const adapter *of, const wb__planned_tensor *row)
{
    const wb__spelling *own =
        wb__rule_spelling(row->rule, of->is_gguf ? WB__SIDE_GGUF : WB__SIDE_HF);
    const wb__spelling *to = wb__rule_spelling(row->rule, wb__plan_side(of->conversion));
    return row->gather != NULL || wb__spelling_moves(own) != wb__spelling_moves(to) ||
           wb__spelling_transform(own, WB__TRANSFORM_TRANSPOSE) != NULL;
}

static wb_status hang(adapter *of, const target *to, uint64_t rank, const float *a, const float *b)
{
    double divisor = of->is_mlx ? 1 : of->by_root ? sqrt((double)rank) : (double)rank;
    uint64_t rows = to->rows / to->experts;
    float scale = (float)(of->scale * of->pair_alpha / divisor);
    if (!isfinite(scale))
        return fail(of, WB_ERROR_FORMAT, WB__STR(""), WB__MSG_CONVERT_LORA_SCALE);
    if (has_other_layout(of, to->row))
        return fail(of, WB_ERROR_UNSUPPORTED, to->row->name, WB__MSG_CONVERT_LORA_LAYOUT);
    for (uint64_t expert = 0; expert < to->experts; expert++) {
        struct wb__lora *lora = wb__arena_alloc(&of->conversion->arena, sizeof *lora);
        hung_at *at = wb__list_append(&of->hung);
        if (lora == NULL || at == NULL)
            return wb__fail_memory(of->context);
        *at = (hung_at){to->row, to->first + expert * rows};
        *lora = (struct wb__lora){.next = to->row->lora,
                                  .a = a + expert * rank * to->row->columns,
                                  .b = b + expert * rank * rows,
                                  .first = to->first + expert * rows,
                                  .rows = rows,
                                  .rank = rank,
                                  .scale = scale};
        to->row->lora = lora;
    }
    return WB_OK;
}

static int by_place(const void *left, const void *right)
{
    const hung_at *a = *(const hung_at *const *)left, *b = *(const hung_at *const *)right;
    uintptr_t x = (uintptr_t)a->row, y = (uintptr_t)b->row;
    return x != y ? (x > y) - (x < y) : (a->first > b->first) - (a->first < b->first);
}

/* Rejects adapters that contain two pairs for the same weight, because only one of them can be
 * intended. For example, the names of both pairs may differ only in the prefix
 * "base_model.model.". */
static wb_status check_once(const adapter *of)
{
    size_t n = of->hung.count;
    const hung_at **sorted = wb__arena_alloc(&of->conversion->arena, (n + 1) * sizeof *sorted);
    if (sorted == NULL)
        return wb__fail_memory(of->context);
    for (size_t i = 0; i < n; i++)
        sorted[i] = wb__list_at(&of->hung, i);
    qsort(sorted, n, sizeof *sorted, by_place);
    for (size_t i = 1; i < n; i++) {
        if (by_place(&sorted[i - 1], &sorted[i]) == 0)
            return fail(of, WB_ERROR_FORMAT, sorted[i]->row->source_name,
                        WB__MSG_CONVERT_LORA_TWICE);
    }
    return WB_OK;
}

/* ---- stacked pairs of an adapter for separate experts of the output ---- */

/* Sets rows[i] to the output row of expert i. Returns false if the output rows do not match the
 * stack of the adapter. */
static bool find_experts(const adapter *of, const wb__matched *stack, uint64_t count,
                         wb__planned_tensor **rows)
{
    const wb__planned_tensor *first = NULL;
    uint64_t found = 0;
    for (wb__planned_tensor **at = find_rows(of, stack, WB__STR("")); at != NULL;
         at = next_row(of, at)) {
        wb__planned_tensor *row = *at;
        wb__matched one;
        if (row->rank != 2 ||
            !wb__rule_match(&of->conversion->semantics->names.rules, row->name, &one) ||
            !one.has_expert)
            continue;
        first = first == NULL ? row : first;
        if (one.expert >= count || rows[one.expert] != NULL || row->rows != first->rows ||
            row->columns != first->columns)
            return false;
        rows[one.expert] = row;
        found++;
    }
    return found == count;
}

/* If the adapter stacks the matrices of all experts in one pair, but the output stores each expert
 * separately, attaches the matrices to the experts and sets *done to true. */
static wb_status read_spread(adapter *of, const wb_tensor *tensor, wb__str weight, bool *done)
{
    wb__str name = {tensor->name, tensor->name_len};
    wb__matched matched;
    float *a = NULL, *b = NULL;
    *done = tensor->rank == 3 && tensor->elements > 0 && tensor->shape[0] > 1 &&
            tensor->shape[0] <= WB__NUMBER_MAX &&
            wb__rule_match(&of->conversion->semantics->names.rules, weight, &matched) &&
            !wb__plan_stacks(of->conversion, matched.rule) && !matched.has_expert &&
            matched.suffix == WB__SUFFIX_WEIGHT;
    if (!*done)
        return WB_OK;
    uint64_t count = tensor->shape[0], rank = tensor->shape[1];
    size_t bytes = (size_t)count * sizeof(wb__planned_tensor *);
    wb__planned_tensor **rows = wb__arena_alloc(&of->conversion->arena, bytes);
    if (rows == NULL)
        return wb__fail_memory(of->context);
    memset(rows, 0, bytes);
    if (!find_experts(of, &matched, count, rows))
        return fail(of, WB_ERROR_ARGUMENT, name, WB__MSG_CONVERT_LORA_EXPERTS);
    const target all = {rows[0], 0, rows[0]->rows * count, count};
    wb_status status = read_halves(of, name, &all, rank, &a, &b);
    for (uint64_t i = 0; i < count && status == WB_OK; i++) {
        const target one = {rows[i], 0, rows[i]->rows, 1};
        status =
            hang(of, &one, rank, a + i * rank * rows[i]->columns, b + i * rank * rows[i]->rows);
    }
    return status;
}

static wb_status read_pair(adapter *of, const wb_tensor *tensor, wb__str weight)
{
    float *a = NULL, *b = NULL;
    target to;
    wb__str name = {tensor->name, tensor->name_len};
    bool done;
    of->pair_alpha = of->alpha;
    wb__lora_alphas_find(&of->own, (wb__str){weight.ptr, weight.len - (sizeof ".weight" - 1)},
                         &of->pair_alpha);
    wb_status spread = read_spread(of, tensor, weight, &done);
    if (spread != WB_OK || done)
        return spread;
    if (!target_of(of, weight, &to))
        return fail(of, WB_ERROR_UNSUPPORTED, name, WB__MSG_CONVERT_LORA_NO_WEIGHT);
    if (tensor->rank != (to.experts > 1 ? 3u : 2u) || tensor->elements == 0)
        return fail(of, WB_ERROR_ARGUMENT, name, WB__MSG_CONVERT_LORA_RANK);
    uint64_t rank = tensor->shape[of->is_mlx && to.experts == 1 ? 1 : tensor->rank - 2];
    wb_status status = read_halves(of, name, &to, rank, &a, &b);
    if (status == WB_OK)
        status = order_rows(of, to.row, rank, &b);
    return status == WB_OK ? hang(of, &to, rank, a, b) : status;
}

/* Checks a tensor that is not a matrix A. Accepts a matrix B whose matrix A exists. Any other
 * tensor means that the type of the adapter is not supported. */
static wb_status check_other(const adapter *of, wb__str name)
{
    static const wb__str ends[] = {
        {".lora_B.weight", 14}, {".lora_B.default.weight", 22}, {".lora_b", 7}};
    char text[512];
    uint64_t index;
    bool is_b = false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        is_b = is_b || wb__str_ends_with(name, ends[i]);
    if (!is_b)
        return fail(of, WB_ERROR_UNSUPPORTED, name, WB__MSG_CONVERT_LORA_OTHER);
    wb__str a = other_of(name, text, sizeof text);
    return wb_tensor_find(of->model, a.ptr, a.len, &index) == WB_OK
               ? WB_OK
               : fail(of, WB_ERROR_FORMAT, name, WB__MSG_CONVERT_LORA_HALF);
}

static wb_status read_all(adapter *of)
{
    wb_status status = read_config(of);
    size_t pairs = 0;
    if (status == WB_OK)
        status = sort_rows(of);
    for (uint64_t i = 0; i < wb_tensor_count(of->model) && status == WB_OK; i++) {
        char text[512];
        wb__str weight;
        wb_tensor tensor = {.size = sizeof tensor};
        status = wb_tensor_at(of->model, i, &tensor, of->context->error);
        wb__str name = {tensor.name, tensor.name_len};
        if (status == WB_OK && weight_of(name, text, sizeof text, &weight)) {
            status = read_pair(of, &tensor, weight);
            pairs++;
        } else if (status == WB_OK) {
            status = check_other(of, name);
        }
    }
    if (status == WB_OK && pairs == 0)
        status = fail(of, WB_ERROR_UNSUPPORTED, WB__STR(""), WB__MSG_CONVERT_LORA_EMPTY);
    return status == WB_OK ? check_once(of) : status;
}

wb_status wb__lora_read(wb_conversion *conversion, wb__context *context, const char *path,
                        double scale)
{
    adapter of = {.conversion = conversion,
                  .context = context,
                  .scale = scale,
                  .hung = {.arena = &conversion->arena, .item_size = sizeof(hung_at)}};
    const wb_open_options options = {.size = sizeof options,
                                     .access = WB_ACCESS_READ,
                                     .flags = context->follow_links ? WB_OPEN_FOLLOW_LINKS : 0,
                                     .limits = &context->limits,
                                     .allocator = &context->allocator};
    wb_status status = wb_open(path, &options, &of.model, context->error);
    if (status != WB_OK)
        return status;
    context->file = path;
    status = wb__inputs_add_adapter(conversion, context, of.model);
    if (status == WB_OK)
        status = read_all(&of);
    context->file = "";
    wb__list_free(&of.hung);
    wb_close(of.model);
    return status;
}

/* ---- merging ---- */

static void add_one(const struct wb__lora *lora, uint64_t row, uint64_t columns, float *to)
{
    const float *b = lora->b + (row - lora->first) * lora->rank;
    for (uint64_t k = 0; k < lora->rank; k++) {
        const float *a = lora->a + k * columns;
        float factor = b[k] * lora->scale;
        for (uint64_t i = 0; i < columns; i++)
            to[i] += factor * a[i];
    }
}

void wb__lora_add(const struct wb__lora *lora, uint64_t first, uint64_t rows, uint64_t columns,
                  float *values)
{
    for (; lora != NULL; lora = lora->next) {
        uint64_t end = lora->first + lora->rows, last = first + rows;
        for (uint64_t row = lora->first > first ? lora->first : first; row < end && row < last;
             row++)
            add_one(lora, row, columns, values + (row - first) * columns);
    }
}
