// Package plan chooses the settings of a rolling file sink.
package plan
