import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { processSettings } from '@floodgate/service';
import { SERVICES } from '@floodgate/database';
import { describe, expect, onTestFinished, test } from 'vitest';
import SMALL_PROCESS from '../../packages/toolchain/small-process.json' with { type: 'json' };
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { podOf, readManifests, type Workload } from './manifests.ts';

// The units in docker/systemd.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = path.join(ROOT, 'docker/systemd');
const files = readdirSync(FOLDER).toSorted();
const services = files.filter((file) => file.endsWith('.service'));
/** A unit with an @ has one instance for each port. */
const INSTANCES: Record<string, string> = {
  'floodgate-api@.service': 'floodgate-api@3000.service',
  'floodgate-worker@.service': 'floodgate-worker@3001.service',
};

const read = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8').replaceAll('\\\n', ' ');

/** Returns the values of a directive, in order. */
const valuesOf = (file: string, directive: string) =>
  [...read(file).matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value]) => value!);

const unitOf = (service: string) => services.find((file) => file.startsWith(`floodgate-${service}`))!;

const canVerify = spawnSync('systemd-analyze', ['--version']).status === 0;
const withoutSystemd = canVerify || process.env['CI'] ? '' : ' (skipped: no systemd-analyze on the PATH)';

describe.skipIf(withoutSystemd !== '')(`systemd-analyze${withoutSystemd}`, () => {
  /** Copies the units with an instance of each template. The programs are those of this checkout. */
  async function copyUnits(): Promise<string[]> {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory[Symbol.asyncDispose]());
    return Promise.all(
      files.map(async (file) => {
        const copy = directory.file(INSTANCES[file] ?? file);
        const text = readFileSync(path.join(FOLDER, file), 'utf8');
        await writeFile(copy, text.replaceAll('/opt/floodgate/', ROOT));
        return copy;
      }),
    );
  }

  test('finds no mistake', async () => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...(await copyUnits())], {
      encoding: 'utf8',
    });
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });

  test('rates every service as protected', async () => {
    const units = (await copyUnits()).filter((file) => file.endsWith('.service'));
    for (const unit of units) {
      const options = ['security', '--offline=true', '--threshold=20', unit];
      const { status, stdout } = spawnSync('systemd-analyze', options, { encoding: 'utf8' });
      expect({ unit, status, rating: stdout.trim().split('\n').at(-1) }).toMatchObject({ status: 0 });
    }
  });
});

test('there is a unit for each service', () => {
  expect(services.map((file) => file.replace(/^floodgate-(\w+)@?\.service$/, '$1'))).toEqual(
    [...SERVICES, 'migrate'].toSorted(),
  );
});

test.for(SERVICES)('%s runs with the flags of small-process.json', (service) => {
  const flags = SMALL_PROCESS.flags[`apps/${service}`];
  const [command] = valuesOf(unitOf(service), 'ExecStart');
  expect(command!.split(/\s+/)).toEqual([
    '/opt/floodgate/node_modules/node/bin/node',
    ...SMALL_PROCESS.everyFlags,
    ...flags,
    `apps/${service}/src/main.ts`,
  ]);
  const variables = valuesOf(unitOf(service), 'Environment').join(' ').split(' ');
  for (const [name, value] of Object.entries(SMALL_PROCESS.env))
    expect(variables).toContain(`${name}=${value}`);
});

test('migrations run with the flags of small-process.json, and every service is granted', () => {
  const [, flags] = valuesOf('floodgate-migrate.service', 'Environment');
  expect(flags).toBe(
    `"FLAGS=${[...SMALL_PROCESS.everyFlags, ...SMALL_PROCESS.flags['apps/cli']].join(' ')}"`,
  );
  const commands = valuesOf('floodgate-migrate.service', 'ExecStart').map(
    (command) => command.split(' apps/cli/src/main.ts ')[1],
  );
  expect(commands).toEqual([
    'migrate --wait 60',
    ...SERVICES.map((service) => `grant ${service} floodgate_${service}`),
  ]);
});

test.for(SERVICES)('%s has time to stop in order, and the memory limit of Kubernetes', (service) => {
  const unit = unitOf(service);
  expect(Number(valuesOf(unit, 'TimeoutStopSec')[0]) * 1_000).toBeGreaterThan(
    processSettings.SHUTDOWN_TIMEOUT_MS.default as number,
  );
  const deployment = readManifests(`base/${service}.yaml`)[0] as Workload;
  expect(`${valuesOf(unit, 'MemoryMax')[0]}i`).toBe(podOf(deployment).container.resources!.limits!['memory']);
});

test('e-mails and webhooks get the CPU last', () => {
  expect(valuesOf('floodgate-delivery.service', 'Nice')).toEqual(['19']);
  expect(valuesOf('floodgate-delivery.service', 'CPUWeight')).toEqual(['10']);
});

test('no unit contains a password, and only migrations have that of the owner', () => {
  for (const file of files) expect(read(file)).not.toMatch(/_URL=|PASSWORD|SECRET/);
  expect(services.filter((file) => read(file).includes('owner.env'))).toEqual(['floodgate-migrate.service']);
});
