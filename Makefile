# make bench     the main job: measure, and compare the policies side by side
# make test      everything that must hold
# make mutants   broken sinks, each of which the property tests must catch
# make soak      random programs and kills on a real disk, FOR=10m; goes on where it stopped
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: bench test mutants soak

# Packages in which goroutines meet.
CONCURRENT := ./fsmem ./sinkcore/live

# The random tests of make test and make mutants draw the same programs every time, so that a
# change is judged by what it changes. make soak and a plain go test draw new ones, and
# RAPID_SEED=0 has make test do so too.
export RAPID_SEED ?= 1

FOR ?= 10m
KILLS ?= 1000

bench:
	mkdir -p out
	go test -run '^$$' -bench Visible -benchtime 1x ./bench > out/bench.txt
	go test -run '^$$' -bench 'Write|Hour' -benchtime 10x -count 6 ./bench >> out/bench.txt
	go tool benchstat -filter '.name:(Write OR Hour)' out/bench.txt
	go tool benchstat -col /policy -filter '.name:Visible' out/bench.txt

test:
	go vet ./...
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	go mod tidy -diff
	go test -count=1 ./...
	go test -count=1 -short -race $(CONCURRENT)

mutants:
	go run ./props/mutants

soak:
	mkdir -p out
	go run ./bench/sinklab soak --for $(FOR) --resume out/soak.json
	RAPID_SEED=0 go test -count=1 -run Prop ./...
	SINKLAB_SOAK=1 go test -count=1 -run TestPropExhaustive -v ./props
	SINKLAB_KILLS=$(KILLS) go test -count=1 -timeout 60m -run TestPropKill -v ./bench/sinklab
