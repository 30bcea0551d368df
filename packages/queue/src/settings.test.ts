import { expect, test } from 'vitest';
import { parseQueueUrl, QUEUE_URL_FORMS } from './settings.ts';

test.for([
  'redis://127.0.0.1:6379',
  'rediss://user:secret@redis.example:6380/2',
  'redis://[::1]:6379/',
  'redis://127.0.0.1:6379/0',
  'redis://127.0.0.1:6379?db=15',
])('%s is one Redis, and the driver parses its URL', (url) => {
  expect(parseQueueUrl(url)).toEqual({ kind: 'redis', url });
});

test.for([
  'postgres://user:secret@db.example:5432/floodgate',
  'postgresql://db.example/floodgate?sslmode=require',
])('%s is a Postgres, and the driver parses its URL', (url) => {
  expect(parseQueueUrl(url)).toEqual({ kind: 'postgres', connectionString: url });
});

test('a cluster is a list of nodes; the default port is 6379', () => {
  expect(parseQueueUrl('redis-cluster://one:7000,two,10.0.0.3:7002')).toEqual({
    kind: 'redis-cluster',
    nodes: [
      { host: 'one', port: 7000 },
      { host: 'two', port: 6379 },
      { host: '10.0.0.3', port: 7002 },
    ],
    options: {},
  });
});

test('rediss-cluster connects with TLS', () => {
  expect(parseQueueUrl('rediss-cluster://one:7000')).toMatchObject({
    kind: 'redis-cluster',
    options: { tls: {} },
  });
});

test('a trailing slash or database number is not part of the last node of a cluster', () => {
  const nodes = [{ host: 'one', port: 7000 }];
  expect(parseQueueUrl('redis-cluster://one:7000/')).toMatchObject({ nodes });
  expect(parseQueueUrl('redis-cluster://one:7000/0')).toMatchObject({ nodes });
});

test.for([
  ['user:secret@', { username: 'user', password: 'secret' }],
  [':secret@', { password: 'secret' }],
  ['user@', { username: 'user' }],
  ['us%40er:p%3Aa%2Fs%25s@', { username: 'us@er', password: 'p:a/s%s' }],
  ['user:p@ss:word@', { username: 'user', password: 'p@ss:word' }],
] as const)('a cluster takes its credentials from %s', ([written, read]) => {
  expect(parseQueueUrl(`redis-cluster://${written}one:7000,two:7001`)).toEqual({
    kind: 'redis-cluster',
    nodes: [
      { host: 'one', port: 7000 },
      { host: 'two', port: 7001 },
    ],
    options: read,
  });
});

test('Sentinels are a list, a watched name, and optionally a database', () => {
  const sentinels = [
    { host: 'one', port: 26_379 },
    { host: 'two', port: 6_379 },
  ];
  expect(parseQueueUrl('redis+sentinel://user:p%40ss@one:26379,two/queue/3')).toEqual({
    kind: 'redis-sentinel',
    options: { sentinels, name: 'queue', db: 3, username: 'user', password: 'p@ss' },
  });
  expect(parseQueueUrl('redis+sentinel://one:26379,two/queue')).toMatchObject({
    options: { sentinels, db: 0 },
  });
});

test.for([
  'redis+sentinel://hunter2.example',
  'redis+sentinel://hunter2.example/',
  'redis+sentinel:///hunter2',
  'redis+sentinel://hunter2.example/queue/x',
  '',
  'hunter2',
  'hunter2.example:6379',
  'http://hunter2.example',
  'mysql://root:hunter2@db.example',
  'redis://',
  'redis:///hunter2',
  'Redis://hunter2.example',
  'redis:hunter2.example',
  'redis://hunter2.example/-1',
  'redis://hunter2.example/1.5',
  'redis://hunter2.example/hunter2',
  'redis://hunter2.example/1/2',
  'redis://hunter2.example?db=-1',
  'redis-cluster://',
  'redis-cluster://user:hunter2@',
  'redis-cluster://user:hunter2@one:7000,',
  'redis-cluster://hunter2:7000/1',
  'redis-cluster://hunter2:7000/0/',
  'redis-cluster://user:hunter2@one:port',
  'redis-cluster://user:hunter2%@one:7000',
])('%o is rejected with the list of forms, and is not repeated', (url) => {
  let message = '';
  try {
    parseQueueUrl(url);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toContain(QUEUE_URL_FORMS);
  expect(message).not.toContain('hunter2');
});

test('a node of a cluster can be an IPv6 address, passed to the driver without brackets', () => {
  expect(parseQueueUrl('redis-cluster://[::1]:7000')).toMatchObject({ nodes: [{ host: '::1', port: 7000 }] });
});
