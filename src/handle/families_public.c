/*
 * Tables of families that the caller adds.
 *
 * A table can have another table of the caller as its base, in any order. A table is therefore read
 * after its base. The texts are freed after reading, because the parser copies what it needs.
 */
#include "arch/family_check.h"
#include "arch/family_text.h"
#include "core/abi.h"
#include "handle/handle.h"
#include "handle/handle_messages.h"
#include "weighbridge/families.h"

#include <stdatomic.h>

_Static_assert(WB_FAMILY_TABLE_BYTES == WB__TABLE_BYTES, "the documented limit");
_Static_assert(WB_FAMILY_STATEMENTS_MAX == WB__FAMILY_ROWS_MAX, "the documented limit");
_Static_assert(WB_FAMILY_CHAIN_MAX == WB__FAMILY_CHAIN_MAX, "the documented limit");

struct wb_families {
    wb_allocator allocator;
    wb__arena arena; /* everything that the tables consist of */
    wb__family_set set;
    atomic_size_t users; /* the caller, and each open model */
};

#define NO_BASE SIZE_MAX /* the base is a table of the library, or there is none */

/* A table of the caller. */
typedef struct table {
    const char *path;
    wb__str text;
    char *memory; /* memory of `text`; NULL: the text belongs to the caller */
    wb__str name, base_name;
    size_t base;              /* index of the base in the caller's array, or NO_BASE */
    const wb__family *family; /* NULL: not read yet */
} table;

/* ---- texts ---- */

static wb_status read_file(wb__context *context, table *t)
{
    wb__source *source;
    bool is_folder;
    wb_status status = wb__source_open(context, t->path, WB_ACCESS_READ, &source, &is_folder);
    if (status != WB_OK)
        return status;
    if (is_folder)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_NOT_REGULAR, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_HANDLE_IS_FOLDER);
    uint64_t bytes = wb__source_bytes(source);
    if (bytes > WB__TABLE_BYTES) {
        status =
            wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_FAMILY, WB_NO_OFFSET, WB__STR(""),
                     WB__MSG_HANDLE_FAMILY_BYTES, (unsigned long long)bytes, WB_FAMILY_TABLE_BYTES);
    } else {
        t->memory = wb__alloc(&context->allocator, (size_t)bytes + 1);
        t->text = (wb__str){t->memory, (size_t)bytes};
        status = t->memory == NULL ? wb__fail_memory(context)
                                   : wb__source_read(source, context, 0, t->memory, (size_t)bytes);
    }
    wb__source_close(source);
    return status;
}

static wb_status take_table(wb__context *context, const wb_family_table *caller, table *t)
{
    wb_family_table own = {.size = sizeof own};
    if (!WB__TAKE(wb_family_table, caller, &own))
        return WB__FAIL_SIZE(context, wb_family_table, caller);
    if (own.path == NULL)
        return wb__fail_argument(context, WB__MSG_HANDLE_FAMILIES_NULL);
    t->path = context->file = own.path;
    t->text = wb__str_from(own.text == NULL ? "" : own.text, own.text == NULL ? 0 : own.text_len);
    wb_status status = own.text == NULL ? read_file(context, t) : WB_OK;
    if (status == WB_OK)
        wb__family_head(t->text, &t->name, &t->base_name);
    context->file = "";
    return status;
}

/* ---- bases ---- */

/* Returns the base of table i. A table with the name of its base has a later table as its base. */
static size_t find_base(const table *tables, size_t count, size_t i)
{
    wb__str base = tables[i].base_name;
    size_t first = wb__str_equal(tables[i].name, base) ? i + 1 : 0;
    for (size_t k = first; base.len > 0 && k < count; k++) {
        if (wb__str_equal(tables[k].name, base))
            return k;
    }
    return NO_BASE;
}

static wb_status read_table(wb__context *context, wb_families *families, table *tables, table *t)
{
    const wb__family *base = t->base == NO_BASE ? NULL : tables[t->base].family;
    const wb__family_set set = {.families = &base, .count = base != NULL};
    wb_status status =
        wb__family_read(context, &families->arena, t->path, t->text, &set, &t->family);
    context->file = t->path;
    if (status == WB_OK)
        status = wb__family_check(context, t->family);
    context->file = "";
    return status;
}

