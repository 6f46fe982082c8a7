#include "arch/config_maker.h"

/* ---- fields ---- */

static void read_files(const wb__config_maker *m)
{
    for (int field = 0; field < WB_CONFIG_FIELDS; field++) {
        const wb__config_row *row = &wb__config_rows[field];
        if (field >= WB_CONFIG_ENC_N_LAYERS && field <= WB_CONFIG_ENC_MAX_SEQ_LEN &&
            !(wb__family_flags(m->family) & WB__FAMILY_ENCODER))
            continue;
        wb__fact fact = wb__fact_by_key(m->facts, m->prefix, row->keys);
        if (fact.type == WB__FACT_NONE)
            fact = wb__fact_by_path(m->facts, row->paths);
        wb__config_set_fact(m, field, &fact, WB_ORIGIN_FILE);
    }
}

/* ---- sliding windows, which files specify in several ways ---- */

/*
 * Returns the number of the first full-attention layer in layer_types, counted from 1. Returns 0 if
 * there is none or if it is layer 1.
 */
static uint64_t pattern_of_layer_types(const wb__facts *facts)
{
    wb__fact_list list;
    wb__fact fact;
    if (!wb__fact_list_find(facts, WB__STR(""), "", "layer_types", &list))
        return 0;
    while (wb__fact_list_next(&list, &fact)) {
        if (fact.type == WB__FACT_TEXT && wb__str_equal(fact.text, WB__STR("full_attention")))
            return list.next > 1 ? list.next : 0;
    }
    return 0;
}

static void read_window(const wb__config_maker *m)
{
    wb__fact used = wb__fact_by_path(m->facts, "use_sliding_window");
    wb__fact window = wb__fact_by_path(m->facts, "sliding_window");
    bool off = used.type == WB__FACT_BOOL && used.number == 0;
    /* An explicit null means that there is no window. A missing key means that the window is
     * unknown. */
    if (!m->by_key && (off || window.type == WB__FACT_NULL))
        wb__config_set_count(m, WB_CONFIG_SLIDING_WINDOW, 0, WB_ORIGIN_FILE);
    uint64_t pattern = pattern_of_layer_types(m->facts);
    /* If config.json has both layer_types and sliding_window_pattern, layer_types takes
     * precedence, as in transformers. */
    if (pattern != 0 && (!m->by_key || !wb__config_is_known(m, WB_CONFIG_SLIDING_WINDOW_PATTERN)))
        wb__config_set_count(m, WB_CONFIG_SLIDING_WINDOW_PATTERN, pattern, WB_ORIGIN_DERIVED);
}

/* ---- derived fields ---- */

static const wb__kind *kind_of(const wb__config_maker *m, const char *canonical)
{
    if (m->names == NULL)
        return NULL;
    const wb__name_entry *entry = wb__names_find(m->names, wb__str_from(canonical, SIZE_MAX));
    if (entry == NULL)
        return NULL;
    return entry->view != WB__NO_ENTRY ? &m->names->views[entry->view].kind
                                       : wb__names_kind(m->names, entry->first);
}

/* Sets a field to the size of one dimension of a tensor, if the field is unknown. */
static void derive_axis(const wb__config_maker *m, int field, const wb__kind *kind, uint32_t axis)
{
    if (kind != NULL && !wb__config_is_known(m, field))
        wb__config_set_count(m, field, kind->shape[axis], WB_ORIGIN_DERIVED);
}

/* Sets a field to the size of one dimension of the named tensor, if the field is unknown and the
 * tensor has the given rank. */
static void derive_size(const wb__config_maker *m, int field, const char *canonical, uint32_t axis,
                        uint32_t rank)
{
    const wb__kind *kind = kind_of(m, canonical);
    derive_axis(m, field, kind != NULL && kind->rank == rank ? kind : NULL, axis);
}

static void derive_product(const wb__config_maker *m, int field, uint64_t a, uint64_t b)
{
    uint64_t product;
    if (a != 0 && b != 0 && wb__mul(a, b, &product))
        wb__config_set_count(m, field, product, WB_ORIGIN_DERIVED);
}

