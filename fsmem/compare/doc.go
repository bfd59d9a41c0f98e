// Package compare measures fsmem beside the file systems in memory that others
// use, in one run:
//
//	go test -run '^$' -bench . -count 10 ./... > out.txt
//	go tool benchstat -col /fs out.txt
//
// It is a module of its own, so that nobody who uses fsmem has to download what
// it is compared with.
package compare
