/*
 * convert: from a model to files of another kind, planned first, then streamed.
 *
 * A plan has a row for each tensor of the result: what it is called there, which tensor of the model
 * it comes from, which rows of it and in which order, what is added to its values, and how these are
 * stored before and after. Making it reads headers, the files beside the weights, adapters, and factors of whole
 * tensors, and nothing else, so that it can be shown before anything is done (wb__plan_make). Running it
 * (wb__plan_run) cuts the tensors into chunks of rows, which the caller's executor reads, transforms, encodes and
 * writes side by side, in any order, within the memory allowed.
 *
 *     source     where a tensor's values are, and as what           plan.c, names.c
 *     form       how values are stored                              forms.c, mixes.c, rules.c
 *     route      as they are, as other blocks of the same values, or by way of binary32
 *     fidelity   what became of the values                          fidelity.c
 *
 * Nothing of the result depends on the executor or on the memory allowed.
 */
#ifndef WB_CONVERT_CONVERT_H
#define WB_CONVERT_CONVERT_H

#include "convert/exec/readahead.h"
#include "convert/recipe/encoding.h"
#include "convert/recipe/llama_ftype.h"
#include "handle/semantics.h"
#include "weighbridge/convert.h"
#include "weighbridge/writer.h"

#define WB__NO_SOURCE UINT64_MAX

/* What becomes of the rows of a head of q and k between Hugging Face's order and GGUF's. */
typedef enum wb__row_permutation {
    WB__ROWS_UNCHANGED,
    WB__ROWS_INTERLEAVE, /* into GGUF, see arch/row_order.h */
    WB__ROWS_SEPARATE    /* the way back */
} wb__row_permutation;

typedef enum wb__route {
    WB__ROUTE_COPY,   /* the same bytes */
    WB__ROUTE_REPACK, /* the same values in other blocks */
    WB__ROUTE_COMPUTE /* decoded, and encoded again */
} wb__route;

/* What became of the values of a tensor, or of a part of it. Sums are of binary64. */
typedef struct wb__error_stats {
    double error;        /* sum of (after - before)² */
    double before;       /* of before² */
    double after;        /* of after² */
    double max_error;    /* the largest |after - before| */
    uint64_t overflowed; /* not finite before or after, and not the same */
} wb__error_stats;

/* A tensor of the result. */
typedef struct wb__planned_tensor {
    wb__str name;        /* in the result; all strings of a plan end with a NUL as well */
    wb__str source_name; /* in the model; empty for what is made */
    uint64_t source;     /* number of the tensor or view, WB__NO_SOURCE: `made` has its values */
    const uint32_t
        *pieces; /* numbers of tensors that make it, one below another; NULL: `source` does */
    uint64_t piece_count;
    uint64_t piece_rows; /* of each */
    const float *made;
    const uint64_t *shape; /* of values */
    uint32_t rank;
    uint64_t first_row; /* of the source, all its dimensions but the last taken as one */
    uint64_t rows;
    uint64_t columns;
    wb__row_permutation row_order;
    uint64_t head_rows;   /* rows that change places among themselves */
    float offset;         /* added to every value */
    float factor;         /* then multiplied with it */
    const float *factors; /* what the source's values are multiplied with first; NULL: nothing */
    uint64_t rows_a_factor;
    wb__encoding_spec from, to;
    int32_t wanted; /* the dtype that `to` fell back from, -1: it did not */
    wb__route route;
    uint64_t bytes;                 /* of all parts of the result */
    uint64_t part_bytes[WB__PARTS]; /* of each */
    const float *importance;        /* `columns` for each `rows_an_importance` rows; NULL */
    uint64_t rows_an_importance;
    const struct wb__lora *lora; /* added to the values; NULL */
    wb__global global;           /* the values are global scales, said in this way */
    wb__global global_to;        /* … and are to be said in that */
    bool keeps_global;           /* a row of its own has the global scales of what is packed here */
    bool by_view;     /* the model gives its values, but it has no stored parts of its own */
    bool nearest;     /* Ollama's rule for scales of E8M0 */
    bool known_exact; /* every value of `from` is one of `to` */
    bool wide;        /* values of binary64, which binary32 may not hold */
    /* What it is; NULL: no rule knows it. */
    const wb__rule *rule;
    uint32_t layer;
    wb__suffix suffix;
    bool done;
    wb__error_stats error_stats;
} wb__planned_tensor;

