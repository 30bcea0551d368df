import { spawn } from 'node:child_process';
import { writeFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findFreePort } from '../harness/free-port.ts';
import { secretText } from '@floodgate/webhooks/signatures';
import { afterAll, expect, onTestFinished } from 'vitest';
import { startExample } from './example.ts';
import { blocksOf, isLike } from './page.ts';
import { createProject, runBlock } from './run-block.ts';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addWebhook, changeWebhook, confirmSome } from '../harness/webhooks.ts';
import { deliverInTest } from '../harness/webhooks-in-test.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

const blocks = blocksOf('webhooks');

let project: string;

test.beforeAll(async () => {
  project = createProject('webhooks');
});
afterAll(async () => {
  rmSync(project, { recursive: true });
});

test('what webhooks shows of a call is what is answered', async () => {
  const example = await startExample();
  onTestFinished(() => example.close());
  const [call, answer] = [
    blocks.find(({ language }) => language === 'sh')!,
    blocks.find(({ language }) => language === 'json')!,
  ];
  const printed = await runBlock(call, project, example.variables);
  expect(isLike(JSON.parse(answer.code), JSON.parse(printed)), printed).toBe(true);
});

test('replay and rotate are answered 00', async () => {
  const example = await startExample();
  onTestFinished(() => example.close());
  const shell = blocks.filter(({ language }) => language === 'sh');
  const codes: string[] = [];
  for (const call of shell) {
    const printed = await runBlock(call, project, example.variables);
    // The second block keeps the id of the webhook, and prints nothing.
    codes.push(printed && (JSON.parse(printed) as Created).responseCode);
  }
  expect(codes).toEqual(['00', '', '00', '00']);
});

interface Created {
  responseCode: string;
}

const receivers = blocks.filter(({ language }) => language === 'js');

test('there is a receiver for each of both libraries', () => {
  expect(receivers.map(({ code }) => /from '(standardwebhooks|@floodgate\/client)'/.exec(code)?.[1])).toEqual(
    ['standardwebhooks', '@floodgate/client'],
  );
});

test.for(receivers.map((block) => [block.line, block] as const))(
  'the receiver of line %i takes what is sent, once',
  async ([line, { code }]) => {
    const port = await findFreePort();
    const fixture = await createFixture(given.database.db);
    const ticketId = await fixture.addTicket();
    const url = `http://127.0.0.1:${port}/`;
    // What happened before is not sent, which is no gap.
    await confirmSome(given.database.db, fixture, ticketId, 2);
    const { keys, endpoint } = await addWebhook(given.database.db, fixture, { url, from: 'now' });
    const file = path.join(project, `receiver-${line}.js`);
    writeFileSync(file, code);
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secretText(keys.secret) };
    const receiver = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void receiver.kill());
    let printed = '';
    receiver.stdout.on('data', (chunk) => (printed += String(chunk)));
    await waitUntil('the receiver listens', () =>
      fetch(url, { method: 'POST' }).then(
        () => true,
        () => null,
      ),
    ).catch(() => undefined);
    await deliverInTest(given.database.url);
    await confirmSome(given.database.db, fixture, ticketId, 3);
    await waitUntil('it has printed', () => printed.includes('event.changes'));
    await changeWebhook(given.database.db, endpoint, 'test');
    await waitUntil('it has printed the test', () => printed.includes('webhook.test'));
    // The first request here had no signature.
    expect(printed).toMatch(/^rejected: .*\nevent.changes 3\nwebhook.test\n$/);
  },
);
