/** Jobs that run on Flink's own executor. */
package sinklab.flink.job;
