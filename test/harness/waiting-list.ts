import type { WaitingRequest } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { joinWaitingLists, toJoin } from '@floodgate/waiting-list';
import type { Fixture } from './fixture.ts';

/** Puts one entry on a waiting list, without the API. Returns the outcome. */
export async function joinWaitingList(
  db: Database,
  owner: Pick<Fixture, 'shardId' | 'eventId' | 'partnerId'>,
  request: WaitingRequest,
  key: string | null,
  lockWithinMs: number,
) {
  const [joined] = await joinWaitingLists(db, owner.shardId, [toJoin(owner, request, key)], lockWithinMs);
  return joined!;
}
