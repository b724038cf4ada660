# The front door. The work is done by CMake (CMakePresets.json) and by the scripts in scripts/.
PREFIX ?= /usr/local
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup build demo check test lint coverage bench asan docs cluster install format clean

help: ## say what there is to make
	@echo 'enhope: exemplar-centred supervised embedding'
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-16s%s\n", $$1, $$2 }'
	@echo
	@echo 'JOBS=2 sets how many things are built or tested at once, PREFIX=/usr/local where to install.'

setup: ## install the Debian packages that are missing for building and testing
	@scripts/setup build viewer test lint browser mpi

build: ## build the library and the command in build/release
	@scripts/setup build
	@scripts/setup viewer || echo 'make: without node and npm, enhope view will be missing' >&2
	@scripts/build release

demo: ## train on MNIST and leave a model, an embedding, a picture and a page to explore in out/
	@scripts/setup build
	@scripts/setup viewer || echo 'make: without node and npm there will be no page' >&2
	@scripts/build release
	@scripts/demo

check: ## build with gcc and run the tests of the library and the command, in about a minute
	@scripts/setup build test
	@scripts/setup viewer || echo 'make: without node and npm, enhope view will be missing' >&2
	@scripts/build --tests release
	@ctest --test-dir build/release -L check -j $(JOBS) --no-tests=error --output-on-failure

test: ## build with gcc, with sanitizers and with clang, and run every test and lint
	@scripts/setup build viewer test lint browser mpi
	@scripts/build --tests release asan clang
	@scripts/test

lint: ## check the layout of the sources, and look for faults with clang-tidy
	@scripts/setup build test lint
	@scripts/build release
	@scripts/lint format
	@scripts/lint tidy build/release

coverage: ## measure which lines the tests of make check run, in build/coverage/coverage.txt
	@scripts/setup build test coverage
	@scripts/build --tests coverage
	@scripts/coverage

bench: ## measure speed and memory (ENHOPE_DATA names a folder of data sets)
	@scripts/setup build
	@scripts/build release
	@scripts/bench

asan: ## build with sanitizers and run the tests of that build
	@scripts/setup build test
	@scripts/build --tests asan
	@ctest --test-dir build/asan -j $(JOBS) --no-tests=error --output-on-failure

docs: ## build the documentation as a site in build/docs/html
	@scripts/setup build docs
	@scripts/build release
	@scripts/docs

cluster: ## install Slurm and an ssh server, and test job files and several hosts on this machine
	@scripts/setup build viewer test mpi hosts slurm
	@scripts/build --tests release
	@ctest --test-dir build/release -R '^cluster' --no-tests=error --output-on-failure

install: build ## install under PREFIX
	@cmake --install build/release --prefix '$(PREFIX)'

format: ## lay out the C and CUDA sources with clang-format
	@scripts/setup lint
	@clang-format -i $$(find include src cli reproduce bench tests examples python -name '*.[ch]' -o -name '*.cu')

clean: ## remove build/ and out/, keep data/
	rm -rf build out

export JOBS
