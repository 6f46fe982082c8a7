/* wb doctor: explains in full sentences why a model does not load and what to do. */
#include <string.h>

#include "check.h"
#include "exit.h"
#include "report.h"
#include "terminal.h"

/* Adds the location of a finding: the file if it differs from the label, the byte offset, and the
 * tensor name.
 */
static void add_place(text *t, const check *c, const wb_finding *finding)
{
    const char *comma = "";
    if (finding->file[0] != '\0' && strcmp(finding->file, c->label) != 0) {
        text_adds(t, finding->file);
        comma = ", ";
    }
    /* Offset 0 adds no information to the file name. */
    if (finding->offset != WB_NO_OFFSET && finding->offset != 0) {
        text_addf(t, "%sbyte %llu", comma, (unsigned long long)finding->offset);
        comma = ", ";
    }
    if (finding->name[0] != '\0')
        text_addf(t, "%s\"%s\"", comma, finding->name);
}

static void add_details(text *t, const check *c, const wb_finding *finding)
{
    text place = {0};
    add_place(&place, c, finding);
    if (place.len > 0)
        text_addf(t, "\n    Where:      %s", place.ptr);
    const char *advice = advice_of(finding->code, finding->advice);
    if (advice[0] != '\0')
        text_addf(t, "\n    What to do: %s", advice);
    text_adds(t, "\n");
    text_free(&place);
}

static void add_sentence(text *t, const char *message)
{
    size_t n = strlen(message);
    text_add(t, message, n);
    if (n > 0 && message[n - 1] != '.')
        text_adds(t, ".");
}

static void present(const arguments *args, const check *c)
{
    text t = {0};
    wb_finding finding;
    (void)args;
    text_add_shown(&t, c->label, strlen(c->label));
    if (c->code == EXIT_BAD_INPUT) {
        text_addf(&t, " %sdoes not load%s: ", style(STYLE_RED), style(STYLE_END));
        add_sentence(&t, c->refusal.message);
        add_details(&t, c, &c->refusal);
    } else {
        bool is_clean = c->code == EXIT_CLEAN;
        text_addf(&t, " %s%s%s: ", style(is_clean ? STYLE_GREEN : STYLE_YELLOW),
                  is_clean ? "is fine" : "loads, but has problems", style(STYLE_END));
        text_add_content(&t, c);
        text_adds(&t, ".\n");
    }
    for (uint64_t i = 0; check_finding(c, i, &finding); i++) {
        if (finding.severity == WB_FATAL)
            continue;
        text_addf(&t, "  %s: ", finding.severity == WB_INFO ? "Note" : "Trouble");
        add_sentence(&t, finding.message);
        add_details(&t, c, &finding);
    }
    out_text(out_stdout(), &t);
    text_free(&t);
}

int command_doctor(const arguments *args)
{
    return check_paths(args, present);
}
