/* wb convert to another format: prints the result for each tensor as text or JSON. */
#include "convert.h"

#include <string.h>

#include "report.h"
#include "table.h"

/* Totals of all tensors. */
typedef struct totals {
    uint64_t bytes;
    uint64_t count[4]; /* number of tensors, indexed by wb_fidelity */
    uint64_t overflowed;
    uint64_t fallbacks;
    wb_converted worst; /* tensor with the highest NMSE */
} totals;

static const char *const words[] = {"", "exact", "repacked", "lossy"};

static bool row_at(const wb_conversion *conversion, uint64_t index, wb_converted *row)
{
    *row = (wb_converted){.size = sizeof *row};
    return wb_conversion_at(conversion, index, row, NULL) == WB_OK;
}

static void count(const wb_conversion *conversion, totals *all)
{
    wb_converted row;
    *all = (totals){.bytes = 0};
    for (uint64_t i = 0; i < wb_conversion_count(conversion); i++) {
        if (!row_at(conversion, i, &row))
            continue;
        all->bytes += row.bytes;
        all->count[row.fidelity]++;
        all->overflowed += row.overflowed;
        all->fallbacks += row.wanted[0] != '\0';
        if (row.nmse > all->worst.nmse)
            all->worst = row;
    }
}

/* ---- text output ---- */

typedef struct listing {
    const wb_conversion *conversion;
    bool is_plan; /* nothing is written yet, so errors are not known */
} listing;

static void add_fidelity(text *cell, const wb_converted *row)
{
    text_adds(cell, words[row->fidelity]);
    if (row->fidelity == WB_FIDELITY_LOSSY)
        text_addf(cell, ", NMSE %.3g", row->nmse);
}

static bool table_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const listing *l = ctx;
    wb_converted row;
    if (!row_at(l->conversion, index, &row))
        return false;
    text_add_shown(&cells[0], row.name, strlen(row.name));
    text_add_shape(&cells[1], row.shape, row.rank);
    text_adds(&cells[2], row.from);
    text_adds(&cells[3], row.to);
    text_add_count(&cells[4], row.bytes);
    if (!l->is_plan)
        add_fidelity(&cells[5], &row);
    if (row.wanted[0] != '\0')
        text_addf(&cells[5], "%sin place of %s", l->is_plan ? "" : ", ", row.wanted);
    return true;
}

static void print_rows(const wb_conversion *conversion, bool is_plan)
{
    listing l = {conversion, is_plan};
    const table t = {.columns = 6,
                     .titles = {"tensor", "shape", "from", "to", "bytes", ""},
                     .align = "Llllrl",
                     .rows = wb_conversion_count(conversion),
                     .row = table_row,
                     .ctx = &l};
    table_print(out_stdout(), &t);
}

static void add_kinds(text *t, const totals *all)
{
    const char *comma = "";
    for (size_t i = 1; i < 4; i++) {
        if (all->count[i] == 0)
            continue;
        text_adds(t, comma);
        text_add_count(t, all->count[i]);
        text_addf(t, " %s", words[i]);
        comma = ", ";
    }
}

static void print_losses(const totals *all)
{
    out *o = out_stdout();
    text line = {0};
    if (all->worst.nmse > 0) {
        text_addf(&line, "  largest loss in ");
        text_add_shown(&line, all->worst.name, strlen(all->worst.name));
        text_addf(&line, ": NMSE %.3g, largest error %.3g, cosine %.6f\n", all->worst.nmse,
                  all->worst.max_error, all->worst.cosine);
    }
    if (all->overflowed > 0) {
        text_adds(&line, "  ");
        text_add_count(&line, all->overflowed);
        text_adds(&line, " values overflowed the range of their type\n");
    }
    if (all->fallbacks > 0) {
        text_adds(&line, "  ");
        text_add_count(&line, all->fallbacks);
        text_adds(
            &line,
            " tensors have another type, because the requested type does not fit their rows\n");
    }
    out_text(o, &line);
    text_free(&line);
}

static const char *next_replaced(const void *conversion, uint64_t index)
{
    return wb_conversion_replaces(conversion, index);
}

