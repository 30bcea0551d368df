import { readFileSync } from 'node:fs';
import { perform } from '@floodgate/audit';
import { connect } from '@floodgate/database';
import { cancelRegistrationAction } from '@floodgate/registrations/actions';
import { sql } from 'kysely';
import { describe, expect, onTestFinished } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending } from '../harness/journal.ts';
import { roleOf, withRole } from '../harness/service-roles.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import {
  deploymentsOf,
  FOLDERS,
  nameOf,
  ofKind,
  podOf,
  readManifests,
  render,
  withoutKubectl,
  type Manifest,
} from './manifests.ts';

const { test, given } = eventTest({ own: 'what other files left would change what is measured' });

// The autoscalers in docker/kubernetes, and the query of KEDA on a real Postgres.

interface Trigger {
  type: string;
  metadata: Record<string, string>;
}

interface ScaledObjectSpec {
  scaleTargetRef: { name: string };
  minReplicaCount: number;
  maxReplicaCount: number;
  triggers: Trigger[];
}

const specOf = ({ spec }: Manifest) => spec as ScaledObjectSpec;

describe.skipIf(withoutKubectl !== '')(`autoscalers${withoutKubectl}`, () => {
  const renderAll = () => FOLDERS.map((folder) => render(folder));
  const production = () => render('overlays/production');

  test('a Deployment has a number of replicas, or one autoscaler', () => {
    for (const objects of renderAll()) {
      const scalers = ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject');
      const targets = scalers.map((scaler) => specOf(scaler).scaleTargetRef.name);
      const deployments = deploymentsOf(objects);
      const counts = deployments.map((one) => [
        nameOf(one),
        targets.filter((name) => name === one.metadata.name).length +
          (one.spec.replicas === undefined ? 0 : 1),
      ]);
      expect(counts).toEqual(deployments.map((one) => [nameOf(one), 1]));
      expect(deployments.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(targets));
    }
  });

  test('triggers of KEDA have the fields of its documentation', () => {
    const fields: Record<string, string[]> = {
      cpu: ['value'],
      cron: ['desiredReplicas', 'end', 'start', 'timezone'],
      postgresql: ['connectionFromEnv', 'query', 'targetQueryValue'],
    };
    const triggers = ofKind(production(), 'ScaledObject').flatMap((one) => specOf(one).triggers);
    for (const { type, metadata } of triggers) expect(Object.keys(metadata).toSorted()).toEqual(fields[type]);
    expect(new Set(triggers.map(({ type }) => type))).toEqual(new Set(Object.keys(fields)));
  });

  test('before the launch there are more APIs and workers, at the same time', () => {
    const launches = ofKind(production(), 'ScaledObject').map((scaled) => {
      const { triggers, minReplicaCount, maxReplicaCount } = specOf(scaled);
      const [launch, ...others] = triggers.filter(({ type }) => type === 'cron');
      expect(others).toEqual([]);
      const { desiredReplicas, start, end, timezone } = launch!.metadata;
      expect(Number(desiredReplicas)).toBeGreaterThan(minReplicaCount);
      expect(Number(desiredReplicas)).toBeLessThanOrEqual(maxReplicaCount);
      for (const time of [start, end]) expect(time).toMatch(/^\d+ \d+ \d+ \d+ \*$/);
      expect(() => new Date().toLocaleString('en', { timeZone: timezone! })).not.toThrow();
      return { start, end, timezone };
    });
    expect(launches).toHaveLength(2);
    expect(launches[1]).toEqual(launches[0]);
  });

  test('the connections to Postgres that the documentation calculates are those of production', () => {
    const objects = production();
    const scaled = ofKind(objects, 'ScaledObject').map((one) => [one.metadata.name, specOf(one)] as const);
    const most: Record<string, number> = Object.fromEntries(
      scaled.map(([name, { maxReplicaCount }]) => [name, maxReplicaCount]),
    );
    const perProcess: Record<string, number> = { api: 33, worker: 10, delivery: 10, console: 8 };
    // A rolling update starts one more.
    const connections = deploymentsOf(objects).map(
      ({ metadata: { name }, spec }) => ((most[name] ?? spec.replicas!) + 1) * perProcess[name]!,
    );
    const sum = connections.reduce((one, other) => one + other);
    const page = readFileSync(new URL('../../apps/docs/operate/kubernetes.md', import.meta.url), 'utf8');
    expect(page).toContain(`**${sum}**`);
  });
});

describe('the query of KEDA for workers', () => {
  const [scaled] = readManifests('keda/worker.yaml');
  const { triggers, scaleTargetRef } = specOf(scaled!);
  const { query, connectionFromEnv, targetQueryValue } = triggers.find(
    ({ type }) => type === 'postgresql',
  )!.metadata;

  /** Returns the age in seconds, asked as the worker's user as KEDA does. */
  async function age(): Promise<number> {
    const connectionString = withRole(roleOf('worker'), given.database.url);
    const worker = connect({ connectionString, applicationName: 'keda', maxConnections: 1 });
    onTestFinished(() => worker.destroy());
    const { rows } = await sql.raw<Record<string, number>>(query!).execute(worker);
    expect(rows).toHaveLength(1);
    const [value, ...others] = Object.values(rows[0]!);
    expect(others).toEqual([]);
    expect(value).toBeTypeOf('number');
    return value!;
  }

  test('is 0 while nothing waits', async () => {
    expect(await age()).toBe(0);
  });

  test('is the age of the oldest pending batch, and 0 when it is finalized', async () => {
    const { batchId } = await commitBatch(given.db, given.gala);
    expect(await age()).toBeGreaterThan(0);
    await sql`update batches set pending_since = now() - interval '25 s' where id = ${batchId}`.execute(
      given.db,
    );
    await commitBatch(given.db, given.gala);
    const seconds = await age();
    expect(seconds).toBeGreaterThan(25);
    // The replicas that KEDA asks for.
    expect(Math.ceil(seconds / Number(targetQueryValue))).toBeGreaterThan(specOf(scaled!).minReplicaCount);
    await finalizePending(given.db, given.gala.shardId);
    expect(await age()).toBe(0);
  });

  test('is the age of the oldest change', async () => {
    const { serial } = await commitBatch(given.db, given.gala);
    await finalizePending(given.db, given.gala.shardId);
    const { pass_code } = await tablesOf(given.db)
      .selectFrom('registrations')
      .select('pass_code')
      .where('serial', '=', serial)
      .executeTakeFirstOrThrow();
    const passReference = `${given.gala.passPrefix}-${given.gala.eventId}-${serial}-${pass_code}`;
    await perform(given.db, cancelRegistrationAction, { passReference }, 'test');
    expect(await age()).toBeGreaterThan(0);
    await finalizePending(given.db, given.gala.shardId);
    expect(await age()).toBe(0);
  });

  test('reads the index of unfinished batches', async () => {
    const plan = await given.db.transaction().execute(async (transaction) => {
      await sql`set local enable_seqscan = off`.execute(transaction);
      const { rows } = await sql.raw<Record<string, string>>(`explain ${query}`).execute(transaction);
      return JSON.stringify(rows);
    });
    expect(plan).toContain('batches_unwritten');
  });

  test.skipIf(withoutKubectl !== '')('connects as the container that it names', () => {
    const target = deploymentsOf(render('keda')).find(
      ({ metadata }) => metadata.name === scaleTargetRef.name,
    )!;
    const variable = podOf(target).container.env!.find(({ name }) => name === connectionFromEnv)!;
    expect(variable.valueFrom!.secretKeyRef).toEqual({ name: 'floodgate-worker', key: 'DATABASE_URL' });
  });
});