/* Whether values become others before they are encoded. */
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
    struct wb__overrides *rules;  /* NULL: none */
    struct wb__imatrix *matrix;   /* NULL: none */
    const wb_convert_lora *loras; /* of the policy, while it is planned */
    uint64_t lora_count;
    bool strict, replace, feb2026, resume;
    uint64_t input_scales; /* how many scales of activations the result has a place for */
    bool whole;            /* the one GGUF file of the model as it is */
    const struct wb__rope_scaling *rope_scaling; /* of RoPE, for GGUF; NULL: none that it is told */
    char *store;                                 /* Ollama: a copy; NULL: that of the environment */
    uint64_t max_memory;
    uint64_t max_shard;
    uint32_t file_type; /* GGUF: general.file_type */
    int32_t common;     /* the dtype of most matrices that are plain, F16 where none is */
    wb__list tensors;   /* of wb__planned_tensor, in the order of the result */
    wb__planned_tensor **order;
    wb__list inputs;   /* of const char *: inputs.h */
    wb_findings notes; /* what has no place in the result, what is doubtful */
    size_t
        planned_notes; /* of these, that are there before files are made; those of a run follow */
};

static inline wb__planned_tensor *wb__planned_at(const wb_conversion *conversion, size_t i)
{
    return conversion->order[i];
}

/* Fills in an empty conversion whose policy is set. */
wb_status wb__plan_make(wb_conversion *conversion, wb__context *context);

/* Declares the result to a writer that writes nothing, which says whether it can be, and can be there. */
wb_status wb__plan_check(wb_conversion *conversion, wb__context *context, const char *path);

/* Writes the result. */
wb_status wb__plan_run(wb_conversion *conversion, wb__context *context, const char *path,
                       const wb_progress *progress);

/* A copy of a text in the plan's arena; its ptr is NULL when memory is out. */
wb__str wb__plan_text(wb_conversion *conversion, wb__str text);

/* Notes something about the result as a whole or about a tensor or key. */
wb_status wb__plan_note(wb_conversion *conversion, wb__context *context, wb_severity severity,
                        wb__finding_id id, wb__str name, const char *message);

/* ---- plan.c ---- */

/* A row for all of a tensor of the model, with neither a name nor a rule. */
wb_status wb__plan_row(wb_conversion *conversion, wb__context *context, uint64_t number,
                       wb__planned_tensor *row);

/* Shape, rows and columns of a row. */
void wb__plan_shape(wb__planned_tensor *row, const wb__kind *kind);

/* Adds a row to the plan; MEMORY where it has no name. */
wb_status wb__plan_append(wb_conversion *conversion, wb__context *context,
                          const wb__planned_tensor *row);

/* Adds a row for a tensor [n] that no file has; the values live as long as the plan. */
wb_status wb__plan_add_made(wb_conversion *conversion, wb__context *context, const char *name,
                            const float *values, uint64_t n);

/*
 * The name a tensor has already; packed weights of Hugging Face's are called otherwise than plain ones. ptr is NULL
 * when memory is out.
 */
wb__str wb__plan_own_name(wb_conversion *conversion, wb__str name);

/* What llama.cpp divides attention scores by the root of, for families whose config says it; 0 for others. */
double wb__plan_query_scalar(const wb_conversion *conversion);

/* ---- plan_rope.c: how config.json says that RoPE is stretched, for GGUF ---- */

/* Finds out, adds the tensors that GGUF has for it, and warns of what GGUF cannot be told. */
wb_status wb__plan_rope(wb_conversion *conversion, wb__context *context);