void recast_tell(const convert_job *job, const wb_conversion *conversion)
{
    totals all;
    text line = {0};
    const wb_findings *findings = wb_conversion_findings(conversion);
    wb_severity least = job->args->given[OPTION_VERBOSE] ? WB_INFO : WB_WARNING;
    count(conversion, &all);
    if (job->args->given[OPTION_DRY_RUN] || job->args->given[OPTION_VERBOSE])
        print_rows(conversion, job->args->given[OPTION_DRY_RUN]);
    if (job->args->given[OPTION_DRY_RUN])
        print_replaced(next_replaced, conversion);
    text_add_shown(&line, job->out, strlen(job->out));
    text_addf(&line, ": %s, ", job->to);
    text_add_count(&line, wb_conversion_count(conversion));
    text_adds(&line, " tensors, ");
    text_add_size(&line, all.bytes);
    if (job->args->given[OPTION_DRY_RUN]) {
        text_adds(&line, ", nothing written\n");
    } else {
        text_adds(&line, ": ");
        add_kinds(&line, &all);
        text_adds(&line, "\n");
    }
    out_text(out_stdout(), &line);
    text_free(&line);
    print_losses(&all);
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = WB_FINDING_INIT;
        if (wb_findings_at(findings, i, &finding) == WB_OK && finding.severity >= least)
            print_finding(out_stdout(), job->in, &finding);
    }
}

/* ---- JSON output ---- */

static void json_real(wb_json *json, const char *key, double value)
{
    wb_json_key(json, key, SIZE_MAX);
    wb_json_double(json, value);
}

static void json_null(wb_json *json, const char *key)
{
    wb_json_key(json, key, SIZE_MAX);
    wb_json_null(json);
}

static void json_row(wb_json *json, const convert_job *job, const wb_converted *row)
{
    wb_json_begin(json, '{');
    json_text(json, "name", row->name);
    json_optional(json, "source", row->source);
    wb_json_key(json, "shape", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint32_t i = 0; i < row->rank; i++)
        wb_json_uint(json, row->shape[i]);
    wb_json_end(json, ']');
    json_text(json, "from", row->from);
    json_text(json, "to", row->to);
    json_optional(json, "in_place_of", row->wanted);
    json_number(json, "bytes", row->bytes);
    json_optional(json, "fidelity", words[row->fidelity]);
    if (!job->args->given[OPTION_DRY_RUN]) {
        json_real(json, "nmse", row->nmse);
        json_real(json, "max_error", row->max_error);
        json_real(json, "cosine", row->cosine);
        json_number(json, "overflowed", row->overflowed);
    }
    wb_json_end(json, '}');
}

static void json_totals(wb_json *json, const convert_job *job, const wb_conversion *conversion)
{
    totals all;
    count(conversion, &all);
    /* A dry run does not measure overflows and NMSE. It knows them only if all tensors are exact:
     * both are then 0.
     */
    bool is_known = !job->args->given[OPTION_DRY_RUN] ||
                    all.count[WB_FIDELITY_EXACT] == wb_conversion_count(conversion);
    wb_json_key(json, "totals", SIZE_MAX);
    wb_json_begin(json, '{');
    json_number(json, "tensors", wb_conversion_count(conversion));
    json_number(json, "bytes", all.bytes);
    for (size_t i = 1; i < 4; i++)
        json_number(json, words[i], all.count[i]);
    json_number(json, "fallbacks", all.fallbacks);
    if (is_known) {
        json_number(json, "overflowed", all.overflowed);
        json_real(json, "worst_nmse", all.worst.nmse);
    } else {
        json_null(json, "overflowed");
        json_null(json, "worst_nmse");
    }
    wb_json_end(json, '}');
}

void recast_tell_json(const convert_job *job, const wb_conversion *conversion)
{
    wb_json json = out_json(out_stdout());
    const char *quant = job->args->value[OPTION_QUANT];
    wb_converted row;
    json_answer(&json, "convert");
    json_text(&json, "path", job->in);
    json_text(&json, "output", job->out);
    json_text(&json, "to", job->to);
    json_optional(&json, "quant", quant == NULL ? "" : quant);
    wb_json_key(&json, "written", SIZE_MAX);
    wb_json_bool(&json, !job->args->given[OPTION_DRY_RUN]);
    wb_json_key(&json, "tensors", SIZE_MAX);
    wb_json_begin(&json, '[');
    for (uint64_t i = 0; i < wb_conversion_count(conversion); i++) {
        if (row_at(conversion, i, &row))
            json_row(&json, job, &row);
    }
    wb_json_end(&json, ']');
    json_totals(&json, job, conversion);
    json_replaced(&json, next_replaced, conversion);
    json_findings(&json, wb_conversion_findings(conversion));
    wb_json_end(&json, '}');
    out_json_end(&json);
}
