#include "core.h"

#include <stdlib.h>

/* Returns the table of dtypes, a list of tuples (number, name, block_size, block_bits, is_float,
 * …). */
static PyObject *dtypes_make(void)
{
    PyObject *list = PyList_New(0);
    for (int32_t i = 0; list != NULL && i < 256; i++) {
        wb_dtype_info info = WB_DTYPE_INFO_INIT;
        if (wb_dtype_describe(i, &info) != WB_OK)
            continue;
        PyObject *row = Py_BuildValue(
            "isIIIIIIIis", (int)i, info.name, (unsigned)info.block_size, (unsigned)info.block_bits,
            (unsigned)info.is_float, (unsigned)info.is_complex, (unsigned)info.is_signed,
            (unsigned)info.decodes, (unsigned)info.encodes, (int)info.importance, info.description);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *core_dtypes(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return dtypes_make();
}

static PyObject *core_version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return text_make_z(wb_version());
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
    {"version", core_version, METH_NOARGS, "Return the version of the library."},
    {"dtypes", core_dtypes, METH_NOARGS, "Return one tuple for each dtype."},
    {"open", KEYWORDS(core_open),
     "Open a model from a path, from memory or from a file descriptor."},
    {"get_threads", core_get_threads, METH_NOARGS, "Return the number of threads of long calls."},
    {"set_threads", core_set_threads, METH_O, "Set it; 0: one for each processor."},
    {"verify", KEYWORDS(core_verify), "Verify a model; return (verdict, findings)."},
    {"hash", KEYWORDS(core_hash), "Return (values, files, tensors, manifest)."},
    {"diff", KEYWORDS(core_diff), "Return (kinds, distance, config, tensors, metadata)."},
    {"plan", KEYWORDS(core_plan), "Plan a conversion."},
    {"edit", KEYWORDS(core_edit), "Edit the header of a file."},
    {"edit_recover", core_edit_recover, METH_O, "Revert an interrupted edit."},
    {"quantize", core_quantize, METH_VARARGS, "Encode F32 values as blocks."},
    {"dequantize", core_dequantize, METH_VARARGS, "Decode blocks to F32 values."},
    {"mlx_quantize", core_mlx_quantize, METH_VARARGS, "Return weight, scales and biases."},
    {"mlx_dequantize", core_mlx_dequantize, METH_VARARGS, "Decode weight, scales and biases."},
    {"writer", KEYWORDS(core_writer), "Create a writer."},
    {"provider", KEYWORDS(core_provider), "Create a provider."},
    {"store_list", core_store_list, METH_O, "List the models of an Ollama store."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    core_state *state = PyModule_GetState(module);
    PyObject *errors = PyImport_ImportModule("weighbridge.errors");
    if (errors == NULL)
        return -1;
    state->make_error = PyObject_GetAttrString(errors, "make");
    Py_DECREF(errors);
    if (state->make_error == NULL || gate_open() < 0 || core_add_array(module, state) < 0 ||
        core_add_tensor(module, state) < 0 || core_add_names(module, state) < 0 ||
        core_add_model(module, state) < 0 || core_add_conversion(module, state) < 0 ||
        core_add_writer(module, state) < 0 || core_add_provider(module, state) < 0)
        return -1;
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    core_state *state = PyModule_GetState(module);
    Py_VISIT(state->make_error);
    Py_VISIT(state->model);
    Py_VISIT(state->tensor);
    Py_VISIT(state->array);
    Py_VISIT(state->names);
    Py_VISIT(state->conversion);
    Py_VISIT(state->writer);
    Py_VISIT(state->provider);
    return 0;
}

static int clear(PyObject *module)
{
    core_state *state = PyModule_GetState(module);
    Py_CLEAR(state->make_error);
    Py_CLEAR(state->model);
    Py_CLEAR(state->tensor);
    Py_CLEAR(state->array);
    Py_CLEAR(state->names);
    Py_CLEAR(state->conversion);
    Py_CLEAR(state->writer);
    Py_CLEAR(state->provider);
    return 0;
}

static void release(void *module)
{
    (void)clear(module);
}

/* The last slots of this table are new in Python 3.12 and 3.13. Older versions reject them. */
static PyModuleDef_Slot slots_3_13[] = {
    {Py_mod_exec, execute},
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
    {0, NULL},
};
static PyModuleDef_Slot slots_3_12[] = {
    {Py_mod_exec, execute},
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
    {0, NULL},
};
static PyModuleDef_Slot slots_3_10[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

#define DEFINITION(slots)                                                                          \
    {PyModuleDef_HEAD_INIT,                                                                        \
     "weighbridge._core",                                                                          \
     "The functions of the C library weighbridge.",                                                \
     sizeof(core_state),                                                                           \
     functions,                                                                                    \
     slots,                                                                                        \
     traverse,                                                                                     \
     clear,                                                                                        \
     release}

static PyModuleDef definition_3_13 = DEFINITION(slots_3_13);
static PyModuleDef definition_3_12 = DEFINITION(slots_3_12);
static PyModuleDef definition_3_10 = DEFINITION(slots_3_10);

/* Returns the minor version of the Python that runs, which can be newer than the headers. */
static long running_minor(void)
{
    const char *version = Py_GetVersion();
    return version[0] == '3' && version[1] == '.' ? strtol(version + 2, NULL, 10) : 0;
}

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    long minor = running_minor();
    return PyModuleDef_Init(minor >= 13   ? &definition_3_13
                            : minor >= 12 ? &definition_3_12
                                          : &definition_3_10);
}