/* What rope.scaling.type is to say of it; NULL: nothing. */
const char *wb__plan_rope_word(const wb_conversion *conversion);

/* Whether what config.json says under rope.scaling.REST goes into GGUF. */
bool wb__plan_rope_keeps(const wb_conversion *conversion, wb__str rest);

/* ---- whole.c: the one file of a model, as it is ---- */

/* Whether that is what is asked for. */
bool wb__passthrough_applies(const wb_conversion *conversion);
wb_status wb__passthrough_plan(wb_conversion *conversion, wb__context *context);

/* Has an Ollama model keep what the source says of itself beyond weights. */
wb_status wb__emit_store_texts(const wb_conversion *conversion, wb_writer *writer, wb_error *error);

/* Whether experts are one tensor in the result. */
bool wb__plan_stacks(const wb_conversion *conversion);

/* ---- plan_store.c: tensors of a folder, as Ollama takes them ---- */

/* Adds a row for each tensor of the result. */
wb_status wb__plan_store(wb_conversion *conversion, wb__context *context);

/* ---- plan_ollama.c ---- */

/* Whether an Ollama model has words for a packing, so that it goes over byte for byte. */
bool wb__plan_ollama_has(const wb__encoding_spec *spec);

/* What Ollama would have a tensor be. */
void wb__plan_ollama(const wb_conversion *conversion, wb__planned_tensor *row);

/* ---- globals.c: factors that all values of a packed tensor share ---- */

/*
 * Adds a row for the global scales of what a row packs, said in the way of the target; the row then keeps its
 * packing. Nothing where there are none. The target is one that has a way to say it.
 */
wb_status wb__global_scales_add(wb_conversion *conversion, wb__context *context,
                                wb__planned_tensor *row);

/*
 * The same where the target reads it of such a tensor, and nothing happens to the values on the way. `view`: that of
 * which the row is, NULL: none.
 */
wb_status wb__global_scales_keep(wb_conversion *conversion, wb__context *context,
                                 wb__planned_tensor *row, const wb__expert_view *view);

/*
 * NAME.scale beside a weight of GGUF that is not NVFP4 (handle/semantics.h) goes into the values where the result cannot say it:
 * has a row multiply with its own. GGUF keeps both, but where an adapter is added to the weight.
 */
wb_status wb__scale_tensors_take(wb_conversion *conversion, wb__context *context,
                                 wb__planned_tensor *row);

/* Whether a tensor is such a factor, and goes into the values of another. */
bool wb__scale_tensors_has(const wb_conversion *conversion, uint64_t number);

struct wb__tile;

/* Multiplies the values of a chunk with the factors of their rows. */
void wb__scale_tensors_multiply(const struct wb__tile *tile);

/* Turns the chunk's global scales, its values, into what the target says. */
void wb__global_scales_convert(struct wb__tile *tile);

/*
 * Whether GGUF's files have the rows of the tensors of a rule interleaved, and in how many heads (0: the
 * config does not say).
 */
bool wb__plan_interleaves(const wb_conversion *conversion, const wb__rule *rule, uint64_t *heads);

/* ---- plan_forms.c ---- */

/* Floats of any kind, as a plain dtype that every target has. */
wb__encoding_spec wb__plan_plain(const wb_conversion *conversion, const wb__encoding_spec *from);

/* Numbers that are no weights. */
bool wb__plan_is_other(const wb__encoding_spec *spec);

/* What is F32 in a GGUF file for its own sake, while the model has another dtype: norms, routers. */
bool wb__plan_is_widened(const wb_conversion *conversion, const wb__planned_tensor *row);

/* The rule of the caller's for a tensor; NULL: there is none. */
const wb__encoding_spec *wb__plan_ruled(const wb_conversion *conversion,
                                        const wb__planned_tensor *row);

