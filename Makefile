# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` are all that a newcomer needs; both install what is missing first (scripts/setup).
SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := build
.PHONY: help setup build wheel demo test long fuzz bench bench-alkaid bench-hgq bench-optuna gen replay lint fmt clean
# PKGS narrows test, long, fuzz and bench: make test PKGS=./ir/...; changed is what the difference to main (or BASE) can
# break.
PKGS ?= ./...
ifeq ($(PKGS),changed)
override PKGS := $(shell BASE=$(BASE) scripts/changed)
endif
FUZZTIME ?= 60s

help: ## lists the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: ## installs the tools and the PJRT plugin that are missing
	@scripts/setup

build: ## builds every command into bin/
	@mkdir -p bin
	go build -trimpath -o bin/ ./cmd/...

wheel: build ## packs bin/lathe as a Python package for pip: build/lathe-*.whl
	@go run -trimpath ./scripts/wheel -o build bin/lathe

demo: setup build ## imports a trained model, emits Verilog, simulates, compares, counts cells
	@scripts/demo

test: setup ## vets and tests everything; skipped tests are named at the end
	@scripts/setup masters
	go vet $(PKGS)
	@go test -vet=off -timeout 3h -ldflags='-s -w' -json $(PKGS) | go run ./scripts/testsum

long: setup ## longer sweeps (tag `long`), the race detector, fuzzing for FUZZTIME each; scripts/measure proves examples
	@scripts/setup --onnx
	@scripts/setup peers
	@scripts/setup masters
	@go test -count=1 -timeout 3h -tags long -json $(PKGS) | go run ./scripts/testsum
	@go test -count=1 -timeout 3h -race -json $(PKGS) | go run ./scripts/testsum
	@scripts/fuzz $(FUZZTIME) $(PKGS)

fuzz: ## fuzzes what reads files, FUZZTIME (make fuzz FUZZTIME=10m PKGS=./frontend/...) for each target
	@scripts/fuzz $(FUZZTIME) $(PKGS)

bench: setup ## benchmarks, and at the end what is promised beside what was measured
	@scripts/setup bench
	@go test -timeout 1h -run '^$$' -bench . -benchmem -count 3 $(PKGS) \
	  $(if $(filter ./...,$(PKGS)),| go run ./scripts/benchtable)

bench-alkaid: setup ## constant products and networks beside those of alkaid, by the same synthesis: docs/area.md
	@scripts/setup alkaid
	@scripts/measure alkaid

bench-hgq: setup ## training of widths and its hardware beside HGQ2 and alkaid: docs/training-widths.md
	@scripts/setup hgq
	scripts/measure widths

bench-optuna: setup ## what a trial costs, in each storage and by TPE, beside Optuna: docs/search.md
	@scripts/setup peers
	@scripts/setup --postgres
	@go test -tags long -run '^$$' -bench Optuna -benchtime 1x -timeout 1h ./search/searchtest

gen: ## writes the parser and the generated pages of docs/ anew
	@scripts/parser
	go test ./internal/docs -count=1 -update

replay: ## compares what BASE (a commit, default HEAD) and the working tree emit for the examples, byte for byte
	@scripts/replay $(BASE)

lint: ## what the tests hold of style, without the rest
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt-ed: $$bad"; exit 1; }
	go vet ./...
	go test ./internal/tidy

fmt: ## formats Go
	gofmt -w $$(git ls-files '*.go')

clean: ## removes what was built
	rm -rf bin build
