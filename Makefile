# make bench   the main job: measure, and compare the policies side by side
# make test    everything that must hold
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: bench test

# Packages in which goroutines meet.
CONCURRENT := ./fsmem/...

bench:
	mkdir -p out
	go test -run '^$$' -bench Visible -benchtime 1x ./bench > out/bench.txt
	go test -run '^$$' -bench 'Write|Hour' -benchtime 10x -count 6 ./bench >> out/bench.txt
	go tool benchstat -col /policy -filter '.name:Visible' out/bench.txt
	go tool benchstat -filter '.name:(Write OR Hour)' out/bench.txt

test:
	go vet ./...
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	go mod tidy -diff
	go test -count=1 ./...
	go test -count=1 -race $(CONCURRENT)
