import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { runCli } from '../harness/service-process.ts';
import { confirmSome } from '../harness/webhooks.ts';

const { test, given } = eventTest({ sharesEvent: true, own: 'reads the whole audit log' });

const floodgate = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, 'webhook', ...args);

async function json(...args: string[]) {
  const { code, output } = await floodgate(...args, '--json');
  expect([code, output]).toEqual([0, output]);
  return JSON.parse(output) as Record<string, unknown> & { id: string; secret: string };
}

const URL = 'https://partner.example/hook?token=dont-tell';

test('operators do what partners can, and the audit log knows it without secrets and URLs', async () => {
  const { eventId, partnerId } = given.gala;
  await confirmSome(given.database.db, given.gala, await given.gala.addTicket(), 2);
  const created = await json(
    'create',
    `${eventId}`,
    `${partnerId}`,
    URL,
    '--types',
    'ticket.sold_out,ticket.reopened',
    '--from',
    'now',
    '--by',
    'ann',
  );
  expect(created).toMatchObject({ url: URL, types: ['ticket.sold_out', 'ticket.reopened'], state: 'active' });
  expect(created.secret).toMatch(/^whsec_/);
  const { id } = created;
  expect(await json('list', `${eventId}`)).toMatchObject([{ id, partnerId }]);
  expect(await json('pause', id)).toMatchObject({ id, state: 'paused' });
  expect(await json('show', id)).toMatchObject({ id, state: 'paused', eventId, oldestMs: null });
  expect(await json('resume', id)).toMatchObject({ id, state: 'active' });
  expect(await json('update', id, '--entries', '7')).toMatchObject({ entriesPerMessage: 7 });
  const rotated = await json('rotate', id, '--overlap', '1h');
  expect(rotated.secret).not.toBe(created.secret);
  expect((await json('test', id))['messageId']).toMatch(/^msg_test_/);
  expect(await json('replay', id, '--since', '1h')).toMatchObject({ cursor: '0', was: '2' });
  expect(await json('attempts', id)).toEqual([]);
  expect(await json('delete', id)).toMatchObject({ id, state: 'deleted' });

  const { rows } = await sql<{ actor: string; action: string; subject: string; text: string }>`
    select actor, action, subject, coalesce(before::text, '') || coalesce(after::text, '') as text
    from audit_log order by id`.execute(given.database.db);
  expect(rows.map(({ action }) => action)).toEqual(
    ['create', 'pause', 'resume', 'update', 'rotate', 'test', 'replay', 'delete'].map(
      (name) => `webhook.${name}`,
    ),
  );
  expect(rows[0]!.actor).toBe('ann');
  for (const { subject, text } of rows) {
    expect(subject).toBe(`webhook:${id}`);
    expect(text).not.toMatch(/whsec_|dont-tell|partner\.example/);
    for (const { secret } of [created, rotated]) expect(text).not.toContain(secret.slice(6));
  }
});

test.for([
  [['create', '1', '1', 'https://partner.example/'], 1, 'no such event'],
  [['create', 'E', '1', 'ftp://partner.example/'], 2, 'url'],
  [['create', 'E', 'P', 'http://localhost:9999/'], 2, 'an https URL'],
  [['create', 'E', 'P', 'https://partner.example/ü'], 2, 'url'],
  [['create', 'E', 'P', 'https://partner.example/', '--types', 'ticket.sold'], 2, 'types'],
  [['create', 'E', 'P', 'https://partner.example/', '--entries', '501'], 2, '--entries: '],
  [['create', 'E', '2147483647', 'https://partner.example/'], 1, 'not open to partner'],
  [['pause', '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f'], 1, 'no such webhook'],
  [['pause', 'hook'], 2, 'a UUID'],
  [['show', '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f'], 1, 'no such webhook'],
  [['show', 'nope'], 2, 'a UUID'],
  [['attempts', 'nope'], 2, 'a UUID'],
  [['list', '2147483647'], 1, 'no such event'],
] as const)('what cannot be done is said in a line: %j', async ([args, code, line]) => {
  const ids: Record<string, string> = { E: `${given.gala.eventId}`, P: `${given.gala.partnerId}` };
  const input = args.map((arg) => ids[arg] ?? arg);
  const ended = await floodgate(...input);
  expect([ended.code, ended.output.trim().split('\n').length]).toEqual([code, 1]);
  expect(ended.output).toContain(line);
});

test('http is accepted where the service accepts it', async () => {
  const env = { DATABASE_URL: given.database.url, WEBHOOK_ALLOW_PRIVATE: 'true' };
  const args = [
    'create',
    `${given.gala.eventId}`,
    `${given.gala.partnerId}`,
    'http://localhost:9999/',
    '--json',
  ];
  const { code, output } = await runCli(env, 'webhook', ...args);
  expect([code, output]).toEqual([0, output]);
  const { id, secret } = JSON.parse(output) as { id: string; secret: string };
  keepPrivate([secret]);
  const { code: refused, output: line } = await floodgate('update', id, '--url', 'http://localhost:9998/');
  expect([refused, line]).toEqual([2, expect.stringContaining('an https URL')]);
});

test('a resume that only ends failures is in the audit log, one that changes nothing is not', async () => {
  const { id } = await json('create', `${given.gala.eventId}`, `${given.gala.partnerId}`, URL);
  await json('resume', id);
  await sql`
    update journal_consumers set failures = 3, failing_since = '2026-01-01T00:00:00Z' where id = ${id}`.execute(
    given.database.db,
  );
  await json('resume', id);
  const { rows } = await sql<object>`
    select before, after from audit_log
    where action = 'webhook.resume' and subject = ${`webhook:${id}`}`.execute(given.database.db);
  expect(rows).toMatchObject([
    { before: { state: 'active', failures: 3 }, after: { failures: 0, failingSince: null } },
  ]);
});
