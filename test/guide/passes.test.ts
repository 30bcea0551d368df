import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { signPass } from '@floodgate/passes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExample } from './example.ts';
import { blocksOf } from './page.ts';
import { createProject, runBlock } from './run-block.ts';

// The check that doors copy from the guide, and what it has to refuse. What verifyPass refuses has tests of its own.

const [list, check] = blocksOf('passes').filter(({ language }) => language === 'js');
const fetches = blocksOf('passes').filter(({ language }) => language === 'sh');
const project = createProject('passes-refused');
let example: Awaited<ReturnType<typeof startExample>>;

beforeAll(async () => {
  example = await startExample();
  // Somebody who was not admitted: the seat can be cancelled.
  example.variables.PASS_REFERENCE = await example.register();
  await example.finalize();
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

test('the check lets in who may', async () => {
  expect(await checkAs()).toMatch(/^welcome: ticket \d+, registration \d+\n$/);
});

const { privateKey } = generateKeyPairSync('ed25519');
const eventId = () => Number(example.variables.EVENT_ID);
const forgedBy = (keyId: number) =>
  signPass({ eventId: eventId(), ticketId: 1, serial: 1 }, { id: keyId, privateKey });

test('it refuses what is no pass, forged, or of another event', async () => {
  await expect(checkAs('GALA-1-1-1234567890')).rejects.toThrow('refused: malformed');
  await expect(checkAs(forgedBy(1))).rejects.toThrow('refused: forged');
  await expect(checkAs(forgedBy(2))).rejects.toThrow('refused: unknown-key');
  await expect(checkAs(undefined, { EVENT_ID: '1' })).rejects.toThrow('refused: other-event');
});

test('it refuses the list of another partner, an incomplete one, and passes that were revoked', async () => {
  await expect(checkAs(undefined, { PARTNER_ID: '999' })).rejects.toThrow(
    'refused: revocations-other-partner',
  );
  const pages = JSON.parse(readFileSync(pathOf('revoked.json'), 'utf8')) as string[];
  write('revoked.json', []);
  await expect(checkAs()).rejects.toThrow('refused: revocations-incomplete');
  write('revoked.json', pages);
  await runBlock(
    blocksOf('change-or-cancel').find(
      ({ language, code }) => language === 'sh' && code.includes('/cancel"'),
    )!,
    project,
    example.variables,
  );
  await example.finalize();
  await runBlock(list!, project, example.variables);
  await expect(checkAs()).rejects.toThrow('refused: revoked');
});
