# make bench     the main job: measure, compare the policies side by side, draw the report
# make test      everything that must hold
# make compare   measure another revision in turns with this one: make compare BASE=main
# make gate      judge the last make bench by testdata/bench/baseline.txt; LEAST=8% of a ratio counts
# make baseline  make the last make bench the baseline, and say what that changes; DROP=1 if benchmarks go
# make mutants   broken sinks, each of which the property tests must catch
# make traces    record testdata/flink anew from the real Flink; fails if an answer has changed (Java 17, Maven)
# make findings  where the real Flink breaks a rule, and a running job that loses records (Java 17, Maven)
# make peer      the write path of the real Flink beside this one, on the same disk (Java 17, Maven)
# make article   the article's settings on the real Flink in real time, two minutes (Java 17, Maven)
# make cluster   a real Flink cluster on this machine, two of its processes killed (Java 17, Maven)
# make fuzz      random programs on the real Flink and here, N=1000 of them (Java 17, Maven)
# make soak      random programs and kills on a real disk, FOR=10m; goes on where it stopped
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: bench test compare gate baseline mutants traces findings peer article cluster fuzz soak

# Packages in which goroutines meet.
CONCURRENT := ./fsmem ./sinkcore/live

# How often what is noisy is measured, and which benchmarks: all if empty, else there is no
# table of the article and no report, since they need all.
ROUNDS ?= 8
ONLY ?=

# By how much a ratio has to be worse to fail the gate; what the Unit lines say if empty.
LEAST ?=

# The random tests of make test and make mutants draw the same programs every time, so that a
# change is judged by what it changes. make soak and a plain go test draw new ones, and
# RAPID_SEED=0 has make test do so too.
export RAPID_SEED ?= 1

FOR ?= 10m
KILLS ?= 1000

MEASURE := go run ./bench/sinklab bench --rounds $(ROUNDS) --only '$(ONLY)'

bench:
	$(MEASURE)
	go tool benchstat -filter '.unit:/^x-/' out/bench.txt
ifeq ($(ONLY),)
	go tool benchstat -ignore goos,goarch,pkg,cpu -row .name -col '/policy@(default tuned oncheckpoint deadline)' -filter '$(ARTICLE)' out/bench.txt
	go run ./bench/sinklab report
endif

# The article's hour, and what people ask about it.
ARTICLE := .name:Visible /policy:(default OR tuned OR oncheckpoint OR deadline) \
  /arrivals:constant /rate:10 /ckpt:2s /buckets:1 /subtasks:1 /outage:none \
  .unit:(files/hour OR first-visible-ms OR p50-visible-ms OR p99-visible-ms OR max-visible-ms)

compare:
	@test -n "$(BASE)" || { echo 'make compare BASE=revision, for example BASE=main or BASE=HEAD~1' >&2; exit 2; }
	$(MEASURE) --base '$(BASE)'
	go tool benchstat out/base.txt out/bench.txt

gate:
	go run ./bench/sinklab gate $(if $(LEAST),--least $(LEAST)) testdata/bench/baseline.txt out/bench.txt

baseline:
	go run ./bench/sinklab baseline $(if $(DROP),--drop) out/bench.txt testdata/bench/baseline.txt

test:
	go vet ./...
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	go mod tidy -diff
	go test -count=1 ./...
	go test -count=1 -short -race $(CONCURRENT)

mutants:
	go run ./props/mutants

traces:
	go run ./bench/sinklab record-flink testdata/flink/*.trace

findings:
	go run ./bench/sinklab findings

peer:
	mkdir -p out
	go run ./bench/sinklab flink-bench --least 10 --bench out/flink.txt
	go tool benchstat -col /engine,/encoder -row .name,/size,/buckets -filter .unit:ns/record out/flink.txt

article:
	go run ./bench/sinklab flink-article

cluster:
	go run ./bench/sinklab flink-cluster

N ?= 1000
SEED ?= 1
fuzz:
	go run ./bench/sinklab fuzz-flink -n $(N) --seed $(SEED)

soak:
	mkdir -p out
	go run ./bench/sinklab soak --for $(FOR) --resume out/soak.json
	RAPID_SEED=0 go test -count=1 -run Prop ./...
	SINKLAB_SOAK=1 go test -count=1 -run TestPropExhaustive -v ./props
	SINKLAB_KILLS=$(KILLS) go test -count=1 -timeout 60m -run TestPropKill -v ./bench/sinklab
