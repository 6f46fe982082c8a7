#include "arch/expr.h"

#include <math.h>

const wb__function wb__functions[WB__FUNCTIONS] = {
    [WB__FUNCTION_INT] = {"int", 1, false},       [WB__FUNCTION_ROUND_UP] = {"round_up", 2, false},
    [WB__FUNCTION_SQRT] = {"sqrt", 1, false},     [WB__FUNCTION_LOG] = {"log", 1, false},
    [WB__FUNCTION_POW] = {"pow", 2, false},       [WB__FUNCTION_MIN] = {"min", 2, false},
    [WB__FUNCTION_MAX] = {"max", 2, false},       [WB__FUNCTION_HAS] = {"has", 1, true},
    [WB__FUNCTION_COUNT] = {"count", 1, true},    [WB__FUNCTION_LEADING] = {"leading", 2, true},
    [WB__FUNCTION_FIRST] = {"first", 2, true},    [WB__FUNCTION_IN] = {"in", 2, true},
    [WB__FUNCTION_ALL] = {"all", 2, true},        [WB__FUNCTION_TENSOR] = {"tensor", 1, true},
    [WB__FUNCTION_PROBIT] = {"probit", 1, false},
};

/* ---- values ---- */

static const wb__fact nothing = {.type = WB__FACT_NONE};

static bool is_number(const wb__fact *value)
{
    return value->type == WB__FACT_UINT || value->type == WB__FACT_INT ||
           value->type == WB__FACT_REAL;
}

static bool is_whole(const wb__fact *value)
{
    return value->type == WB__FACT_UINT || value->type == WB__FACT_INT;
}

static bool is_true(const wb__fact *value)
{
    return value->type == WB__FACT_BOOL && value->number != 0;
}

static bool has_value(const wb__fact *value)
{
    return value->type != WB__FACT_NONE && value->type != WB__FACT_NULL;
}

static wb__fact of_bool(bool value)
{
    return (wb__fact){.type = WB__FACT_BOOL, .number = value, .real = value};
}

static wb__fact of_real(double value)
{
    return isfinite(value) ? (wb__fact){.type = WB__FACT_REAL, .real = value} : nothing;
}

/* Converts a whole number up to 2^53, which a double represents exactly, to an integer. For
 * other numbers, returns no value. */
static wb__fact of_whole(double value)
{
    const double most = 9007199254740992.0;
    if (!(value >= -most && value <= most) || value != floor(value))
        return nothing;
    wb__fact fact = {.type = value < 0 ? WB__FACT_INT : WB__FACT_UINT, .real = value};
    fact.number = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    return fact;
}

static wb__fact of_count(uint64_t value)
{
    return (wb__fact){.type = WB__FACT_UINT, .number = value, .real = (double)value};
}

bool wb__fact_equal(const wb__fact *a, const wb__fact *b)
{
    if (is_number(a) && is_number(b))
        return is_whole(a) && is_whole(b) ? a->type == b->type && a->number == b->number
                                          : a->real == b->real;
    if (a->type != b->type)
        return false;
    if (a->type == WB__FACT_TEXT)
        return wb__str_equal(a->text, b->text);
    return a->type == WB__FACT_NULL || (a->type == WB__FACT_BOOL && a->number == b->number);
}

/* ---- operators ---- */

static wb__fact arithmetic(uint8_t code, const wb__fact *a, const wb__fact *b)
{
    if (!is_number(a) || !is_number(b) || (code == WB__OP_DIV && b->real == 0))
        return nothing;
    double x = a->real, y = b->real;
    double result = code == WB__OP_ADD   ? x + y
                    : code == WB__OP_SUB ? x - y
                    : code == WB__OP_MUL ? x * y
                                         : x / y;
    wb__fact whole = of_whole(result);
    return is_whole(a) && is_whole(b) && whole.type != WB__FACT_NONE ? whole : of_real(result);
}

static wb__fact compare(uint8_t code, const wb__fact *a, const wb__fact *b)
{
    if (a->type == WB__FACT_NONE || b->type == WB__FACT_NONE)
        return nothing;
    if (code == WB__OP_EQ || code == WB__OP_NE)
        return of_bool(wb__fact_equal(a, b) == (code == WB__OP_EQ));
    if (!is_number(a) || !is_number(b))
        return nothing;
    switch (code) {
    case WB__OP_LT: return of_bool(a->real < b->real);
    case WB__OP_LE: return of_bool(a->real <= b->real);
    case WB__OP_GT: return of_bool(a->real > b->real);
    default: return of_bool(a->real >= b->real);
    }
}

