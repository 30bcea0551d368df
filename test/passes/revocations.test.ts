import { grantEvent } from '@floodgate/events';
import type { Revocations } from '@floodgate/passes';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { fetchPassKeys, readRevocations } from '../harness/passes.ts';

const { test, given } = apiTest({ sharesEvent: true, own: 'finalizes everything in the database' });

test.override('ticket', {});

let other: Fixture;

test.beforeAll(async () => {
  const { partnerId, secretKey } = await createFixture(given.database.db);
  await grantEvent(given.database.db, partnerId, given.gala.eventId);
  other = { ...given.gala, partnerId, secretKey };
});

const clientOf = (fixture: Fixture) => new PartnerClient(given.api.baseUrl, fixture);

/** Registers, cancels, and returns the serial. */
async function cancelled(fixture: Fixture): Promise<number> {
  const { body } = await clientOf(fixture).register(attendee(given.ticketId));
  const passReference = String(body.responseData);
  await finalizePending(given.database.db, given.gala.shardId);
  expect((await clientOf(fixture).cancel(passReference)).body.responseCode).toBe('00');
  await finalizePending(given.database.db, given.gala.shardId);
  return Number(passReference.split('-')[2]);
}

/** Fetches a page and verifies it as a door does, by the published keys. */
async function fetchPage(fixture: Fixture, query = ''): Promise<Revocations> {
  const { body } = await clientOf(fixture).revoked(query);
  expect(body.responseCode).toBe('00');
  const { revocations, cursor, more } = body.responseData as Record<'revocations' | 'cursor', string> & {
    more: boolean;
  };
  const page = readRevocations(revocations, await fetchPassKeys(given.api.baseUrl));
  expect({ cursor, more }).toEqual({ cursor: page.cursor, more: page.more });
  return page;
}

test('a door that reads on from the cursor learns of each cancelled pass once, in order and without a gap', async () => {
  const first = [await cancelled(given.gala), await cancelled(given.gala), await cancelled(given.gala)];
  const pages = [await fetchPage(given.gala, '?limit=2')];
  while (pages.at(-1)!.more)
    pages.push(await fetchPage(given.gala, `?limit=2&after=${pages.at(-1)!.cursor}`));
  expect(pages.flatMap(({ serials }) => serials)).toEqual(first);
  expect(pages[0]).toMatchObject({ event: given.gala.eventId, partner: given.gala.partnerId, after: '0' });
  // The chain: each page begins where the one before ended.
  for (const [index, { after }] of pages.slice(1).entries()) expect(after).toBe(pages[index]!.cursor);
  const last = pages.at(-1)!.cursor;
  expect((await fetchPage(given.gala, `?after=${last}`)).serials).toEqual([]);
  const later = await cancelled(given.gala);
  expect(await fetchPage(given.gala, `?after=${last}`)).toMatchObject({ after: last, serials: [later] });
});

test('what a partner cancelled is on its own list and no other', async () => {
  const [mine, theirs] = [await cancelled(given.gala), await cancelled(other)];
  expect((await fetchPage(given.gala)).serials).toContain(mine);
  expect((await fetchPage(given.gala)).serials).not.toContain(theirs);
  expect((await fetchPage(other)).serials).toEqual([theirs]);
});

test('a cursor that the history does not reach, and one that is none, are refused', async () => {
  expectFailure(await clientOf(given.gala).revoked('?after=999999999'), '11');
  expectFailure(await clientOf(given.gala).revoked('?after=-1'), '11');
  expectFailure(await clientOf(given.gala).revoked('?limit=1001'), '11');
  for (const list of ['?after[]=0', '?after=0&after=1', '?after%5b1%5d=0', '?limit[]=1'])
    expectFailure(await clientOf(given.gala).revoked(list), '11');
});
