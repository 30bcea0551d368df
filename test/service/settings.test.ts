import { Type, type TProperties } from '@sinclair/typebox';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { databaseSettings } from '@floodgate/database';
import { queueSettings } from '@floodgate/queue';
import { finalizeSettings } from '@floodgate/registrations';
import { ConfigError, loadConfig, port, processSettings, whole } from '@floodgate/service';

const Schema = Type.Object({
  ...databaseSettings,
  ...queueSettings,
  ...finalizeSettings,
  ...processSettings,
  PORT: port('port to listen on', 3000),
});

const GIVEN = {
  DATABASE_URL: 'postgres://floodgate:hunter2@db.example/floodgate',
  QUEUE_URL: 'redis://:hunter2@redis.example',
};

const DEFAULTS = {
  QUEUE_NAMESPACE: 'floodgate',
  FINALIZE_ATTEMPTS: 10,
  FINALIZE_BACKOFF_MS: 500,
  LOG_LEVEL: 'info',
  SHUTDOWN_TIMEOUT_MS: 10_000,
  TRACES_PERCENT: 1,
  PORT: 3000,
};

function refusal(env: NodeJS.ProcessEnv): string {
  try {
    loadConfig(Schema, { ...GIVEN, ...env });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}

/** The variables that the message names, in its order. */
const namesIn = (message: string) =>
  [...message.matchAll(/([A-Z][A-Z_]+) is not (?:set|valid): /g)].map(([, name]) => name!);

test('what is not given has its default', () => {
  expect(loadConfig(Schema, GIVEN)).toEqual({ ...GIVEN, ...DEFAULTS });
});

test('an empty variable counts as absent', () => {
  const empty = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, '']));
  expect(loadConfig(Schema, { ...GIVEN, ...empty })).toEqual({ ...GIVEN, ...DEFAULTS });
  expect(refusal({ DATABASE_URL: '' })).toBe(
    'DATABASE_URL is not set: Postgres, postgres://user:password@host:port/database',
  );
});

test('whole numbers are converted', () => {
  const env = { PORT: '8080', FINALIZE_ATTEMPTS: '50' };
  expect(loadConfig(Schema, { ...GIVEN, ...env })).toMatchObject({
    PORT: 8080,
    FINALIZE_ATTEMPTS: 50,
  });
});

test('variables that the schema does not name stay outside', () => {
  const env = { ...GIVEN, PATH: '/bin', AWS_SECRET_ACCESS_KEY: 'hunter2' };
  expect(Object.keys(loadConfig(Schema, env)).toSorted()).toEqual(
    Object.keys({ ...GIVEN, ...DEFAULTS }).toSorted(),
  );
});

test.for([
  ['DATABASE_URL', 'postgres://floodgate:p%40ss%2Fword@db.example:5433/floodgate?sslmode=disable'],
  ['DATABASE_URL', 'postgresql://[::1]/floodgate'],
  ['DATABASE_URL', 'postgres:///floodgate?host=/var/run/postgresql'],
  ['QUEUE_URL', 'rediss://:p%40ss@[::1]:6380/2'],
  ['QUEUE_URL', 'redis-cluster://user:p%40ss@one:7000,[::1]:7001'],
  ['QUEUE_URL', 'rediss-cluster://one'],
  ['QUEUE_URL', 'postgres://floodgate@db.example/floodgate'],
] as const)('%s=%o is taken as it is', ([name, value]) => {
  expect(loadConfig(Schema, { ...GIVEN, [name]: value })[name]).toBe(value);
});

test.for([
  ['DATABASE_URL', 'mysql://root:hunter2@db.example'],
  ['DATABASE_URL', 'hunter2'],
  ['DATABASE_URL', 'postgres:/db.example/hunter2'],
  ['DATABASE_URL', 'postgres://user:hunter2@db.example:port/floodgate'],
  ['DATABASE_URL', 'postgres://user:hunter2@db.example:99999/floodgate'],
  ['DATABASE_URL', 'postgres://user:hunter2@db example/floodgate'],
  ['DATABASE_URL', 'postgres://user:hunter2%ff@db.example/floodgate'],
  ['DATABASE_URL', 'postgres://user:hunter2@one.example,two.example/floodgate'],
  ['DATABASE_URL', 'postgres://user:hunter2@one.example:5432,two.example:5432/floodgate'],
  ['DATABASE_URL', 'postgres://user:hunter2@db.example/floodgate?sslrootcert=/no/such/file'],
  ['QUEUE_URL', 'amqp://user:hunter2@mq.example'],
  ['QUEUE_URL', 'redis://'],
  ['QUEUE_URL', 'redis:///hunter2'],
  ['QUEUE_URL', 'redis://user:hunter2@redis.example:port'],
  ['QUEUE_URL', 'rediss://user:hunter2@redis.example:99999'],
  ['QUEUE_URL', 'redis://user:hunter2%zz@redis.example'],
  ['QUEUE_URL', 'redis-cluster://user:hunter2@one:7000,two:port'],
  ['QUEUE_URL', 'redis-cluster://user:hunter2%zz@one:7000'],
  ['QUEUE_URL', 'postgres://user:hunter2@db.example:port/floodgate'],
  ['QUEUE_NAMESPACE', 'Hunter2'],
  ['QUEUE_NAMESPACE', 'a:b'],
  ['FINALIZE_ATTEMPTS', '0'],
  ['FINALIZE_ATTEMPTS', '51'],
  ['FINALIZE_ATTEMPTS', '1.5'],
  ['FINALIZE_ATTEMPTS', 'hunter2'],
  ['FINALIZE_BACKOFF_MS', '-1'],
  ['LOG_LEVEL', 'hunter2'],
  ['LOG_LEVEL', 'INFO'],
  ['SHUTDOWN_TIMEOUT_MS', '10s'],
  ['PORT', '65536'],
  ['PORT', ' '],
  ['LOG_LEVEL', 'hunter2'],
] as const)(
  '%s=%o is refused: the variable is named with its rule, the value is not repeated',
  ([name, value]) => {
    const message = refusal({ [name]: value });
    expect(namesIn(message)).toEqual([name]);
    expect(message).toBe(`${name} is not valid: ${(Schema.properties as TProperties)[name]!.description}`);
    expect(message).not.toContain('hunter2');
  },
);

test('every wrong variable is named, once, and no other', () => {
  const wrong = {
    DATABASE_URL: 'hunter2',
    FINALIZE_ATTEMPTS: 'hunter2',
    LOG_LEVEL: 'hunter2',
    PORT: 'hunter2',
  };
  const property = fc.property(
    fc.subarray(Object.keys(wrong) as (keyof typeof wrong)[], { minLength: 1 }),
    (names) => {
      const message = refusal(Object.fromEntries(names.map((name) => [name, wrong[name]])));
      expect(namesIn(message).toSorted()).toEqual(names.toSorted());
      expect(message).not.toContain('hunter2');
    },
  );
  fc.assert(property, { numRuns: 50 });
  expect(namesIn(refusal({ DATABASE_URL: undefined, QUEUE_URL: '' }))).toEqual(['DATABASE_URL', 'QUEUE_URL']);
});

test('of whole numbers exactly those within the bounds are taken', () => {
  const Bounded = Type.Object({ N: whole('a number', [3, 9], 5) });
  fc.assert(
    fc.property(fc.integer({ min: -20, max: 20 }), (n) => {
      const load = () => loadConfig(Bounded, { N: String(n) });
      if (n >= 3 && n <= 9) expect(load()).toEqual({ N: n });
      else expect(load).toThrow('N is not valid: a number (3 to 9)');
    }),
  );
});