static wb__fact logic(uint8_t code, const wb__fact *a, const wb__fact *b)
{
    bool x = is_true(a), y = is_true(b);
    return of_bool(code == WB__OP_AND ? x && y : x || y);
}

static wb__fact binary(uint8_t code, const wb__fact *a, const wb__fact *b)
{
    switch (code) {
    case WB__OP_ADD:
    case WB__OP_SUB:
    case WB__OP_MUL:
    case WB__OP_DIV: return arithmetic(code, a, b);
    case WB__OP_AND:
    case WB__OP_OR: return logic(code, a, b);
    case WB__OP_ELSE: return has_value(a) ? *a : *b;
    default: return compare(code, a, b);
    }
}

static wb__fact unary(uint8_t code, const wb__fact *a)
{
    if (code == WB__OP_NOT)
        return of_bool(!is_true(a));
    if (!is_number(a))
        return nothing;
    return is_whole(a) ? of_whole(-a->real) : of_real(-a->real);
}

/* ---- functions ---- */

/*
 * Computes the inverse of the standard normal distribution function by bisection with erfc. 100
 * steps make the result exact to the last bits of a double. The function is called only a few times
 * per model, so its speed does not matter.
 */
static double probit(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(-middle / sqrt(2.0)) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static wb__fact round_up(const wb__fact *x, const wb__fact *multiple)
{
    if (!is_number(x) || !is_number(multiple) || !(multiple->real > 0))
        return nothing;
    return of_whole(ceil(x->real / multiple->real) * multiple->real);
}

static wb__fact call_numbers(wb__function_id id, const wb__fact *a, const wb__fact *b)
{
    if (!is_number(a) || (wb__functions[id].arguments == 2 && !is_number(b)))
        return nothing;
    switch (id) {
    case WB__FUNCTION_INT: return of_whole(trunc(a->real));
    case WB__FUNCTION_ROUND_UP: return round_up(a, b);
    case WB__FUNCTION_SQRT: return of_real(sqrt(a->real));
    case WB__FUNCTION_LOG: return of_real(log(a->real));
    case WB__FUNCTION_POW: return of_real(pow(a->real, b->real));
    case WB__FUNCTION_MIN: return a->real <= b->real ? *a : *b;
    case WB__FUNCTION_MAX: return a->real >= b->real ? *a : *b;
    case WB__FUNCTION_PROBIT:
        return a->real > 0 && a->real < 1 ? of_real(probit(a->real)) : nothing;
    default: return nothing;
    }
}

/* Returns the number of elements, or no value for a longer list than WB__EXPR_LAYERS. */
static wb__fact count_elements(wb__fact_list *list)
{
    wb__fact element;
    uint64_t count = 0;
    while (count <= WB__EXPR_LAYERS && wb__fact_list_next(list, &element))
        count++;
    return count <= WB__EXPR_LAYERS ? of_count(count) : nothing;
}

static wb__fact call_list(wb__function_id id, const wb__scope *scope, const char *name,
                          const wb__fact *wanted)
{
    wb__fact_list list;
    wb__fact element;
    uint64_t equal = 0;
    bool found = scope->list(scope->ctx, name, &list);
    if (id == WB__FUNCTION_COUNT)
        return found ? count_elements(&list) : of_count(0);
    while (found && list.next < WB__EXPR_LAYERS && wb__fact_list_next(&list, &element)) {
        if (wb__fact_equal(&element, wanted)) {
            equal++;
            if (id == WB__FUNCTION_FIRST)
                return of_count(list.next - 1);
            if (id == WB__FUNCTION_IN)
                return of_bool(true);
        } else if (id == WB__FUNCTION_LEADING) {
            break;
        } else if (id == WB__FUNCTION_ALL) {
            return of_bool(false);
        }
    }
    return id == WB__FUNCTION_FIRST     ? nothing
           : id == WB__FUNCTION_LEADING ? of_count(equal)
                                        : of_bool(id == WB__FUNCTION_ALL);
}

static bool has(const wb__scope *scope, const char *name)
{
    wb__fact_list list;
    wb__fact value = scope->value(scope->ctx, name);
    return value.type == WB__FACT_OTHER ? scope->list(scope->ctx, name, &list) : has_value(&value);
}

/* ---- names ---- */

static wb__fact value_of(const wb__scope *scope, const char *name)
{
    return strcmp(name, "i") == 0 ? of_count(scope->index) : scope->value(scope->ctx, name);
}

/* Returns character `index` of an ASCII text as a text. */
static wb__fact character(const wb__fact *text, uint64_t index)
{
    if (text->type != WB__FACT_TEXT || index >= text->text.len)
        return nothing;
    return (wb__fact){.type = WB__FACT_TEXT, .text = {text->text.ptr + index, 1}};
}

static wb__fact element_of(const wb__scope *scope, const char *name, const wb__fact *index)
{
    wb__fact_list list;
    if (index->type != WB__FACT_UINT || index->number >= WB__EXPR_LAYERS)
        return nothing;
    if (!scope->list(scope->ctx, name, &list)) {
        wb__fact value = scope->value(scope->ctx, name);
        return character(&value, index->number);
    }
    wb__fact element = nothing;
    wb__fact_list_seek(&list, index->number);
    return wb__fact_list_next(&list, &element) ? element : nothing;
}

/* ---- evaluation ---- */

typedef struct stack {
    wb__fact values[WB__EXPR_STACK];
    const char *name; /* name argument of the function that is called */
    size_t count;
} stack;

static wb__fact call(stack *s, const wb__scope *scope, wb__function_id id)
{
    const wb__function *function = &wb__functions[id];
    size_t values = function->arguments - function->takes_name;
    if (s->count < values)
        return nothing;
    s->count -= values;
    const wb__fact *a = &s->values[s->count];
    if (!function->takes_name)
        return call_numbers(id, a, a + 1);
    if (id == WB__FUNCTION_HAS)
        return of_bool(has(scope, s->name));
    return id == WB__FUNCTION_TENSOR ? of_bool(scope->tensor(scope->ctx, s->name))
                                     : call_list(id, scope, s->name, a);
}

/* Returns the number of values that an operation takes from the stack. Not used for function
 * calls. */
static size_t operands(uint8_t code)
{
    if (code <= WB__OP_NAME || code == WB__OP_EMPTY)
        return 0;
    if (code == WB__OP_ELEMENT || code == WB__OP_NEG || code == WB__OP_NOT)
        return 1;
    return code == WB__OP_SELECT ? 3 : 2;
}

static wb__fact apply(stack *s, const wb__scope *scope, const wb__op *op)
{
    s->count -= operands(op->code);
    const wb__fact *a = &s->values[s->count];
    switch (op->code) {
    case WB__OP_NUMBER: {
        wb__fact whole = of_whole(op->number);
        return whole.type != WB__FACT_NONE ? whole : of_real(op->number);
    }
    case WB__OP_TEXT:
        return (wb__fact){.type = WB__FACT_TEXT, .text = wb__str_from(op->text, SIZE_MAX)};
    case WB__OP_TRUE: return of_bool(true);
    case WB__OP_FALSE: return of_bool(false);
    case WB__OP_NULL: return (wb__fact){.type = WB__FACT_NULL};
    case WB__OP_EMPTY: return (wb__fact){.type = WB__FACT_OTHER};
    case WB__OP_NAME: return value_of(scope, op->text);
    case WB__OP_ELEMENT: return element_of(scope, op->text, a);
    case WB__OP_NEG:
    case WB__OP_NOT: return unary(op->code, a);
    case WB__OP_SELECT: return is_true(a) ? a[1] : a[2];
    default: return binary(op->code, a, a + 1);
    }
}

wb__fact wb__expr_eval(wb__expr expr, const wb__scope *scope)
{
    stack s = {.name = ""};
    if (expr == NULL)
        return nothing;
    for (const wb__op *op = expr; op->code != WB__OP_END; op++) {
        wb__fact value;
        if (op->code == WB__OP_CALL) {
            /* the operation, not the stack, contains the name argument of the function */
            s.name = op->text;
            value = call(&s, scope, (wb__function_id)op->number);
        } else if (s.count < operands(op->code)) {
            return nothing;
        } else {
            value = apply(&s, scope, op);
        }
        if (s.count == WB__EXPR_STACK)
            return nothing;
        s.values[s.count++] = value;
    }
    return s.count == 1 ? s.values[0] : nothing;
}

bool wb__expr_holds(wb__expr expr, const wb__scope *scope, bool otherwise)
{
    if (expr == NULL)
        return otherwise;
    wb__fact value = wb__expr_eval(expr, scope);
    return is_true(&value);
}

uint64_t wb__expr_count(wb__expr expr, const wb__scope *scope)
{
    wb__fact value = wb__expr_eval(expr, scope);
    return value.type == WB__FACT_UINT ? value.number : 0;
}
