/*
 * Joins packed values and their companions. The search finds, in any order, groups of tensors whose
 * names belong together. Then the groups are sorted by the index of their packed values and become
 * joined tensors in this order. A tensor that occurs in several groups is thus always joined in the
 * group whose packed values come first.
 */
#include "model/companions.h"
#include "model/model_messages.h"

/* ---- solutions ---- */

/* The packing of a group. It depends only on the kinds (dtype and shape) of the parts, the naming
 * convention and the hint of the config files. Groups that agree in these can share a solution. */
typedef struct solution {
    wb__packing packing;       /* first member, so that wb__packed.packing points to the solution */
    uint32_t kinds[WB__PARTS]; /* index of each part's kind in the table; UINT32_MAX: no part */
    wb__packing_hint hint;
    unsigned naming;
    unsigned unused; /* bit set of the parts that the packing does not use */
    bool fits;
    const char *doubt; /* why the parts do not fit together, or an uncertainty, or NULL */
} solution;

#define RECENT 8

typedef struct joiner {
    wb__tensors *tensors;
    wb__context *context;
    const wb__table *table;
    const wb__packing_hints *hints;
    size_t (*file_of)(const void *ctx, size_t stored);
    const void *ctx;
    const solution *recent[RECENT]; /* the latest different solutions, to be shared; NULL: none */
    size_t oldest;                  /* index in `recent` */
    bool unsorted; /* the groups are not sorted by the tensor index of their packed values */
    size_t companion_count; /* number of tensors with the role WB__ROLE_COMPANION */
} joiner;

static bool same_hint(const wb__packing_hint *a, const wb__packing_hint *b)
{
    return a->scheme == b->scheme && a->bits == b->bits && a->group == b->group &&
           a->rows == b->rows && a->plain_zeros == b->plain_zeros && a->named == b->named;
}

static void set_kinds(const joiner *join, const wb__group *group, uint32_t kinds[WB__PARTS])
{
    for (int part = 0; part < WB__PARTS; part++) {
        uint32_t stored = group->parts[part];
        kinds[part] =
            stored == WB__NO_TENSOR ? UINT32_MAX : wb__record_at(join->table, stored)->kind;
    }
}

/* Computes how the stored parts of a group form one tensor. Returns NULL if out of memory. */
static const solution *solve(joiner *join, const wb__group *group, const wb__packing_hint *hint)
{
    const wb__kind *values = wb__table_kind_of(join->table, group->parts[WB__PART_VALUES]);
    uint32_t parts[WB__PARTS], rank = values->rank < 2 ? 2 : values->rank;
    solution *s = wb__arena_alloc(&join->tensors->packings, sizeof *s + rank * sizeof(uint64_t));
    if (s == NULL)
        return NULL;
    uint64_t *shape = (uint64_t *)(void *)(s + 1);
    *s = (solution){.hint = *hint, .naming = group->naming};
    memcpy(parts, group->parts, sizeof parts);
    s->fits =
        wb__packing_solve(join->table, parts, hint, join->hints, &s->packing, shape, &s->doubt);
    s->packing.kind.shape = shape;
    s->packing.global = group->global;
    for (int part = 0; part < WB__PARTS; part++) {
        if (parts[part] != group->parts[part])
            s->unused |= 1u << part;
    }
    set_kinds(join, group, s->kinds);
    join->recent[join->oldest] = s;
    join->oldest = (join->oldest + 1) % RECENT;
    return s;
}

/* Like solve, but reuses the packing of a previous group that agrees in kinds, naming convention
 * and hint. Most models have few different groups. */
static const solution *find_solution(joiner *join, const wb__group *group,
                                     const wb__packing_hint *hint)
{
    uint32_t kinds[WB__PARTS];
    set_kinds(join, group, kinds);
    for (size_t i = 0; i < RECENT && join->recent[i] != NULL; i++) {
        const solution *s = join->recent[i];
        if (s->kinds[WB__PART_VALUES] == kinds[WB__PART_VALUES] && s->naming == group->naming &&
            memcmp(s->kinds, kinds, sizeof kinds) == 0 &&
            (hint == join->hints->all || same_hint(&s->hint, hint)))
            return s;
    }
    return solve(join, group, hint);
}

static const solution *solution_of(const wb__packed *packed)
{
    return (const solution *)(const void *)packed->packing;
}

/* ---- groups ---- */

bool wb__packed_needs_hints(const wb__table *table)
{
    return wb__companions_possible(table, true);
}

