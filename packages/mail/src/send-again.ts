import { inEachShard } from '@floodgate/database';
import { claimDue, CLAIM_SECONDS, giveBack, renewClaim, type DueDelivery } from './mail-deliveries.ts';
import { findMailEvent } from './mail-event.ts';
import type { TurnOptions } from './take-turn.ts';

const MOST = 50;

type Options = Pick<TurnOptions, 'db' | 'deliverer' | 'isOutside'>;

/** Tries e-mails again whose time has come. Resolves to whether there may be more. */
export async function sendAgain(options: Options, stopping: AbortSignal): Promise<'more' | 'done'> {
  let result: 'more' | 'done' = 'done';
  await inEachShard(options.db, async (shardId) => {
    if (!options.deliverer.gate.isOpen() || stopping.aborted) return;
    const due = await claimDue(options.db, shardId, MOST);
    if (due.length === MOST) result = 'more';
    for (const [eventId, ofEvent] of Map.groupBy(due, (one) => one.eventId))
      await sendThese(options, shardId, eventId, ofEvent, stopping);
  });
  return result;
}

const NOBODY: Promise<ReadonlySet<number>> = Promise.resolve(new Set<number>());

async function sendThese(
  { db, deliverer, isOutside }: Options,
  shardId: number,
  eventId: number,
  due: readonly DueDelivery[],
  stopping: AbortSignal,
): Promise<void> {
  const event = await findMailEvent(db, eventId);
  const isSilent = !event || (isOutside && event.mode === 'test');
  // A server may think for longer than others leave these alone. Where a renewal fails, the next does not.
  const renewing = setInterval(
    () => void renewClaim(db, shardId, due).catch(() => {}),
    (CLAIM_SECONDS / 4) * 1_000,
  );
  const settled = await (isSilent ? NOBODY : deliverer.deliver(event, due, stopping)).finally(() =>
    clearInterval(renewing),
  );
  // The server takes no more, or the process stops: those were not even tried.
  const left = due.filter(({ serial }) => !settled.has(serial));
  if (left.length > 0) await giveBack(db, shardId, left);
}
