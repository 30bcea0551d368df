import type { Database } from '@floodgate/database';
import type { Composing } from './compose/composing.ts';
import type { Delivery } from './mail-deliveries.ts';
import type { MailEvent } from './mail-event.ts';
import { isReserved, readRecipients, type Recipient } from './recipients.ts';
import type { ComposedMail } from './send/transport.ts';
import { digestOf, findSuppressed } from './suppressions.ts';

/** An e-mail that is to be sent. */
export interface Task {
  serial: number;
  /** When the registration was confirmed. */
  since: Date;
  /** Attempts that were refused for now. */
  attempts: number;
  /** It may have been sent before. */
  isDoubtful: boolean;
}

/** Why nothing is sent. */
export type Skip = Pick<Delivery, 'state' | 'reason'>;

/** A task and what it takes: an e-mail, or why there is none. Null: it could not be made, for a reason of ours. */
export interface PreparedMail {
  task: Task;
  /** Of the address. */
  digest: string;
  content: { skip: Skip } | { mail: ComposedMail } | null;
}

export interface PrepareOptions {
  db: Database;
  composing: Composing;
  /** Whether somebody outside gets what is sent. */
  isOutside: boolean;
}

/** Reads who is to have these e-mails, and composes them. */
export async function prepareMails(
  { db, composing, isOutside }: PrepareOptions,
  event: MailEvent,
  tasks: readonly Task[],
): Promise<PreparedMail[]> {
  const serials = tasks.map(({ serial }) => serial);
  const recipients = await readRecipients(db, event, serials);
  const digests = new Map(recipients.map(({ serial, emailAddress }) => [serial, digestOf(emailAddress)]));
  const suppressed = await findSuppressed(db, [...digests.values()]);
  const skipOf = (recipient: Recipient): Skip | null => {
    if (recipient.isCancelled) return { state: 'skipped', reason: 'cancelled' };
    if (suppressed.has(digests.get(recipient.serial)!))
      return { state: 'undeliverable', reason: 'suppressed' };
    if (isOutside && isReserved(recipient.emailAddress))
      return { state: 'skipped', reason: 'reserved address' };
    return null;
  };
  const skips = new Map(recipients.map((recipient) => [recipient.serial, skipOf(recipient)]));
  const mails = await composing.compose(
    event,
    recipients.filter(({ serial }) => skips.get(serial) === null),
  );
  return tasks.map((task) => {
    const skip = skips.get(task.serial);
    return { task, digest: digests.get(task.serial) ?? '', content: contentOf(skip, mails.get(task.serial)) };
  });
}

function contentOf(skip: Skip | null | undefined, mail: ComposedMail | undefined): PreparedMail['content'] {
  if (skip === undefined) return { skip: { state: 'skipped', reason: 'missing' } };
  if (skip !== null) return { skip };
  return mail ? { mail } : null;
}