static const wb__packing_hint no_hint = {.scheme = WB__SCHEME_PLAIN};

/*
 * Replaces tensors->block by a block with space for `groups` groups. The block begins with space
 * for three arrays that are written later (stored, seen_as, roles). All written memory is thus
 * contiguous and touches the fewest huge pages.
 */
static bool make_block(wb__tensors *tensors, size_t groups)
{
    size_t n = tensors->stored_count;
    size_t before = 2 * n * sizeof(uint32_t) + (n + 7) / 8 * 8;
    if (groups > (SIZE_MAX / 2 - before) / sizeof(wb__packed))
        return false;
    size_t bytes = before + groups * sizeof(wb__packed);
    uint8_t *block = wb__alloc(tensors->allocator, bytes);
    if (block == NULL)
        return false;
    wb__packed *packed = (wb__packed *)(void *)(block + before);
    if (tensors->packed_count > 0)
        memcpy(packed, tensors->packed, tensors->packed_count * sizeof *packed);
    wb__free(tensors->allocator, tensors->block, tensors->block_bytes);
    tensors->block = block;
    tensors->block_bytes = bytes;
    tensors->packed = packed;
    tensors->packed_capacity = groups;
    return true;
}

/* Makes space for more groups. Starts with one group per two tensors: a group has at least two
 * tensors, and a tensor rarely belongs to several groups. */
static bool make_room(wb__tensors *tensors)
{
    size_t n = tensors->packed_capacity;
    return make_block(tensors, n == 0 ? tensors->stored_count / 2 + 1 : n + n / 2 + 1);
}

/* Appends a group to tensors->packed. Returns false if out of memory. */
static bool take_group(void *ctx, const wb__group *group)
{
    joiner *join = ctx;
    wb__tensors *tensors = join->tensors;
    const wb__packing_hints *hints = join->hints;
    const wb__packing_hint *hint = hints->all != NULL ? hints->all : &no_hint;
    uint32_t values = group->parts[WB__PART_VALUES];
    size_t n = tensors->packed_count;
    wb__packing_hint own;
    if (hints->of != NULL) {
        own = hints->of(hints->ctx, group->module, join->file_of(join->ctx, values));
        hint = &own;
    }
    const solution *s = find_solution(join, group, hint);
    if (s == NULL || (n == tensors->packed_capacity && !make_room(tensors)))
        return false;
    wb__packed *packed = &tensors->packed[n];
    memcpy(packed->parts, group->parts, sizeof packed->parts);
    for (int part = 0; s->unused >> part != 0; part++) {
        if (s->unused >> part & 1)
            packed->parts[part] = WB__NO_TENSOR;
    }
    packed->packing = &s->packing;
    if (n > 0 && packed[-1].parts[WB__PART_VALUES] >= values)
        join->unsorted = true;
    tensors->packed_count++;
    return true;
}

static wb_status take_groups(joiner *join)
{
    wb__companions companions;
    wb__search result;
    wb__companions_start(&companions, join->table, join->tensors->allocator);
    do {
        join->tensors->packed_count = 0;
        join->unsorted = false;
        result = wb__companions_search(&companions, take_group, join);
    } while (result == WB__SEARCH_AGAIN);
    return result == WB__SEARCH_DONE ? WB_OK : wb__fail_memory(join->context);
}

/*
 * Sorts the groups by the index of the tensor that holds their packed values. If several naming
 * conventions found a group for the same tensor, keeps the group of the first convention.
 */
static wb_status sort_groups(joiner *join)
{
    wb__tensors *tensors = join->tensors;
    const wb_allocator *a = tensors->allocator;
    size_t n = join->table->count, count = 0;
    /* for each tensor: 1 + index of the group whose packed values it contains; 0: no group */
    uint32_t *slots = wb__alloc_zeroed(a, n * sizeof *slots);
    size_t groups = tensors->packed_count;
    wb__packed *found = wb__alloc(a, groups * sizeof *found);
    if (slots != NULL && found != NULL) {
        memcpy(found, tensors->packed, groups * sizeof *found);
        for (size_t i = 0; i < groups; i++) {
            uint32_t *slot = &slots[found[i].parts[WB__PART_VALUES]];
            if (*slot == 0 ||
                solution_of(&found[i])->naming < solution_of(&found[*slot - 1])->naming)
                *slot = (uint32_t)i + 1;
        }
        for (size_t i = 0; i < n; i++) {
            if (slots[i] != 0)
                tensors->packed[count++] = found[slots[i] - 1];
        }
        tensors->packed_count = count;
    }
    bool failed = slots == NULL || found == NULL;
    wb__free(a, slots, n * sizeof *slots);
    wb__free(a, found, groups * sizeof *found);
    return failed ? wb__fail_memory(join->context) : WB_OK;
}

