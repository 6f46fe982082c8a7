/*
 * arch/expr.h: expressions of family tables.
 *
 * An expression is compiled to postfix operations and evaluated on a small stack. It has no loops
 * and no side effects, so its evaluation takes time in proportion to its length. Unless the list
 * below says otherwise, the value of an operation whose operands are missing or of the wrong type
 * is "no value" (WB__FACT_NONE). So is a result that is not finite, or that must be an integer and
 * exceeds 2^53.
 *
 *     1.5  "text"  true  false  null  []     literals; [] is an empty list
 *     name                                   a field of wb_config, a definition (`let`),
 *                                            a member of config.json, or a GGUF key
 *     name[i]                                element i of a list, or character i of a text
 *     a + b  a - b  a * b  a / b  -a         numbers; integers give an integer if possible
 *     a == b  a != b                         any two values
 *     a < b  a <= b  a > b  a >= b           numbers
 *     a and b  a or b  not a  c ? a : b      c, and the operands of and, or, not, count as false
 *                                            unless they are the boolean true
 *     a ?? b                                 a if it has a value and is not null, else b
 *     f(a, …)                                the functions in wb__functions
 */
#ifndef WB_ARCH_EXPR_H
#define WB_ARCH_EXPR_H

#include "arch/model_facts.h"

#define WB__EXPR_MAX 96 /* maximum number of operations of an expression */
/* Maximum number of layers for which an expression is evaluated, and of elements of a list that a
 * function considers. With it, a hostile table or config.json causes little work. */
#define WB__EXPR_LAYERS 1024
#define WB__EXPR_STACK 24 /* maximum number of values on the stack */

typedef enum wb__op_code {
    WB__OP_END = 0,
    WB__OP_NUMBER,
    WB__OP_TEXT,
    WB__OP_TRUE,
    WB__OP_FALSE,
    WB__OP_NULL,
    WB__OP_NAME,
    WB__OP_ELEMENT, /* text is the name of a list, the index is on the stack */
    WB__OP_EMPTY,   /* an empty list */
    WB__OP_ADD,
    WB__OP_SUB,
    WB__OP_MUL,
    WB__OP_DIV,
    WB__OP_NEG,
    WB__OP_EQ,
    WB__OP_NE,
    WB__OP_LT,
    WB__OP_LE,
    WB__OP_GT,
    WB__OP_GE,
    WB__OP_AND,
    WB__OP_OR,
    WB__OP_NOT,
    WB__OP_ELSE,
    WB__OP_SELECT,
    WB__OP_CALL /* `number`: index in wb__functions; `text`: an argument that is a name, or NULL */
} wb__op_code;

typedef struct wb__op {
    uint8_t code;
    double number;
    const char *text;
} wb__op;

/* An expression: operations up to WB__OP_END. NULL: no expression. */
typedef const wb__op *wb__expr;

typedef struct wb__function {
    const char *name;
    unsigned arguments;
    /* the first argument is not evaluated: the function receives the name itself */
    bool takes_name;
} wb__function;

typedef enum wb__function_id {
    WB__FUNCTION_INT,      /* int(x): rounds towards zero */
    WB__FUNCTION_ROUND_UP, /* round_up(x, m): smallest multiple of m that is >= x */
    WB__FUNCTION_SQRT,
    WB__FUNCTION_LOG, /* natural logarithm */
    WB__FUNCTION_POW, /* pow(x, y) */
    WB__FUNCTION_MIN,
    WB__FUNCTION_MAX,
    WB__FUNCTION_HAS,     /* has(name): the value exists and is not null */
    WB__FUNCTION_COUNT,   /* count(list): number of elements; 0 if there is no list */
    WB__FUNCTION_LEADING, /* leading(list, x): number of elements before the first one that
                           * differs from x */
    WB__FUNCTION_FIRST,   /* first(list, x): index of the first element that equals x */
    WB__FUNCTION_IN,      /* in(list, x): an element equals x */
    WB__FUNCTION_ALL,     /* all(list, x): every element equals x; true without elements */
    WB__FUNCTION_TENSOR,  /* tensor(name): the model has the tensor; {n} stands for any layer */
    WB__FUNCTION_PROBIT,  /* probit(p): inverse of the standard normal distribution function */
    WB__FUNCTIONS
} wb__function_id;

extern const wb__function wb__functions[WB__FUNCTIONS];

/* Callbacks that provide the values of the names in an expression. */
typedef struct wb__scope {
    void *ctx;
    /* Returns the value of a name; the type of an unknown name is WB__FACT_NONE. */
    wb__fact (*value)(void *ctx, const char *name);
    /* Finds a list. Returns false if there is none. */
    bool (*list)(void *ctx, const char *name, wb__fact_list *list);
    /* Returns true if the model has the tensor with this canonical name. */
    bool (*tensor)(void *ctx, const char *name);
    uint64_t index; /* value of the name "i": the index of the list element to compute */
} wb__scope;

/* Evaluates an expression. If `expr` is NULL, the type of the result is WB__FACT_NONE. */
wb__fact wb__expr_eval(wb__expr expr, const wb__scope *scope);

/* Evaluates an expression as a condition. Returns true only if its value is the boolean `true`.
 * Returns `otherwise` if `expr` is NULL. */
bool wb__expr_holds(wb__expr expr, const wb__scope *scope, bool otherwise);

/* Evaluates an expression. Returns 0 if its value is not an unsigned integer. */
uint64_t wb__expr_count(wb__expr expr, const wb__scope *scope);

/* Returns true if two values are equal. Numbers of different types are compared by value. */
bool wb__fact_equal(const wb__fact *a, const wb__fact *b);

#endif
