/*
 * Messages for syntax errors in JSON, used by all modules that read JSON. Each row has the name of
 * a wb__json_fault and its message.
 */
#ifndef WB_JSON_JSON_MESSAGES_H
#define WB_JSON_JSON_MESSAGES_H

#define WB__JSON_FAULTS(X)                                                                         \
    X(NONE, "")                                                                                    \
    X(ENDS, "the JSON text ends too early")                                                        \
    X(VALUE, "expected a JSON value")                                                              \
    X(KEY, "expected a JSON key in double quotes")                                                 \
    X(COLON, "expected ':' after a JSON key")                                                      \
    X(COMMA_OR_BRACE, "expected ',' or '}' after a JSON object member")                            \
    X(COMMA_OR_BRACKET, "expected ',' or ']' after a JSON array element")                          \
    X(TRAILING_COMMA, "a JSON array or object has a trailing comma")                               \
    X(CONTROL, "a JSON string contains an unescaped control character")                            \
    X(ESCAPE, "a JSON string contains an invalid escape sequence")                                 \
    X(SURROGATE, "a JSON string contains an unpaired UTF-16 surrogate")                            \
    X(UTF8, "a JSON string contains invalid UTF-8")                                                \
    X(NUMBER, "a JSON number is malformed")                                                        \
    X(RANGE, "a JSON number exceeds the range of a double")                                        \
    X(DEPTH, "JSON arrays and objects are nested too deeply")                                      \
    X(STRING_LENGTH, "a JSON string is longer than the limit")                                     \
    X(MEMORY, "out of memory")                                                                     \
    X(READ, "the JSON text could not be read")

#endif