/* ---- joining ---- */

static wb_status note(joiner *join, const wb__packed *packed, wb__finding_id id, const char *what)
{
    return wb__note(join->context, WB_WARNING, id, WB_NO_OFFSET,
                    wb__table_name(join->table, packed->parts[WB__PART_VALUES]), "%s", what);
}

/* Sets the role of all parts. Returns false if a part already has a role. */
static bool take_parts(joiner *join, const wb__packed *packed)
{
    for (int part = 0; part < WB__PARTS; part++) {
        if (packed->parts[part] != WB__NO_TENSOR &&
            join->tensors->roles[packed->parts[part]] != WB__ROLE_NONE)
            return false;
    }
    join->tensors->roles[packed->parts[WB__PART_VALUES]] = WB__ROLE_VALUES;
    for (int part = WB__PART_SCALES; part < WB__PARTS; part++) {
        if (packed->parts[part] != WB__NO_TENSOR) {
            join->tensors->roles[packed->parts[part]] = WB__ROLE_COMPANION;
            join->companion_count++;
        }
    }
    return true;
}

/* Joins a group. Sets *joined to whether this is possible. */
static wb_status join_group(joiner *join, const wb__packed *packed, bool *joined)
{
    const solution *s = solution_of(packed);
    *joined = false;
    if (join->tensors->roles[packed->parts[WB__PART_VALUES]] != WB__ROLE_NONE)
        return WB_OK;
    if (!s->fits)
        return note(join, packed, WB__FINDING_PACKING_UNKNOWN, s->doubt);
    if (!take_parts(join, packed))
        return note(join, packed, WB__FINDING_PACKING_UNKNOWN, WB__MSG_MODEL_PARTS_SHARED);
    *joined = true;
    return s->doubt == NULL ? WB_OK : note(join, packed, WB__FINDING_PACKING_DOUBT, s->doubt);
}

/* Numbers the tensors again, so that companions come after all others. */
static void number_tensors(joiner *join)
{
    wb__tensors *tensors = join->tensors;
    size_t n = tensors->stored_count;
    uint32_t next = 0;
    tensors->stored = tensors->block;
    tensors->seen_as = tensors->stored + n;
    tensors->count = n - join->companion_count;
    for (size_t i = 0; i < n; i++) {
        if (tensors->roles[i] == WB__ROLE_COMPANION) {
            tensors->seen_as[i] = (uint32_t)(tensors->count + i);
        } else {
            tensors->stored[next] = (uint32_t)i;
            tensors->seen_as[i] = next++;
        }
    }
}

static wb_status join_groups(joiner *join)
{
    wb__tensors *tensors = join->tensors;
    size_t n = tensors->stored_count, count = tensors->packed_count;
    wb_status status = WB_OK;
    tensors->roles = (uint8_t *)tensors->block + 2 * n * sizeof(uint32_t);
    memset(tensors->roles, 0, n);
    tensors->packed_count = 0;
    for (size_t i = 0; i < count && status == WB_OK; i++) {
        bool joined;
        status = join_group(join, &tensors->packed[i], &joined);
        if (!joined)
            continue;
        if (tensors->packed_count != i)
            tensors->packed[tensors->packed_count] = tensors->packed[i];
        tensors->packed_count++;
    }
    if (status == WB_OK && tensors->packed_count > 0)
        number_tensors(join);
    return status;
}

wb_status wb__packed_join(wb__tensors *tensors, wb__context *context, const wb__table *table,
                          const wb__packing_hints *hints,
                          size_t (*file_of)(const void *ctx, size_t stored), const void *ctx)
{
    joiner join = {.tensors = tensors,
                   .context = context,
                   .table = table,
                   .hints = hints,
                   .file_of = file_of,
                   .ctx = ctx};
    tensors->count = tensors->stored_count = table->count;
    if (context->stored || !wb__companions_possible(table, false) || table->count > UINT32_MAX / 2)
        return WB_OK;
    wb_status status = take_groups(&join);
    if (status == WB_OK && join.unsorted)
        status = sort_groups(&join);
    return status == WB_OK && tensors->packed_count > 0 ? join_groups(&join) : status;
}