static void derive_from_tensors(const wb__config_maker *m)
{
    static const struct {
        int field;
        const char *canonical;
        uint32_t axis, rank;
    } sizes[] = {
        {WB_CONFIG_FFN_DIM, "layers.0.ffn.down.weight", 1, 2},
        {WB_CONFIG_FFN_DIM, "blk.0.ffn_down.weight", 1, 2},
        {WB_CONFIG_ENC_DIM, "enc.output_norm.weight", 0, 1},
        {WB_CONFIG_ENC_FFN_DIM, "enc.layers.0.ffn.up.weight", 0, 2},
    };
    const wb__kind *embedding = m->names == NULL ? NULL : wb__names_embedding(m->names);
    derive_axis(m, WB_CONFIG_VOCAB_SIZE, embedding, 0);
    derive_axis(m, WB_CONFIG_DIM, embedding, 1);
    if (m->family != NULL) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            derive_size(m, sizes[i].field, sizes[i].canonical, sizes[i].axis, sizes[i].rank);
    }
    if (m->names != NULL && !wb__config_is_known(m, WB_CONFIG_N_LAYERS) && m->names->layers > 0)
        wb__config_set_count(m, WB_CONFIG_N_LAYERS, m->names->layers, WB_ORIGIN_DERIVED);
    if (m->names != NULL && !wb__config_is_known(m, WB_CONFIG_ENC_N_LAYERS) &&
        m->names->enc_layers > 0)
        wb__config_set_count(m, WB_CONFIG_ENC_N_LAYERS, m->names->enc_layers, WB_ORIGIN_DERIVED);
}

/* Returns the canonical name of a stacked expert tensor, or NULL. Searches all layers, because
 * layer 0 may have no experts. */
static const char *find_experts(const wb__names *names)
{
    for (size_t i = 0; names != NULL && i < names->entries.count; i++) {
        const wb__name_entry *entry = wb__names_at(names, i);
        if (entry->suffix == WB__SUFFIX_WEIGHT && (entry->rule->provides & WB__NEED_GATE) != 0 &&
            wb__rule_is_stack(entry->rule))
            return entry->text;
    }
    return NULL;
}

static void derive_experts(const wb__config_maker *m)
{
    const char *name = find_experts(m->names);
    if (name != NULL) {
        derive_size(m, WB_CONFIG_N_EXPERTS, name, 0, 3);
        derive_size(m, WB_CONFIG_EXPERT_FFN_DIM, name, 1, 3);
    }
    if (m->config->n_experts != 0 && !wb__config_is_known(m, WB_CONFIG_EXPERT_FFN_DIM) &&
        wb__config_is_known(m, WB_CONFIG_FFN_DIM))
        wb__config_set_count(m, WB_CONFIG_EXPERT_FFN_DIM, m->config->ffn_dim, WB_ORIGIN_DERIVED);
}

static void derive_heads(const wb__config_maker *m)
{
    wb_config *config = m->config;
    if (!wb__config_is_known(m, WB_CONFIG_N_KV_HEADS) && wb__config_is_known(m, WB_CONFIG_N_HEADS))
        wb__config_set_count(m, WB_CONFIG_N_KV_HEADS, config->n_heads, WB_ORIGIN_DERIVED);
    if (!wb__config_is_known(m, WB_CONFIG_HEAD_DIM) && config->n_heads != 0 &&
        wb__config_is_known(m, WB_CONFIG_DIM))
        wb__config_set_count(m, WB_CONFIG_HEAD_DIM, config->dim / config->n_heads,
                             WB_ORIGIN_DERIVED);
    derive_product(m, WB_CONFIG_Q_DIM, config->n_heads, config->head_dim);
    derive_product(m, WB_CONFIG_KV_DIM, config->n_kv_heads, config->head_dim);
}

/* A missing output matrix means that the output is tied to the embedding. */
static void derive_tie(const wb__config_maker *m)
{
    bool has_head = m->family != NULL && !(wb__family_flags(m->family) & WB__FAMILY_NO_HEAD);
    if (wb__config_is_known(m, WB_CONFIG_TIE_EMBEDDINGS) || m->names == NULL || !has_head ||
        kind_of(m, "token_embedding.weight") == NULL)
        return;
    m->config->tie_embeddings = kind_of(m, "output.weight") == NULL;
    m->config->origin[WB_CONFIG_TIE_EMBEDDINGS] = WB_ORIGIN_DERIVED;
}

static wb_rope_layout layout_of(const wb__family *family, bool gguf)
{
    switch (wb__family_rope_of(family)) {
    case WB__ROPE_NO: return WB_ROPE_NONE;
    case WB__ROPE_ADJACENT: return WB_ROPE_INTERLEAVED;
    case WB__ROPE_PERMUTED: return gguf ? WB_ROPE_INTERLEAVED : WB_ROPE_HALF;
    default: return WB_ROPE_HALF;
    }
}

/*
 * Derives the row order of q and k and the offset of norm weights. Files do not specify them. Both
 * follow from the family and from whether the tensors have GGUF names.
 */
