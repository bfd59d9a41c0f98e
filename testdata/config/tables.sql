SET 'execution.checkpointing.interval' = '30 s';

CREATE TABLE orders (id BIGINT) WITH (
  'connector' = 'datagen'
);

/* Rolls each minute, but is looked at each minute too. */
CREATE TABLE IF NOT EXISTS lake.raw.orders_json (id BIGINT, `with` STRING COMMENT 'it''s (quoted)') WITH (
  'connector' = 'filesystem',
  'path' = 's3://bucket/orders',
  'format' = 'json',
  'json.fail-on-missing-field' = 'false',
  'sink.rolling-policy.rollover-interval' = '1 min',
  'sink.rolling-policy.inactivity-interval' = '30 s'
);

CREATE TABLE misspelt (id BIGINT) WITH (
  'connector' = 'filesystem',
  'path' = '/tmp/x',
  'format' = 'json',
  'sink.rolling-policy.rollover-intervall' = '1 min',
  'sink.rolling-policy.check-interval' = '10 minuten'
);

CREATE TABLE topic (id BIGINT) WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'orders'
);
