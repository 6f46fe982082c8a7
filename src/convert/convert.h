/* convert: converts a model to another file format in two steps, planning and streaming.
 *
 * A plan has one row per output tensor: its name, the source tensor, the source rows and their
 * order, the arithmetic applied to its values, and the encodings before and after. Planning
 * (wb__plan_make) reads only headers, sidecar files, adapters and per-tensor scales, so a caller
 * can show the plan before any data is converted. wb__plan_run divides the tensors into tiles of
 * rows. The caller's executor reads, transforms, encodes and writes the tiles in parallel and in
 * any order, within the memory limit.
 *
 * Module directories: plan/ (source tensors, names and encodings), recipe/ (quantization recipes
 * and encodings), exec/ (tiles, scheduling and error statistics), emit/ (metadata and sidecar
 * files).
 *
 * The output depends neither on the executor nor on the memory limit. */
#ifndef WB_CONVERT_CONVERT_H
#define WB_CONVERT_CONVERT_H

#include "convert/exec/readahead.h"
#include "convert/recipe/encoding.h"
#include "convert/recipe/llama_ftype.h"
#include "handle/semantics.h"
#include "weighbridge/convert.h"
#include "weighbridge/writer.h"

#define WB__NO_SOURCE UINT64_MAX

/* Row permutation within each head of the q and k weights, between the orders of Hugging Face
 * and GGUF. */
typedef enum wb__row_permutation {
    WB__ROWS_UNCHANGED,
    WB__ROWS_INTERLEAVE, /* Hugging Face to GGUF, see arch/row_order.h */
    WB__ROWS_SEPARATE    /* GGUF to Hugging Face */
} wb__row_permutation;

typedef enum wb__route {
    WB__ROUTE_COPY,   /* copy the stored bytes */
    WB__ROUTE_REPACK, /* rearrange the stored values into other blocks, without loss */
    WB__ROUTE_COMPUTE /* decode to binary32 and encode again */
} wb__route;

/* Error statistics of a tensor or a part of it. All sums are binary64. */
typedef struct wb__error_stats {
    double error;        /* sum of (after - before)² */
    double before;       /* sum of before² */
    double after;        /* sum of after² */
    double max_error;    /* maximum of |after - before| */
    uint64_t overflowed; /* number of values that differ and are not finite before or after */
} wb__error_stats;

/* One row of the plan: a tensor of the output. */
typedef struct wb__planned_tensor {
    wb__str name;           /* name in the output; every string of a plan is also NUL-terminated */
    wb__str source_name;    /* name in the source model; empty for a generated tensor */
    uint64_t source;        /* index of the source tensor or view; WB__NO_SOURCE: the values are in
                          * `made` */
    const uint32_t *pieces; /* indices of the tensors to concatenate by rows; NULL: use `source` */
    uint64_t piece_count;
    uint64_t piece_rows; /* rows of each piece */
    const float *made;
    const uint64_t *shape; /* shape in values (not in storage units) */
    uint32_t rank;
    uint64_t first_row; /* first source row; all dimensions but the last count as one row
                         * dimension */
    uint64_t rows;
    uint64_t columns;
    wb__row_permutation row_order;
    uint64_t head_rows; /* rows per head, the unit of the row permutation */
    float offset;       /* added to every value */
    float factor;       /* factor for every value, applied after `offset` */
    const float *
        factors; /* factors of the rows, applied to the source values before `offset`; NULL: none */
    uint64_t rows_a_factor;
    wb__encoding_spec from, to;
    int32_t wanted; /* dtype that was requested before a fallback to `to`; -1: no fallback */
    wb__route route;
    uint64_t bytes;                 /* size of all parts in the output */
    uint64_t part_bytes[WB__PARTS]; /* size of each part in bytes */
    const float *importance;        /* importance: `columns` values for each `rows_an_importance`
                                     * rows; NULL: none */
    uint64_t rows_an_importance;
    const struct wb__lora *lora; /* adapter to add to the values; NULL: none */
    wb__global global; /* convention of the global scales, if the source values are global scales;
                          NONE: ordinary values */
    wb__global global_to; /* convention of the global scales in the output */
    bool keeps_global;    /* a separate row holds the global scales of this packed tensor */
    bool by_view;     /* the model can decode the values, but has no stored parts for the tensor */
    bool nearest;     /* use Ollama's rounding rule for E8M0 scales */
    bool known_exact; /* `to` represents every value of `from` exactly */
    bool wide;        /* values are binary64 and may exceed the precision or range of binary32 */
    /* Naming rule of the tensor; NULL: no rule matches. */
    const wb__rule *rule;
    uint32_t layer;
    wb__suffix suffix;
    bool done;
    wb__error_stats error_stats;
} wb__planned_tensor;