/* Reads every table after its base. */
static wb_status read_all(wb__context *context, wb_families *families, table *tables, size_t count)
{
    size_t done = 0, before;
    wb_status status = WB_OK;
    do {
        before = done;
        for (size_t i = 0; i < count && status == WB_OK; i++) {
            table *t = &tables[i];
            if (t->family != NULL || (t->base != NO_BASE && tables[t->base].family == NULL))
                continue;
            status = read_table(context, families, tables, t);
            done++;
        }
    } while (status == WB_OK && done > before);
    for (size_t i = 0; i < count && status == WB_OK; i++) {
        if (tables[i].family != NULL)
            continue;
        context->file = tables[i].path;
        status = wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_FAMILY, WB_NO_OFFSET,
                          tables[i].name, WB__MSG_HANDLE_FAMILY_CYCLE);
    }
    return status;
}

/* Adds the families to the set, except those that a table with the same name hides. */
static void fill_set(wb_families *families, const wb__family **list, const table *tables,
                     size_t count)
{
    families->set.families = list;
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (!wb__str_equal(tables[first].name, tables[i].name))
            first++;
        if (first == i)
            list[families->set.count++] = tables[i].family;
    }
}

static wb_status make(wb__context *context, wb_families *families, const wb_family_table *callers,
                      table *tables, size_t count)
{
    wb_status status = WB_OK;
    const wb__family **list =
        (const wb__family **)wb__arena_alloc(&families->arena, (count + 1) * sizeof *list);
    if (list == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < count && status == WB_OK; i++)
        status = take_table(context, WB__ELEMENT(wb_family_table, callers, i), &tables[i]);
    for (size_t i = 0; i < count && status == WB_OK; i++)
        tables[i].base = find_base(tables, count, i);
    if (status == WB_OK)
        status = read_all(context, families, tables, count);
    if (status == WB_OK)
        fill_set(families, list, tables, count);
    return status;
}

/* ---- the object ---- */

static wb_families *create(const wb_allocator *allocator)
{
    wb_families *families = wb__alloc(allocator, sizeof *families);
    if (families == NULL)
        return NULL;
    memset(families, 0, sizeof *families);
    families->allocator = *allocator;
    families->arena.allocator = &families->allocator;
    atomic_init(&families->users, 1);
    return families;
}

static wb_status read_families(wb__context *context, const wb_family_table *callers, size_t count,
                               wb_families **families)
{
    if (families == NULL || (callers == NULL && count > 0))
        return wb__fail_argument(context, WB__MSG_HANDLE_FAMILIES_NULL);
    if (count > WB_FAMILY_TABLES_MAX)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_FAMILY, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_HANDLE_FAMILIES_COUNT, (unsigned long long)count,
                        WB_FAMILY_TABLES_MAX);
    wb_families *made = create(&context->allocator);
    table *tables = wb__alloc_zeroed(&context->allocator, (count + 1) * sizeof *tables);
    wb_status status = made == NULL || tables == NULL ? wb__fail_memory(context)
                                                      : make(context, made, callers, tables, count);
    for (size_t i = 0; tables != NULL && i < count; i++)
        wb__free(&context->allocator, tables[i].memory, tables[i].text.len + 1);
    wb__free(&context->allocator, tables, (count + 1) * sizeof *tables);
    if (status == WB_OK)
        *families = made;
    else
        wb_families_free(made);
    return status;
}

wb_status wb_families_read(const wb_family_table *tables, size_t count,
                           const wb_open_options *options, wb_families **families, wb_error *error)
{
    wb__context context;
    wb_error spare;
    if (families != NULL)
        *families = NULL;
    wb_status status = wb__context_init(&context, options, wb__error_reset(error, &spare));
    return status == WB_OK ? read_families(&context, tables, count, families) : status;
}

wb_families *wb__families_share(wb_families *families)
{
    if (families != NULL)
        (void)atomic_fetch_add(&families->users, 1);
    return families;
}

void wb_families_free(wb_families *families)
{
    if (families == NULL || atomic_fetch_sub(&families->users, 1) > 1)
        return;
    wb_allocator allocator = families->allocator;
    wb__arena_free(&families->arena);
    wb__free(&allocator, families, sizeof *families);
}

const wb__family_set *wb__families_set(const wb_families *families)
{
    return families == NULL ? NULL : &families->set;
}