/* Chooses how each tensor is stored, and by which route; the tensors are in their order. */
wb_status wb__plan_forms(wb_conversion *conversion, wb__context *context);

/* The encoding of a tensor of the model, by its number; *by_view as above, *global NONE or what it has. */
wb__encoding_spec wb__plan_form_of(const wb_conversion *conversion, uint64_t source, bool *by_view,
                                   wb__global *global);

/* ---- granted.c ---- */

/* Warns of what a config says and llama.cpp does otherwise. */
wb_status wb__implied_config_note(wb_conversion *conversion, wb__context *context);

/* ---- names.c ---- */

/*
 * What a tensor that goes by a rule is called in the result; ptr is NULL when memory is out.
 * `expert` counts where the result has experts one by one.
 */
wb__str wb__plan_name(wb_conversion *conversion, const wb__rule *rule, uint32_t layer,
                      uint32_t expert, wb__suffix suffix);

/* ---- chunks.c: rows of a tensor, read, transformed and encoded ---- */

/* What a chunk goes through stays in the inner caches. */
#define WB__TILE_ELEMENTS ((uint64_t)1 << 16)

/* How many rows are done at a time; a property of the tensor alone. */
uint64_t wb__tile_rows(const wb__planned_tensor *planned);

/* Memory that a chunk takes on its way. */
typedef struct wb__tile_sizes {
    uint64_t raw;    /* bytes as read, or values of binary64 */
    uint64_t values; /* bytes of binary32 */
    uint64_t again;  /* bytes of binary32 decoded from the result */
    uint64_t parts[WB__PARTS];
} wb__tile_sizes;

void wb__tile_measure(const wb__planned_tensor *planned, uint64_t rows, wb__tile_sizes *sizes);

typedef struct wb__tile {
    const wb__planned_tensor *planned;
    wb__readahead *ahead; /* NULL: nothing is read ahead */
    uint64_t first;       /* row of the result */
    uint64_t rows;
    uint8_t *raw;
    float *values;
    float *again;
    uint8_t *parts[WB__PARTS];
    uint64_t part_bytes[WB__PARTS]; /* filled */
    wb__error_stats error_stats;    /* likewise */
} wb__tile;

/* Puts rows of `bytes`, which are of whole heads of head_rows rows, in another order. */
void wb__rows_reorder(wb__row_permutation row_order, uint64_t head_rows, uint8_t *dst,
                      const uint8_t *src, uint64_t rows, size_t bytes);

/* Where what a chunk reads most of lies; false where it cannot be read ahead. */
bool wb__tile_place(const wb_conversion *conversion, const wb__planned_tensor *planned,
                    uint64_t first, uint64_t rows, wb__byte_range *place);

wb_status wb__tile_run(const wb_conversion *conversion, wb__context *context, wb__tile *tile);

/* ---- fidelity.c ---- */

void wb__error_stats_measure(wb__error_stats *error_stats, const float *before, double offset,
                             const float *after, size_t n);
/* The same of values of binary64, little-endian: (before + offset) * factor is what they should have become. */
void wb__error_stats_measure_wide(wb__error_stats *error_stats, const uint8_t *before,
                                  double offset, double factor, const float *after, size_t n);
/* Adds one value that became another, both of which are finite. */
void wb__error_stats_add_one(wb__error_stats *error_stats, double before, double after);
void wb__error_stats_add(wb__error_stats *sum, const wb__error_stats *part);

/* Returns the encoding of plain elements of a dtype. */
wb__encoding_spec wb__encoding_spec_plain(int32_t dtype);

/* Returns true if the encoding is plain elements of a floating-point dtype. */
bool wb__encoding_spec_is_float(const wb__encoding_spec *spec);

/* Returns true if the encoding is plain F32, F16 or BF16. */
bool wb__encoding_spec_is_half_or_single(int32_t dtype);

/* Fills in how the source of a row is encoded. */
void wb__plan_take_source_encoding(const wb_conversion *conversion, wb__planned_tensor *row);

#endif
