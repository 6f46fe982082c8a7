/*
 * formats/safetensors/fast.h: fast parser for header members in the usual notation.
 *
 *     "layers.0.mlp.up_proj.weight":{"dtype":"BF16","shape":[1408,2048],"data_offsets":[0,5767168]}
 *      `--------- name ----------' `-------------------- middle --------------------' begin, end
 *
 * The header of a large model may have 92,160 members in 12 MB, so the cost per member determines
 * how long opening the model takes. Three observations make parsing fast:
 *
 * - A name ends at the first quote. If no special byte (backslash, control character, non-ASCII
 * byte) precedes the quote, the name is copied and hashed unchanged.
 *
 * - The middle is the same text for all tensors with equal dtype and shape. A few middles are
 * cached, and one comparison replaces parsing a dozen tokens.
 *
 * - begin equals the end of the previous tensor, so a comparison replaces parsing a number. end has
 * as many digits as begin, or occasionally one more.
 *
 * Nearly every step is thus a guess confirmed by a comparison. The position of the next member
 * depends only on the length of this name, so the processor executes several members in parallel.
 *
 * The fast parser stops before a member that deviates from this notation (an escape, a space, a
 * non-ASCII byte, another order of fields) or has a wrong size. safetensors_decode.c then parses
 * the member. This code therefore accepts only what safetensors_decode.c accepts, with the same
 * result, and reports no errors; a differential fuzzer verifies this.
 *
 * The file is included once per instruction set, with these definitions:
 *     FAST_FUNCTION  attributes of its functions, in front of `static inline`
 *     FAST_NAME      name of the generated function
 *     name_length(p, &last)        number of bytes before the first quote or special byte, at most
 *                                  255; 256 if there are more
 *     same_text(p, text, len)      true if len <= WB__ST_MIDDLE_MAX bytes are equal
 *     copy_name(to, p, len)        may write WB__NAMES_SLACK extra bytes
 *     hash_name(hasher, p, len)    equals hasher->hash
 *     read_number(p, guess, &value)  returns the number of digits (1 to 15) of a number without
 *                                  leading zeros, else 0; `guess` is the expected number of
 *                                  digits, 0 if unknown
 * Each may read up to 320 bytes after p; WB__ST_FAST_MARGIN ensures that they are available.
 */

/* Matches a literal at *p and advances *p past the literal. */
FAST_FUNCTION static inline bool take_literal(const uint8_t **p, const char *text, size_t len)
{
    if (memcmp(*p, text, len) != 0)
        return false;
    *p += len;
    return true;
}

#define TAKE_LITERAL(p, text) take_literal(p, text, sizeof(text) - 1)
#define FAST_MAX_RANK 8

/* Parses dtype and shape at `*p`, the position after the opening quote of the dtype. */
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

/* Returns the cached middle that matches at p, or NULL. */
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

/* Parses the middle at p and adds it to the cache; returns false if it is not a valid middle. */
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
 * Parses members from *key on and sets *key to the first member that it does not parse. If the
 * reason is that the middle of this member is not cached, sets *unknown to the middle; otherwise to
 * NULL. Returns the end of the last parsed member. Calls no functions and is not inlined, so that
 * the constants of the vector code stay in registers.
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
    /* the digits of `expected` in the header: the end of the previous tensor */
    const uint8_t *expected_text = p;
    unsigned expected_digits = 0; /* 0: unknown */

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
