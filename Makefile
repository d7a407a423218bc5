# make            what there is to do
# make all        reproduce every figure and table on this machine
#
# Nothing but measuring writes under data/, and samples that are there are not
# measured again unless FRESH=1 is given.

EXPERIMENTS := link records roundtrips earlydata keyexchange throughput primitives
REFERENCE   := $(shell cat data/reference)

MACHINE ?=
PROFILE ?= standard
FRESH   ?=
GO      ?= go

# Measuring is for this machine, drawing for the committed one, unless named.
here    := $(or $(MACHINE),local)
drawn   := $(or $(MACHINE),$(REFERENCE))
fresh   := $(if $(FRESH),-fresh)

# Beside a machine of one's own stand all others; the committed paper is of
# what is in the repository.
others := $(if $(MACHINE),,-committed)

# The experiments record the revision that they were built from, and whether
# the tree had changes. Samples and what is drawn from them are none: the go
# command would count those of the experiment before. Without cgo the same
# program is built with and without a C compiler.
export CGO_ENABLED := 0
revision := $(shell git rev-parse HEAD 2>/dev/null)
changes  := $(if $(revision),$(shell git status --porcelain -- . ':!data/*/*' ':!figures' ':!paper.md' ':!claims.md'))
linked   := $(if $(revision),-X cryptocost/env.linkedRevision=$(revision) -X cryptocost/env.linkedDirty=$(if $(changes),true,false))
build    := $(GO) build -buildvcs=false -trimpath -ldflags '$(linked)'

.PHONY: help all quick test figures paper check diff benchstat list clean tools build measure \
        $(EXPERIMENTS) $(EXPERIMENTS:%=measure-%) $(EXPERIMENTS:%=figures-%)

help:
	@echo 'make all                      measure what data/$(here) lacks, draw, render paper.md, show the headlines'
	@echo 'make quick                    the same in a few minutes, with wide intervals'
	@echo 'make NAME                     measure one experiment, then as make paper'
	@echo '                              ($(EXPERIMENTS))'
	@echo 'make figures                  draw all figures and tables from data/'
	@echo 'make paper                    figures, paper.md and claims.md'
	@echo 'make check                    compare paper.md, claims.md and figures/ with what the committed data gives'
	@echo 'make diff A=data/X B=data/Y   what differs between two machines, and whether it is real'
	@echo 'make benchstat A=... B=...    the same files through benchstat'
	@echo 'make list                     all cases of all experiments'
	@echo 'make test                     all tests'
	@echo 'make clean                    remove what was built (never samples)'
	@echo
	@echo 'MACHINE=name    folder of data/ and subject of the paper (measuring: local; drawing: $(REFERENCE))'
	@echo 'PROFILE=quick|standard|thorough    6, 12 or 40 rounds (now $(PROFILE))'
	@echo 'FRESH=1         measure anew what is there already'

# The two halves are makes of their own, so that nothing is drawn while
# another experiment measures, however many jobs make has.
all: tools build
	+@$(MAKE) --no-print-directory -j1 measure
	+@$(MAKE) --no-print-directory paper MACHINE=$(here) summary=-summary

quick:
	+@$(MAKE) --no-print-directory all PROFILE=quick

build: $(EXPERIMENTS:%=bin/%)

# Go knows best what has changed.
.PHONY: $(EXPERIMENTS:%=bin/%)
$(EXPERIMENTS:%=bin/%): bin/%:
	@$(build) -o $@ ./experiments/$*

measure: $(EXPERIMENTS:%=measure-%)

$(EXPERIMENTS:%=measure-%): measure-%: bin/%
	@if test -e data/$(here)/$*.txt && ! test -e data/$(here)/$*.txt.partial && test -z '$(FRESH)'; then \
		echo "$*: data/$(here)/$*.txt is there already, profile $$(sed -n 's/^profile: //p' data/$(here)/$*.txt) (FRESH=1 measures anew)"; \
	else \
		bin/$* -machine $(here) -profile $(PROFILE) $(fresh); \
	fi

$(EXPERIMENTS): %: tools
	+@$(MAKE) --no-print-directory measure-$*
	+@$(MAKE) --no-print-directory paper MACHINE=$(here)

# A damaged file stops its own experiment, not the others.
figures:
	+@$(MAKE) --no-print-directory -k $(EXPERIMENTS:%=figures-%)

$(EXPERIMENTS:%=figures-%): figures-%:
	@$(GO) run ./analysis/$* -machine '$(drawn)' $(others)

paper: figures
	@$(GO) run ./analysis/claims -machine '$(drawn)'
	@$(GO) run ./analysis/paper -machine '$(drawn)' $(others) $(summary)

check:
	$(GO) test -count=1 ./analysis/paper ./analysis/claims

diff:
	@test -n '$(A)' && test -n '$(B)' || { echo 'usage: make diff A=data/one B=data/other' >&2; exit 2; }
	@$(GO) run ./analysis/diff -all '$(A)' '$(B)'

benchstat:
	@test -n '$(A)' && test -n '$(B)' || { echo 'usage: make benchstat A=data/one B=data/other' >&2; exit 2; }
	@for x in $(EXPERIMENTS); do \
		for side in '$(A)' '$(B)'; do test -e "$$side/$$x.txt" || { echo "there is no $$side/$$x.txt" >&2; exit 1; }; done; \
		$(GO) run golang.org/x/perf/cmd/benchstat -table goos -ignore round '$(A)'/$$x.txt '$(B)'/$$x.txt || exit 1; \
	done

list: build
	@for x in $(EXPERIMENTS); do echo "$$x:"; bin/$$x -list || exit 1; done

test:
	$(GO) vet ./...
	CGO_ENABLED=1 $(GO) test -race ./...

clean:
	rm -rf bin

tools:
	@if ! command -v openssl >/dev/null; then \
		if test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
			echo 'installing openssl, which some cases compare with'; \
			apt-get install -y -q openssl >/dev/null || { apt-get update -q >/dev/null && apt-get install -y -q openssl >/dev/null; } || \
				echo 'openssl could not be installed: its cases will be recorded as not measured'; \
		else \
			echo 'openssl is missing: its cases will be recorded as not measured (Debian: apt-get install openssl)'; \
		fi; \
	fi
