# The picture in docs/convert.md is of the table beside it.
exec python3 -B scripts/plot_perplexity.py --check
