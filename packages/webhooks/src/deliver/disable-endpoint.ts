import type { Webhook } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import { disable, type Consumer } from '@floodgate/journal';
import { updateEndpoint } from '../endpoints.ts';
import { addNotice } from '../notices.ts';

/** Why the service has disabled an endpoint. */
export type DisabledReason = NonNullable<Webhook['disabledReason']>;

/**
 * Disables an endpoint until it is resumed, and adds the notice to its partner in the same commit. Returns false, and changes nothing,
 * if the lease was lost.
 */
export const disableEndpoint = (db: Database, consumer: Consumer, reason: DisabledReason): Promise<boolean> =>
  inTransaction(db, async (transaction) => {
    // The consumer first, as the actions do.
    if (!(await disable(transaction, consumer))) return false;
    await updateEndpoint(transaction, consumer).set({ disabled_reason: reason }).execute();
    // The partner knows beforehand that test events send nothing.
    if (reason !== 'test_event') await addNotice(transaction, consumer);
    return true;
  });
