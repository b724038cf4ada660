# Shortcuts for CMake (CMakePresets.json) and the scripts in scripts/.
PREFIX ?= /usr/local
JOBS ?= 2
TIME ?= 60

.DEFAULT_GOAL := help
.PHONY: help setup build demo check test lint analyze coverage faults mutation soak bench asan fuzz docs cluster install deb deb-check wheel wheel-check portability release-check format clean

help: ## list the targets
	@echo 'enhope: exemplar-centered supervised embedding'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-22s%s\n", $$1, $$2 }'
	@echo
	@echo 'JOBS=2 sets the number of parallel jobs, PREFIX=/usr/local the place to install to.'

setup: ## install missing Debian packages for building and testing
	@scripts/setup build viewer test lint browser cross mpi

build: ## build the library and the command in build/release
	@scripts/setup build
	@scripts/setup viewer || echo 'make: node and npm are missing, so enhope view will not be available' >&2
	@scripts/build release

demo: ## train on MNIST; writes a model, an embedding, a figure and an interactive page to out/
	@scripts/setup build
	@scripts/setup viewer || echo 'make: node and npm are missing, so the demo will make no page' >&2
	@scripts/build release
	@scripts/demo

check: ## build with gcc and run the tests of the library and the command, in about a minute
	@scripts/setup build test
	@scripts/setup viewer || echo 'make: node and npm are missing, so enhope view will not be available' >&2
	@scripts/build --tests release
	@ctest --test-dir build/release -L check -j $(JOBS) --no-tests=error --output-on-failure

test: ## build with gcc, with sanitizers and with clang, and run all tests and lint
	@scripts/setup build viewer test lint browser cross mpi
	@scripts/build --tests release asan clang
	@scripts/test

lint: ## check the sources with clang-format and clang-tidy
	@scripts/setup build test lint
	@scripts/build release
	@scripts/lint format
	@scripts/lint tidy build/release

coverage: ## measure the coverage of src and cli, in build/coverage/coverage.txt
	@scripts/setup build viewer test coverage cross mpi
	@scripts/build --tests coverage
	@scripts/coverage

faults: ## fail every system call and allocation in turn, and kill the commands at every write (an hour)
	@scripts/setup build test
	@scripts/build --tests release
	@scripts/faults

mutation: ## change the readers in N places, one at a time, and count the changes that tests find (FILES, N, SEED)
	@scripts/setup build test
	@scripts/build --tests release asan
	@scripts/mutate --sanitized build/asan --count $(or $(N),200) --seed $(or $(SEED),1) $(FILES)

soak: ## mixed load on the library and on enhope serve for TIME seconds each; memory must not grow
	@scripts/setup build test
	@scripts/build --tests release
	@cd build/release && OMP_NUM_THREADS=1 tests/soak $(TIME) 8
	@python3 -B tests/serve/soak build/release/enhope $(TIME) 8

analyze: ## search the sources for defects with gcc -fanalyzer, cppcheck and clang-tidy
	@scripts/setup build test lint analyze
	@scripts/build release
	@scripts/lint gcc build/release
	@scripts/lint cppcheck build/release
	@scripts/lint tidy build/release

bench: ## measure speed and memory (ENHOPE_DATA names a folder of data sets)
	@scripts/setup build
	@scripts/build release
	@scripts/bench

asan: ## build with sanitizers and run the tests of that build
	@scripts/setup build test
	@scripts/build --tests asan
	@ctest --test-dir build/asan -j $(JOBS) --no-tests=error --output-on-failure

fuzz: ## run the fuzz targets for TIME=60 seconds each, or one of them with TARGET=csv
	@scripts/setup build test
	@scripts/build --target fuzz fuzz
	@scripts/fuzz $(TIME) $(TARGET)

docs: ## build the documentation as a site in build/docs/html
	@scripts/setup build docs
	@scripts/build release
	@scripts/docs

cluster: ## install Slurm and an ssh server, and test job files and several simulated hosts
	@scripts/setup build viewer test mpi hosts slurm
	@scripts/build --tests release
	@ctest --test-dir build/release -R '^cluster' --no-tests=error --output-on-failure

install: build ## install under PREFIX
	@cmake --install build/release --prefix '$(PREFIX)'

deb: ## build the Debian packages in build/deb, and check them with lintian
	@scripts/setup build viewer packages debian
	@scripts/build release
	@scripts/deb

deb-check: ## build the packages twice, compare them, and try them in a clean Debian 12
	@scripts/setup build viewer packages debian
	@scripts/build release
	@scripts/deb --twice
	@scripts/deb-check

wheel: ## build the wheel and the source distribution in build/dist
	@scripts/setup build viewer packages
	@scripts/build release
	@scripts/wheel

wheel-check: wheel ## check the wheel, and try it in clean systems
	@scripts/wheel-check

portability: ## build and test in Debian 12, 13 and sid, with musl, BLIS, and emulated processors (hours)
	@scripts/setup build viewer portability
	@scripts/build release
	@scripts/portability

release-check: ## check everything that a release needs, and print a table (hours)
	@scripts/setup build viewer packages debian portability recipes
	@scripts/build release
	@scripts/release-check

format: ## format the C and CUDA sources with clang-format
	@scripts/setup lint
	@clang-format -i $$(find include src cli reproduce bench tests fuzz examples python -name '*.[ch]' -o -name '*.cu')

clean: ## remove build/ and out/, keep data/
	rm -rf build out

export JOBS
