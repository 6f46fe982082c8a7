# Entry points. These targets install missing packages and call CMake.

.PHONY: help build demo test deep bench harden-bench peers fuzz faults prove coverage mutate install clean
.DEFAULT_GOAL := help
N ?= 100000
HOURS ?= 1/60
SAMPLE ?= 100
SEED ?= 1
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local

help:
	@echo "make demo      build the command, then inspect, verify and convert a real model, and generate text with it"
	@echo "make test      build everything and run every test"
	@echo "make deep      run expensive tests: static analysers, MemorySanitizer, 32 bits, AArch64, every compiler"
	@echo "make bench     run the benchmarks and write bench/results.json"
	@echo "make harden-bench  measure the cost of the hardening options of the compiler"
	@echo "make peers     install the programs that the benchmarks compare with"
	@echo "make fuzz      fuzz every target, HOURS=$(HOURS) in total, counted in docs/counts (see docs/dev/fuzzing.md)"
	@echo "make faults    inject faults into writers: failing system calls and allocations, kills, power cuts;"
	@echo "               N=$(N) of each, counted in docs/counts"
	@echo "make prove     prove the checked arithmetic and the cursor (Frama-C)"
	@echo "make coverage  measure the test coverage of the readers: lines, branches, MC/DC"
	@echo "make mutate    change the readers in SAMPLE=$(SAMPLE) places per module, and count the changes that the tests detect"
	@echo "make install   build and install to PREFIX ($(PREFIX)), below DESTDIR if set"
	@echo "make clean     remove the build directory"
	@echo "Missing packages are installed with the system's package manager if permitted; otherwise"
	@echo "the required command is printed."

build:
	@sh scripts/need.sh build
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

demo:
	@sh scripts/need.sh build
	@sh scripts/demo.sh

test:
	@sh scripts/need.sh build test
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --test-dir build/dev --output-on-failure -j $(JOBS) -LE deep

deep:
	@sh scripts/need.sh build test
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --test-dir build/dev --output-on-failure -j $(JOBS) -L deep

bench: peers
	@sh bench/run.sh

harden-bench:
	@sh scripts/need.sh build
	@sh bench/harden.sh

peers:
	@sh scripts/need.sh build bench
	@sh bench/peers.sh

fuzz:
	@sh scripts/need.sh build test
	@FUZZ_COUNT=1 sh scripts/fuzz.sh all $$(awk 'BEGIN { print int(3600 * $(HOURS)) }')s

faults:
	@sh scripts/need.sh build test
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS) --target command fault_writers fault_power
	sh scripts/faults.sh $(N)
	BUILD=build/dev WB=build/dev/weighbridge NTH=1000 sh tests/check/writer_faults.sh

prove:
	@sh scripts/prove.sh

coverage:
	@sh scripts/coverage.sh

mutate:
	@sh scripts/need.sh build test
	nice python3 -B scripts/mutate.py --sample $(SAMPLE) --seed $(SEED)

install: build
	cmake --install build/release --prefix $(PREFIX)

clean:
	cmake -E rm -rf build
