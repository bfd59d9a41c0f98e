/** Measures Flink's file sink; the other side of the measurement is in Go. */
package sinklab.flink.bench;
