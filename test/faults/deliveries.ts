import { readLags } from '@floodgate/journal';
import { sql } from 'kysely';
import type { Deployment } from './deployment.ts';

/** Somebody has an e-mail for 180 s who tries it again. After 5 s of that it has been sent, or its process is gone. */
const TAKEN_SECONDS = 175;

/** Has those told at once whose last attempt was in vain, as if the time for the next had come. */
export async function deliverNow({ db }: Deployment): Promise<void> {
  await sql`
    update journal_consumers set next_at = now()
    where state = 'active' and failures > 0 and next_at > now()`
    .execute(db)
    .catch(() => {});
  // One that somebody has just taken is left alone: it may be under way.
  await sql`
    update mail_deliveries set next_at = now()
    where state = 'retry' and next_at > now()
      and next_at not between now() + make_interval(secs => ${TAKEN_SECONDS}) and now() + '181 s'::interval`
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