static void derive_layout(const wb__config_maker *m)
{
    wb_config *config = m->config;
    bool gguf = m->by_key;
    if (m->names != NULL && m->names->entries.count > 0)
        gguf = m->names->gguf_names > m->names->entries.count / 2;
    if (m->family == NULL)
        return;
    config->rope_layout = layout_of(m->family, gguf);
    config->origin[WB_CONFIG_ROPE_LAYOUT] = WB_ORIGIN_DERIVED;
    config->norm_offset = !gguf && (wb__family_norms(m->family) & WB__SIDE_GGUF) != 0;
    config->origin[WB_CONFIG_NORM_OFFSET] = WB_ORIGIN_DERIVED;
}

/* ---- quantization ---- */

typedef struct packing_count {
    uint32_t bits, group;
    uint64_t elements;
} packing_count;

static void count_packing(packing_count *counts, size_t n, uint32_t bits, uint32_t group,
                          uint64_t elements)
{
    for (size_t i = 0; i < n; i++) {
        if (counts[i].elements != 0 && (counts[i].bits != bits || counts[i].group != group))
            continue;
        counts[i].bits = bits;
        counts[i].group = group;
        uint64_t sum;
        counts[i].elements = wb__add(counts[i].elements, elements, &sum) ? sum : UINT64_MAX;
        return;
    }
}

/* Derives the bits and group size that most quantized elements have, if the files do not specify
 * them. */
static void derive_packing(const wb__config_maker *m)
{
    packing_count counts[32] = {{0}};
    const size_t n = sizeof counts / sizeof counts[0];
    size_t most = 0;
    if (m->names == NULL || wb__config_is_known(m, WB_CONFIG_QUANT_BITS))
        return;
    for (size_t i = 0; i < m->names->tensors->count; i++) {
        const wb__packed *packed;
        size_t stored = wb__tensors_stored(m->names->tensors, i, &packed);
        const wb__kind *kind = wb__table_kind_of(m->names->table, stored);
        if (packed != NULL)
            count_packing(counts, n, packed->packing->bits, packed->packing->group,
                          packed->packing->kind.elements);
        else if (kind->dtype->block_size > 1)
            count_packing(counts, n, kind->dtype->block_bits / kind->dtype->block_size,
                          kind->dtype->block_size, kind->elements);
    }
    for (size_t i = 1; i < n; i++) {
        if (counts[i].elements > counts[most].elements)
            most = i;
    }
    if (counts[most].elements == 0)
        return;
    wb__config_set_count(m, WB_CONFIG_QUANT_BITS, counts[most].bits, WB_ORIGIN_DERIVED);
    wb__config_set_count(m, WB_CONFIG_QUANT_GROUP_SIZE, counts[most].group, WB_ORIGIN_DERIVED);
}

/* ---- public functions ---- */

wb__str wb__config_architecture(const wb__facts *facts, const wb__family_set *set,
                                const wb__family **family)
{
    wb__fact fact = wb__fact_by_key(facts, WB__STR(""), "general.architecture");
    *family = NULL;
    if (fact.type == WB__FACT_TEXT && fact.text.len > 0) {
        wb__family_scope scope = {.facts = facts, .prefix = fact.text, .by_key = true};
        const wb__scope names = wb__family_names(&scope);
        *family = wb__family_by_name(set, fact.text, &names);
        return fact.text;
    }
    if (facts->config == NULL)
        return WB__STR("");
    wb__str said = WB__STR("");
    for (size_t i = 0; i < facts->place_count; i++) {
        wb__node node = wb__tree_get(facts->config, facts->places[i], "model_type");
        wb__str type = wb__tree_string(facts->config, node);
        *family = wb__family_by_model_type(set, type);
        if (*family != NULL)
            return wb__family_gguf(*family);
        if (type.len > 0)
            said = type;
    }
    return said;
}

void wb__config_make(wb_config *config, const wb__facts *facts, const wb__family *family,
                     bool is_said, const char *architecture, const wb__names *names)
{
    wb__config_maker m = {config, facts, family, wb__str_from(architecture, SIZE_MAX),
                          names,  false};
    wb__fact by_key = wb__fact_by_key(facts, WB__STR(""), "general.architecture");
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    config->architecture = architecture;
    m.by_key = by_key.type == WB__FACT_TEXT;
    if (architecture != NULL)
        config->origin[WB_CONFIG_ARCHITECTURE] = is_said ? WB_ORIGIN_FILE : WB_ORIGIN_DERIVED;
    read_files(&m);
    read_window(&m);
    wb__config_family_values(&m, false);
    derive_from_tensors(&m);
    derive_experts(&m);
    derive_heads(&m);
    derive_tie(&m);
    derive_layout(&m);
    derive_packing(&m);
    wb__config_details(&m);
}
