import { sql } from 'kysely';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = databaseTest({ own: 'reads the whole audit log' });

const [FIRST, SECOND] = ['ops@partner.floodgate-tests.org', 'desk@partner.floodgate-tests.org'];

const partner = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, 'partner', ...args);
const contactOf = async (id: number) => {
  const { output } = await partner('list', '--json');
  const all = JSON.parse(output) as { id: number; contactEmail: string | null }[];
  return all.find((one) => one.id === id)!.contactEmail;
};

test('a contact is set, changed and cleared, and the audit log knows no address', async () => {
  const created = await partner('create', 'Box office', '--contact', FIRST, '--json');
  const { id } = JSON.parse(created.output) as { id: number };
  expect(await contactOf(id)).toBe(FIRST);
  expect((await partner('list')).output).toContain(FIRST);
  for (const address of [SECOND, SECOND, 'none']) {
    const { code } = await partner('contact', String(id), address, '--by', 'jane');
    expect([code, await contactOf(id)]).toEqual([0, address === 'none' ? null : address]);
  }
  const { rows } = await sql<{ action: string; before: unknown; after: unknown }>`
    select action, before, after from audit_log where subject = ${`partner:${id}`} order by id`.execute(
    given.database.db,
  );
  expect(rows).toEqual([
    { action: 'partner.create', before: null, after: { name: 'Box office', contact: 'set' } },
    { action: 'partner.contact', before: { contact: 'set' }, after: { contact: 'changed' } },
    { action: 'partner.contact', before: { contact: 'set' }, after: { contact: 'none' } },
  ]);
});

test('what is no address is refused, and no partner has none', async () => {
  const wrong = await partner('create', 'Nobody', '--contact', 'nobody at all');
  expect([wrong.code, wrong.output]).toEqual([2, 'floodgate: --contact: an e-mail address, or none\n']);
  expect(await partner('contact', '1', 'nobody')).toMatchObject({ code: 2 });
  const missing = await partner('contact', '999999', SECOND);
  expect([missing.code, missing.output]).toEqual([1, 'floodgate: no such partner\n']);
});
