# docs/convert.svg is up to date with the table of docs/dev/measurements.md.
exec python3 -B scripts/plot_perplexity.py --check
