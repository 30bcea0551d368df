import { sql } from 'kysely';
import { beforeEach, expect } from 'vitest';
import { addresses, confirm, enable, startMails, waitForState } from './mail-process.ts';
import { eventTest } from '../harness/event-test.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

test.override('event', { mode: 'test' });

beforeEach(async () => {
  await sql`delete from journal_consumers`.execute(given.database.db);
  await enable(given.database.db, given.gala);
});

const send = async (count: number, fullName?: string) =>
  confirm(given.database.db, given.gala, await given.gala.addTicket(), addresses(count), fullName);

test("a test event's e-mails are shown in the mailcatcher, the newest of them, and nothing in them runs", async () => {
  const { baseUrl } = await startMails(given.database, { MAILCATCHER_SIZE: '3' });
  await send(5, '<script>alert(1)</script>');
  await waitForState(given.database.db, given.gala, 'sent', 5);
  const list = await fetch(`${baseUrl}/mailcatcher`);
  expect(list.headers.get('content-security-policy')).toContain("default-src 'none'");
  const links = [...(await list.text()).matchAll(/href="(\/mailcatcher\/\d+)"/g)].map(([, link]) => link);
  expect(links).toEqual(['/mailcatcher/5', '/mailcatcher/4', '/mailcatcher/3']);
  expect((await fetch(`${baseUrl}/mailcatcher/2`)).status).toBe(404);
  for (const path of ['/mailcatcher/5', '/mailcatcher/5/mail.html']) {
    const text = await (await fetch(baseUrl + path)).text();
    expect(text).not.toContain('<script');
    expect(text).toContain('&#60;script&#62;');
  }
  const mail = await fetch(`${baseUrl}/mailcatcher/5/mail.html`);
  expect(mail.headers.get('content-security-policy')).toContain('sandbox');
  expect(await mail.text()).toContain('src="data:image/png;base64,');
  const file = await fetch(`${baseUrl}/mailcatcher/5/mail.eml`);
  expect(file.headers.get('content-type')).toBe('message/rfc822');
  for (const path of ['/mailcatcher/0', '/mailcatcher/x', '/mailcatcher/5/other', '/mailcatchers'])
    expect((await fetch(baseUrl + path)).status).toBe(404);
});

test('without a server and an mailcatcher nothing is sent, and what waits is seen', async () => {
  const { baseUrl, output } = await startMails(given.database, {});
  await send(1);
  expect(output()).toContain('no SMTP_URL: this process sends no e-mails');
  expect((await fetch(`${baseUrl}/mailcatcher`)).status).toBe(404);
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  expect(metrics).toContain('floodgate_delivery_consumers_behind{kind="mail"} 1');
});
