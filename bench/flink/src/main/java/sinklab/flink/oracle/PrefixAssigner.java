package sinklab.flink.oracle;

import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.functions.sink.filesystem.BucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.SimpleVersionedStringSerializer;

/** A record's bucket is its text before the last slash, and the base directory without one. */
final class PrefixAssigner implements BucketAssigner<String, String> {
    private static final long serialVersionUID = 1L;

    @Override
    public String getBucketId(String record, Context context) {
        return record.substring(0, Math.max(record.lastIndexOf('/'), 0));
    }

    @Override
    public SimpleVersionedSerializer<String> getSerializer() {
        return SimpleVersionedStringSerializer.INSTANCE;
    }
}
