/** The real FileSink as a sink that sinklab's kit for sinks in any language can test. */
package sinklab.flink.kit;
