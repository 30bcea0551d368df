import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { answeringChange, parseId, parseLimit, parseSeconds, type Cli } from '@floodgate/command';
import type { BatchState, Database } from '@floodgate/database';
import { awayText } from '@floodgate/database/reads/shards';

const LOOK_INTERVAL_MS = 100;

/** `floodgate redrive` */
export function addRedriveCommand(program: Command, cli: Cli): void {
  const redrive = program
    .command('redrive')
    .description('retry failed batches and report the result')
    .argument('[batchIds...]', 'only these', parseIds)
    .option('--event <id>', 'only those with registrations for this event', parseId)
    .option('--limit <batches>', 'at most this many, oldest first', parseLimit, 1_000)
    .option('--wait <seconds>', 'how long to wait for the result', parseSeconds, 10);
  answeringChange(redrive, cli, async (db, actor, { event, limit, wait }, wanted) => {
    const { redriveShards } = await import('../actions.ts');
    const { readBacklog } = await import('./batch-statements.ts');
    const selection = {
      limit,
      ...(wanted.length > 0 && { batchIds: wanted }),
      ...(event !== undefined && { eventId: event }),
    };
    const { batchIds, away } = await redriveShards(db, selection, actor);
    const { confirmed = 0, failed = 0 } = await outcomeOf(db, batchIds, wait * 1_000);
    const { failedBatches: stillFailed } = await readBacklog(db);
    const redriven = batchIds.length;
    const pending = redriven - confirmed - failed;
    return {
      document: { redriven, confirmed, failedAgain: failed, pending, stillFailed, batchIds },
      text:
        redriven === 0
          ? 'nothing to redrive: no such batch has failed'
          : `redriven: ${redriven} (${confirmed} confirmed, ${failed} failed again, ${pending} still pending); failed altogether: ${stillFailed}`,
      ...(away.length > 0 && { failure: awayText(away) }),
    };
  });
}

const parseIds = (text: string, before: string[] = []) => [...before, text.toLowerCase()];

/** Waits until a worker has confirmed or failed all of these batches, at most `waitMs`. Returns how many are in each state. */
async function outcomeOf(
  db: Database,
  batchIds: readonly string[],
  waitMs: number,
): Promise<Partial<Record<BatchState, number>>> {
  const { countStates } = await import('./failed-batches.ts');
  const deadline = performance.now() + waitMs;
  for (;;) {
    const states = await countStates(db, batchIds);
    if (!states.pending || performance.now() >= deadline) return states;
    await delay(LOOK_INTERVAL_MS);
  }
}
