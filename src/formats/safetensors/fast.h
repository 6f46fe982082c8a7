/*
 * formats/safetensors/fast.h: members of the header that look as every writer writes them.
 *
 *     "model.layers.0.mlp.up_proj.weight":{"dtype":"BF16","shape":[1408,2048],"data_offsets":[0,5767168]}
 *      `------------- name -------------' `-------------------- middle --------------------' begin, end
 *
 * A header of 12 MB holds 92,160 of these, so that what one of them costs decides what opening a large
 * model costs. Three observations make it cheap:
 *   - a name ends at the first quote; if nothing before it needs care, it is copied and hashed as is;
 *   - the middle is the same text for all tensors of one dtype and shape. A few of them are kept, and
 *     one comparison replaces reading a dozen tokens;
 *   - begin is the end of the tensor before, so that again a comparison replaces reading a number,
 *     and end has as many digits as that, or a digit more now and then.
 * So nearly everything is a guess that a comparison confirms. The position of the next member then
 * depends on nothing but the length of this one's name; the processor runs ahead of the comparisons
 * and works on several members at once.
 *
 * Whatever is different in the slightest (an escape, a space, a byte past ASCII, another order of
 * fields, a size that does not fit) ends the run before that member, and decode.c reads it. This code
 * therefore accepts only what decode.c accepts, with the same result, and refuses nothing; a
 * differential fuzzer holds it to that.
 *
 * The text is included once for each instruction set, after these have been defined:
 *     FAST_FUNCTION  attributes of its functions, in front of `static inline`
 *     FAST_NAME      name of the function this makes
 *     name_length(p, &last)        bytes before the first that needs care, at most 255; 256 if more
 *     same_text(p, text, len)      whether len <= WB__ST_MIDDLE_MAX bytes agree
 *     copy_name(to, p, len)        may write WB__NAMES_SLACK bytes more
 *     hash_name(hasher, p, len)    as hasher->hash does
 *     read_number(p, guess, &value)  digits (1 to 15) of a number without leading zeros, or 0;
 *                                  the result is taken from `guess` where that is right
 * Each may read up to 320 bytes behind p; WB__ST_FAST_MARGIN provides for that.
 */

/* Reads a literal part of a middle at *p and moves behind it. */
FAST_FUNCTION static inline bool take_literal(const uint8_t **p, const char *text, size_t len)
{
    if (memcmp(*p, text, len) != 0)
        return false;
    *p += len;
    return true;
}

#define TAKE_LITERAL(p, text) take_literal(p, text, sizeof(text) - 1)
#define FAST_MAX_RANK 8

/* Reads dtype and shape at `*p`, which stands behind the quote that opens the dtype. */
FAST_FUNCTION static inline bool parse_kind(wb__st_reader *reader, const uint8_t **p,
                                            uint32_t *number)
{
    uint64_t shape[FAST_MAX_RANK];
    wb__kind kind = {.shape = shape};
    size_t len = 0;
    while (len < 16 && (*p)[len] != '"')
        len++;
    kind.dtype = wb__st_dtype((wb__str){(const char *)*p, len});
    if (kind.dtype == NULL)
        return false;
    *p += len;
    if (!TAKE_LITERAL(p, "\",\"shape\":["))
        return false;
    if (**p != ']') {
        for (;;) {
            unsigned digits =
                kind.rank == FAST_MAX_RANK ? 0 : read_number(*p, 0, &shape[kind.rank]);
            if (digits == 0)
                return false;
            kind.rank++;
            *p += digits;
            if (**p == ']')
                break;
            if (*(*p)++ != ',')
                return false;
        }
    }
    wb__kind_measure(&kind);
    return kind.rank <= reader->context->limits.rank && kind.fault == WB__KIND_SOUND &&
           wb__table_kind(reader->table, &kind, number);
}

/* The middle at p if it is one of those kept, or NULL. */
FAST_FUNCTION static inline const wb__st_middle *find_middle(wb__st_reader *reader,
                                                             const uint8_t *p)
{
    for (unsigned i = 0; i < WB__ST_MIDDLES; i++) {
        if (same_text(p, reader->middles[i].text, reader->middles[i].len)) {
            reader->last_middle = i;
            return &reader->middles[i];
        }
    }
    return NULL;
}