/* Returns true if the conversion changes values before they are encoded. */
static inline bool wb__planned_changes_values(const wb__planned_tensor *planned)
{
    return planned->offset != 0 || planned->factor != 1 || planned->factors != NULL ||
           planned->lora != NULL;
}

struct wb_conversion {
    wb_allocator allocator;
    wb_executor executor;
    wb__arena arena;
    const wb_model *model;
    const wb__semantics *semantics;
    wb_target target;
    wb__quant quant;
    struct wb__overrides *rules;  /* per-tensor rules of the caller; NULL: none */
    struct wb__imatrix *matrix;   /* importance matrix; NULL: none */
    const wb_convert_lora *loras; /* adapters of the policy; valid only during planning */
    uint64_t lora_count;
    bool strict, replace, feb2026, resume;
    uint64_t input_scales; /* number of activation-scale tensors (input_scale) in the output */
    bool whole;            /* copies the single GGUF file of the model unchanged */
    const struct wb__rope_scaling *rope_scaling; /* RoPE scaling for GGUF; NULL: none to write */
    char *store;                                 /* Ollama store directory (owned copy); NULL:
                                                  * taken from the environment */
    uint64_t max_memory;
    uint64_t max_shard;
    uint32_t file_type; /* GGUF: value of general.file_type */
    int32_t common;     /* dtype of most unquantized matrices; F16 if there are none */
    wb__list tensors;   /* list of wb__planned_tensor, in output order */
    wb__planned_tensor **order;
    wb__list inputs;      /* list of const char *, see plan/input_files.h */
    wb_findings notes;    /* data that the output cannot hold, and doubtful input */
    size_t planned_notes; /* number of notes from planning; notes of a run follow them */
};

static inline wb__planned_tensor *wb__planned_at(const wb_conversion *conversion, size_t i)
{
    return conversion->order[i];
}

/* Plans an empty conversion whose policy is set. */
wb_status wb__plan_make(wb_conversion *conversion, wb__context *context);

/* Declares the output to a writer without writing, to check that the format and the path allow
 * it. */
wb_status wb__plan_check(wb_conversion *conversion, wb__context *context, const char *path);

/* Runs the plan and writes the output. */
wb_status wb__plan_run(wb_conversion *conversion, wb__context *context, const char *path,
                       const wb_progress *progress);

/* Copies a string to the plan's arena. Returns ptr NULL if memory allocation fails. */
wb__str wb__plan_text(wb_conversion *conversion, wb__str text);

/* Adds a note about a tensor, a key or the whole output. */
wb_status wb__plan_note(wb_conversion *conversion, wb__context *context, wb_severity severity,
                        wb__finding_id id, wb__str name, const char *message);

/* ---- plan/plan.c, plan/plan_rows.c ---- */

/* Initializes a row for a complete source tensor, without name and rule. */
wb_status wb__plan_row(wb_conversion *conversion, wb__context *context, uint64_t number,
                       wb__planned_tensor *row);

/* Sets the shape, rows and columns of a row. */
void wb__plan_shape(wb__planned_tensor *row, const wb__kind *kind);

/* Adds a row to the plan. Returns WB_ERROR_MEMORY if the row has no name. */
wb_status wb__plan_append(wb_conversion *conversion, wb__context *context,
                          const wb__planned_tensor *row);

/* Adds a row for a generated 1-D tensor of n values. The values must live as long as the plan. */
wb_status wb__plan_add_made(wb_conversion *conversion, wb__context *context, const char *name,
                            const float *values, uint64_t n);

/* Returns the output name of a tensor that keeps its own name. Packed Hugging Face weights have
 * other names than unpacked ones. Returns ptr NULL if memory allocation fails. */
wb__str wb__plan_own_name(wb_conversion *conversion, wb__str name);

/* Returns query_pre_attn_scalar: llama.cpp divides attention scores by its square root. Returns
 * 0 for families whose config does not contain it. */
double wb__plan_query_scalar(const wb_conversion *conversion);

