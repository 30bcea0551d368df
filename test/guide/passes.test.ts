import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { signPass } from '@floodgate/passes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExample } from './example.ts';
import { blocksOf } from './page.ts';
import { createProject, runBlock } from './run-block.ts';

// The check that doors copy from the guide, and what it has to refuse. That it lets in who may is tested with the other pages.

const [list, check] = blocksOf('passes').filter(({ language }) => language === 'js');
const fetches = blocksOf('passes').filter(({ language }) => language === 'sh');
const project = createProject('passes-refused');
let example: Awaited<ReturnType<typeof startExample>>;

beforeAll(async () => {
  example = await startExample();
  for (const block of [...fetches, list!]) await runBlock(block, project, example.variables);
});
afterAll(async () => {
  rmSync(project, { recursive: true });
  await example.close();
});

const pathOf = (file: string) => path.join(project, file);
const write = (file: string, content: unknown) => writeFileSync(pathOf(file), JSON.stringify(content));

/** Runs the check on the pass that was given out, or on another token. */
function checkAs(token?: string, variables: Record<string, string> = {}): Promise<string> {
  if (token !== undefined) write('scanned.json', { responseData: { pass: token } });
  const code = token === undefined ? check!.code : check!.code.replace('pass.json', 'scanned.json');
  return runBlock({ ...check!, code }, project, { ...example.variables, ...variables });
}

test('the check is twenty lines, and lets in who may', async () => {
  const [body] = /^function checkPass[^]*?^}/m.exec(check!.code)!;
  expect(body.split('\n').length).toBeLessThanOrEqual(20);
  expect(await checkAs()).toMatch(/^welcome: ticket \d+, registration \d+\n$/);
});

const { privateKey } = generateKeyPairSync('ed25519');
const eventId = () => Number(example.variables.EVENT_ID);
const forgedBy = (keyId: number) =>
  signPass(
    { keyId, eventId: eventId(), ticketId: 1, serial: 1, validFrom: null, validUntil: null },
    privateKey,
  );

test('it refuses what is none, forged, of an unknown key, of another event, or revoked', async () => {
  await expect(checkAs('GALA-1-1-1234567890')).rejects.toThrow('not a pass');
  await expect(checkAs(forgedBy(1))).rejects.toThrow('forged');
  await expect(checkAs(forgedBy(2))).rejects.toThrow('an unknown key');
  await expect(checkAs(undefined, { EVENT_ID: '1' })).rejects.toThrow('for another event');
  const serial = Number(example.variables.PASS_REFERENCE.split('-')[2]);
  write('revoked.json', { cursor: '0', serials: [serial] });
  await expect(checkAs()).rejects.toThrow('revoked');
});

test('the list refuses a page that is forged', async () => {
  const { keys } = JSON.parse(readFileSync(pathOf('pass-keys.json'), 'utf8')) as { keys: object[] };
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  write('pass-keys.json', { keys: keys.map((key) => ({ ...key, x })) });
  await expect(runBlock(list!, project, example.variables)).rejects.toThrow('the list is forged');
});