/* Reads the middle at p and keeps it from now on; false if it is none. */
FAST_FUNCTION static bool keep_middle(wb__st_reader *reader, const uint8_t *p)
{
    const uint8_t *end = p;
    uint32_t kind;
    if (!TAKE_LITERAL(&end, "\":{\"dtype\":\"") || !parse_kind(reader, &end, &kind) ||
        !TAKE_LITERAL(&end, "],\"data_offsets\":[") || end - p > WB__ST_MIDDLE_MAX)
        return false;
    unsigned i = reader->next_middle;
    wb__st_middle *middle = &reader->middles[i];
    memcpy(middle->text, p, WB__ST_MIDDLE_MAX);
    middle->len = (uint32_t)(end - p);
    middle->kind = kind;
    middle->bytes = ((const wb__kind *)wb__list_at(&reader->table->kinds, kind))->bytes;
    reader->last_middle = i;
    reader->next_middle = (i + 1) % WB__ST_MIDDLES;
    return true;
}

FAST_FUNCTION static inline bool is_metadata(const uint8_t *name, unsigned len)
{
    return len == 12 && memcmp(name, "__metadata__", 12) == 0;
}

/*
 * Takes members from *key on until one is different, and leaves *key there. If only its middle is
 * not among those kept, *unknown says where that is. Returns the end of the last one taken. Calls
 * nothing and is not inlined, so that the constants of the vector code stay in registers.
 */
FAST_FUNCTION FAST_APART static const uint8_t *take_members(wb__st_reader *reader,
                                                            const uint8_t **key, const uint8_t *end,
                                                            uint32_t where, const uint8_t **unknown)
{
    wb__table *table = reader->table;
    const wb__st_middle *middle = &reader->middles[reader->last_middle];
    const uint8_t *p = *key, *start = p, *taken = p;
    char *names = table->names;
    size_t names_used = table->names_used;
    wb__record *record = table->records_end - table->count;
    uint64_t expected = reader->expected;
    bool irregular = false;
    name_lengths lengths = {{0, 0}, {0, 0}};
    const uint8_t *expected_text = p; /* its digits, where the header had them last */
    unsigned expected_digits = 0;     /* 0: not known */

    *unknown = NULL;
    while ((size_t)(end - p) >= WB__ST_FAST_MARGIN) {
        const uint8_t *name = p + 1;
        unsigned name_len = name_length(name, &lengths);
        const uint8_t *q = name + name_len;
        if (name_len > 255 || *q != '"' || is_metadata(name, name_len))
            break;
        if (!same_text(q, middle->text, middle->len)) {
            const wb__st_middle *other = find_middle(reader, q);
            if (other == NULL) {
                *unknown = q;
                break;
            }
            middle = other;
        }
        q += middle->len;

        uint64_t tensor_begin = expected, tensor_end;
        unsigned digits = expected_digits;
        if (digits == 0 || !same_text(q, expected_text, digits)) {
            digits = read_number(q, 0, &tensor_begin);
            if (digits == 0)
                break;
        }
        q += digits;
        if (*q++ != ',')
            break;
        digits = read_number(q, expected_digits, &tensor_end);
        if (digits == 0 || q[digits] != ']' || q[digits + 1] != '}' || tensor_end < tensor_begin ||
            tensor_end - tensor_begin != middle->bytes)
            break;

        copy_name(names + names_used, name, name_len);
        names[names_used + name_len] = '\0';
        *--record =
            (wb__record){tensor_begin, (uint32_t)names_used, middle->kind,
                         where + (uint32_t)(p - start), hash_name(&table->hasher, name, name_len)};
        names_used += name_len + 1;
        irregular |= tensor_begin != expected;
        expected = tensor_end;
        expected_text = q;
        expected_digits = digits;

        taken = q + digits + 2;
        p = taken + 1;
        if (*taken != ',' || *p != '"')
            break;
    }
    table->names_used = names_used;
    table->count = (size_t)(table->records_end - record);
    reader->expected = expected;
    reader->irregular |= irregular;
    *key = p;
    return taken;
}

FAST_FUNCTION const uint8_t *FAST_NAME(wb__st_reader *reader, const uint8_t *p, const uint8_t *end,
                                       uint32_t where)
{
    const uint8_t *key = p, *taken = p, *unknown;
    do {
        const uint8_t *from = key;
        const uint8_t *to = take_members(reader, &key, end, where + (uint32_t)(key - p), &unknown);
        if (to != from)
            taken = to;
    } while (unknown != NULL && keep_middle(reader, unknown));
    return taken;
}
