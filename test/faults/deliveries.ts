import { readLags } from '@floodgate/journal';
import { sql } from 'kysely';
import type { Deployment } from './deployment.ts';

/** Makes everything due that waits for its next attempt. */
export async function deliverNow({ db }: Deployment): Promise<void> {
  await sql`
    update journal_consumers set next_at = now()
    where state = 'active' and failures > 0 and next_at > now()`
    .execute(db)
    .catch(() => {});
  await sql`update deliveries set due_at = now() where state in ('queued', 'retry') and due_at > now()`
    .execute(db)
    .catch(() => {});
}

/** Whether nobody has anything left to be told; false where a server does not tell. */
export async function isDelivered({ db }: Deployment): Promise<boolean> {
  const lags = await readLags(db).catch(() => null);
  return (
    lags !== null && !lags.shardsAway && [lags.webhook, lags.mail].every((lag) => (lag?.behind ?? 0) === 0)
  );
}
