import { perform } from '@floodgate/audit';
import { grantEvent, revokeEvent } from '@floodgate/events';
import { eventOperations } from '@floodgate/events/console';
import { createPartner, issueKey } from '@floodgate/partners';
import { disablePartnerAction } from '@floodgate/partners/actions';
import { NotFound } from '@floodgate/service/failure';
import { COMMAND_LINE } from '@floodgate/operators';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';

const { test, given } = databaseTest();

test('grants are listed from both sides, with the keys that open the event', async () => {
  const { db } = given;
  const { eventId, partnerId } = await createFixture(db);
  const other = await createPartner(db, `Ångström ${eventId}`);
  await grantEvent(db, other.id, eventId);
  // A test key opens no live event.
  await issueKey(db, other.id, null, 'test');
  await perform(db, disablePartnerAction, { partnerId: other.id, disabled: true }, 'test');
  const sellers = await eventOperations.eventPartners(db, { eventId }, COMMAND_LINE);
  expect(sellers.toSorted((a, b) => a.partnerId - b.partnerId)).toMatchObject([
    { partnerId, openKeys: 1, disabledAt: null },
    { partnerId: other.id, partner: `Ångström ${eventId}`, openKeys: 0, disabledAt: expect.any(Date) },
  ]);
  expect(await eventOperations.partnerEvents(db, { partnerId }, COMMAND_LINE)).toMatchObject([
    { eventId, event: 'Gala', mode: 'live', openKeys: 1 },
  ]);
  await revokeEvent(db, other.id, eventId);
  expect(await eventOperations.partnerEvents(db, { partnerId: other.id }, COMMAND_LINE)).toEqual([]);
  expect(await eventOperations.eventPartners(db, { eventId }, COMMAND_LINE)).toHaveLength(1);
});

test('an unknown event or partner is not found', async () => {
  await expect(
    eventOperations.eventPartners(given.db, { eventId: 2_000_000_000 }, COMMAND_LINE),
  ).rejects.toThrow(NotFound);
  await expect(
    eventOperations.partnerEvents(given.db, { partnerId: 2_000_000_000 }, COMMAND_LINE),
  ).rejects.toThrow(NotFound);
});
