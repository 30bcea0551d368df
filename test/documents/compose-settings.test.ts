import { readFileSync } from 'node:fs';
import { ApiConfig } from '@floodgate/api/config';
import { ConsoleConfig } from '@floodgate/console';
import { DeliveryConfig } from '@floodgate/delivery';
import { WorkerConfig } from '@floodgate/worker/config';
import { expect, test } from 'vitest';

const compose = readFileSync(new URL('../../docker/compose.yaml', import.meta.url), 'utf8');

/** Addresses inside of containers, and what is for development. */
const LEFT_OUT =
  /^(HOST|PORT|(WORKER|DELIVERY|CONSOLE)_(HOST|PORT)|DEMO_FILE|MAILCATCHER_SIZE|WEBHOOK_ALLOW_PRIVATE)$/;

const variablesIn = (text: string) => [...text.matchAll(/^ +([A-Z_]+):/gm)].map(([, name]) => name!);

/** The settings that compose.yaml gives to a service. */
function settingsOf(service: string): string[] {
  const [, block] = new RegExp(`^  ${service}:\n((?:(?: {3,}.*)?\n)+)`, 'm').exec(compose)!;
  const shared = /^x-settings:.*\n((?: +.*\n)+)/m.exec(compose)![1]!;
  return variablesIn(block!.includes('<<: *settings') ? shared + block! : block!);
}

test.for([
  ['api', ApiConfig],
  ['worker', WorkerConfig],
  ['delivery', DeliveryConfig],
  ['console', ConsoleConfig],
] as const)('compose.yaml passes every setting on to the %s', ([service, schema]) => {
  const wanted = Object.keys(schema.properties).filter((name) => !LEFT_OUT.test(name));
  expect(settingsOf(service)).toEqual(expect.arrayContaining(wanted));
});