/* ---- plan/rope_scaling.c: RoPE scaling of config.json, for GGUF ---- */

/* Reads the RoPE scaling, adds its GGUF tensors, and warns about settings that GGUF cannot
 * represent. */
wb_status wb__plan_rope(wb_conversion *conversion, wb__context *context);

/* Returns the value for rope.scaling.type, or NULL to omit the key. */
const char *wb__plan_rope_word(const wb_conversion *conversion);

/* Returns true if the config.json value that corresponds to rope.scaling.REST is written to
 * GGUF. */
bool wb__plan_rope_keeps(const wb_conversion *conversion, wb__str rest);

/* ---- emit/passthrough.c: copies the single file of a model unchanged ---- */

/* Returns true if the requested conversion copies the file unchanged. */
bool wb__passthrough_applies(const wb_conversion *conversion);
wb_status wb__passthrough_plan(wb_conversion *conversion, wb__context *context);

/* Copies the source's Ollama metadata (template, system, license, parameters, messages) to an
 * Ollama model. */
wb_status wb__emit_store_texts(const wb_conversion *conversion, wb_writer *writer, wb_error *error);

/* Returns true if the output stores all experts of a layer in one tensor. */
bool wb__plan_stacks(const wb_conversion *conversion);

/* ---- plan/ollama_tensors.c: tensors of a model directory in Ollama's layout ---- */

/* Adds a row for each output tensor. */
wb_status wb__plan_store(wb_conversion *conversion, wb__context *context);

/* ---- plan/ollama_types.c ---- */

/* Returns true if Ollama models can represent the packed encoding, so that its bytes can be
 * copied. */
bool wb__plan_ollama_has(const wb__encoding_spec *spec);

/* Chooses the encoding that Ollama would give a tensor. */
void wb__plan_ollama(const wb_conversion *conversion, wb__planned_tensor *row);

/* ---- plan/global_scales.c: scales shared by all values of a packed tensor ---- */

/* Adds a row for the global scales of a packed tensor, in the target's convention, and keeps the
 * tensor's packing. Does nothing if there are no global scales. Precondition: the target can
 * represent them. */
wb_status wb__global_scales_add(wb_conversion *conversion, wb__context *context,
                                wb__planned_tensor *row);

/* Like wb__global_scales_add, but does nothing unless the target reads global scales for such a
 * tensor and no step changes the values. `view` is the expert view of the row; NULL: none. */
wb_status wb__global_scales_keep(wb_conversion *conversion, wb__context *context,
                                 wb__planned_tensor *row, const wb__expert_view *view);

/* Folds a GGUF scale tensor (NAME.scale) of a weight other than NVFP4 (handle/semantics.h) into
 * the weights when the target cannot represent it: the row multiplies its values by the scale.
 * For a GGUF target both tensors are preserved, unless an adapter is added to the weight. */
wb_status wb__scale_tensors_take(wb_conversion *conversion, wb__context *context,
                                 wb__planned_tensor *row);

/* Returns true if the tensor is a NAME.scale that is folded into the weights. */
bool wb__scale_tensors_has(const wb_conversion *conversion, uint64_t number);

struct wb__tile;

/* Multiplies the values of a tile by the factors of their rows. */
void wb__scale_tensors_multiply(const struct wb__tile *tile);

/* Converts the global scales in a tile's values to the target's convention. */
void wb__global_scales_convert(struct wb__tile *tile);

/* Returns true if GGUF files interleave the rows of the rule's tensors. *heads receives the
 * number of heads, 0 if the config does not contain it. */
bool wb__plan_interleaves(const wb_conversion *conversion, const wb__rule *rule, uint64_t *heads);

/* ---- plan/encodings.c ---- */

/* Returns an unquantized dtype, supported by every target, for floating-point values of any
 * encoding. */
wb__encoding_spec wb__plan_plain(const wb_conversion *conversion, const wb__encoding_spec *from);

/* Returns true for numbers that are not weights, for example integers. */
bool wb__plan_is_other(const wb__encoding_spec *spec);

/* Returns true if GGUF requires F32 for the tensor (norms, routers) although the model has
 * another dtype. */
bool wb__plan_is_widened(const wb_conversion *conversion, const wb__planned_tensor *row);

/* Returns the caller's rule for a tensor; NULL: none. */
const wb__encoding_spec *wb__plan_ruled(const wb_conversion *conversion,
                                        const wb__planned_tensor *row);

