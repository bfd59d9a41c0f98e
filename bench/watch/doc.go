// Package watch watches the directory that a sink writes to and measures what a reader of it
// sees: how long each record took to become visible, how many files there are, and whether a
// file that was visible changed. It asks nothing of the sink but its files, so it measures
// every engine alike.
package watch
