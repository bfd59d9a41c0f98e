/** Jobs that run on Flink's own executor, on a local cluster or by {@code flink run}. */
package sinklab.flink.job;