/* Chooses the encoding and route of each tensor. Precondition: the tensors are in output order. */
wb_status wb__plan_forms(wb_conversion *conversion, wb__context *context);

/* Returns the encoding of the source tensor at an index. Sets *by_view as in wb__planned_tensor,
 * and *global to the convention of its global scales or NONE. */
wb__encoding_spec wb__plan_form_of(const wb_conversion *conversion, uint64_t source, bool *by_view,
                                   wb__global *global);

/* ---- plan/implied_config.c ---- */

/* Warns about config values for which llama.cpp uses another, fixed value. */
wb_status wb__implied_config_note(wb_conversion *conversion, wb__context *context);

/* ---- plan/target_names.c ---- */

/* Returns the output name of a tensor that a rule matches; ptr is NULL if memory allocation
 * fails. `expert` matters only if the output stores each expert separately. */
wb__str wb__plan_name(wb_conversion *conversion, const wb__rule *rule, uint32_t layer,
                      uint32_t expert, wb__suffix suffix);

/* ---- exec/tensor_tile.c: reads, transforms and encodes rows of a tensor ---- */

/* Elements per tile, chosen so that its buffers fit in the inner CPU caches. */
#define WB__TILE_ELEMENTS ((uint64_t)1 << 16)

/* Returns the number of rows per tile. It depends only on the tensor. */
uint64_t wb__tile_rows(const wb__planned_tensor *planned);

/* Buffer sizes for one tile. */
typedef struct wb__tile_sizes {
    uint64_t raw;    /* bytes as read, or values of binary64 */
    uint64_t values; /* size of the binary32 values, in bytes */
    uint64_t again;  /* size of the binary32 values decoded back from the output, in bytes */
    uint64_t parts[WB__PARTS];
} wb__tile_sizes;

void wb__tile_measure(const wb__planned_tensor *planned, uint64_t rows, wb__tile_sizes *sizes);

typedef struct wb__tile {
    const wb__planned_tensor *planned;
    wb__readahead *ahead; /* NULL: no read-ahead */
    uint64_t first;       /* first row in the output tensor */
    uint64_t rows;
    uint8_t *raw;
    float *values;
    float *again;
    uint8_t *parts[WB__PARTS];
    uint64_t part_bytes[WB__PARTS]; /* number of valid bytes in each part */
    wb__error_stats error_stats;    /* statistics of this tile, set by wb__tile_run */
} wb__tile;

/* Permutes rows of `bytes` bytes each. `rows` is a multiple of head_rows, the rows per head. */
void wb__rows_reorder(wb__row_permutation row_order, uint64_t head_rows, uint8_t *dst,
                      const uint8_t *src, uint64_t rows, size_t bytes);

/* Sets *place to the file range with most of the data that the tile reads. Returns false if the
 * tile cannot use read-ahead. */
bool wb__tile_place(const wb_conversion *conversion, const wb__planned_tensor *planned,
                    uint64_t first, uint64_t rows, wb__byte_range *place);

wb_status wb__tile_run(const wb_conversion *conversion, wb__context *context, wb__tile *tile);

/* ---- exec/error_stats.c ---- */

void wb__error_stats_measure(wb__error_stats *error_stats, const float *before, double offset,
                             const float *after, size_t n);
/* Like wb__error_stats_measure, for little-endian binary64 values. The expected value is (before +
 * offset) * factor. */
void wb__error_stats_measure_wide(wb__error_stats *error_stats, const uint8_t *before,
                                  double offset, double factor, const float *after, size_t n);
/* Adds the error of one value. Both numbers must be finite. */
void wb__error_stats_add_one(wb__error_stats *error_stats, double before, double after);
void wb__error_stats_add(wb__error_stats *sum, const wb__error_stats *part);

/* Returns the encoding of plain elements of a dtype. */
wb__encoding_spec wb__encoding_spec_plain(int32_t dtype);

/* Returns true if the encoding is plain elements of a floating-point dtype. */
bool wb__encoding_spec_is_float(const wb__encoding_spec *spec);

/* Returns true if the dtype is F32, F16 or BF16. */
bool wb__encoding_spec_is_half_or_single(int32_t dtype);

/* Sets the source encoding of a row. */
void wb__plan_take_source_encoding(const wb_conversion *conversion, wb__planned_tensor *row);

#endif
