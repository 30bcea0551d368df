import type { Delivery, DeliveryKind, Outcome } from '@floodgate/deliveries';
import { findWebhookNotice, WEBHOOK_DISABLED, type FoundNotice } from '@floodgate/webhooks';
import { isReserved, type LoadOptions } from '../attendees.ts';
import type { Letter } from '../letter.ts';
import { createFrame, type MailMessage, type Sender } from '../message.ts';
import { digestOf, findSuppressed } from '../suppressions.ts';

const DAY_MS = 86_400_000;
/** How long a notice waits for its partner to have a contact, and how soon it looks again. */
const KEPT_MS = 30 * DAY_MS;
const LOOK_AGAIN_MS = 60_000;

export type Notice = Omit<FoundNotice, 'state' | 'mode' | 'contact'> & { contact: string; disabledAt: Date };

/** The e-mail to the contact of a partner whose webhook was disabled. */
export function webhookDisabledKind({
  sender,
  ...options
}: LoadOptions & { sender: Sender }): DeliveryKind<MailMessage, Notice> {
  return {
    name: WEBHOOK_DISABLED,
    consumerKind: null,
    async load(deliveries) {
      const found = await Promise.all(deliveries.map((delivery) => loadNotice(options, delivery)));
      return new Map(found.flat());
    },
    render: (notice, { subject, revision }) => renderNotice(notice, { id: `${subject}.${revision}`, sender }),
  };
}

async function loadNotice(
  { db, isOutside }: LoadOptions,
  { shardId, subject, createdAt }: Delivery,
): Promise<[string, { item: Notice } | { outcome: Outcome }][]> {
  const found = await findWebhookNotice(db, shardId, subject);
  if (!found) return [];
  const instead = (state: Outcome['state'], reason: string, dueInMs = 0): ReturnType<typeof loadNotice> =>
    Promise.resolve([[subject, { outcome: { state, reason, dueInMs } }]]);
  const { state, mode, contact, ...notice } = found;
  if (state !== 'disabled') return instead('cancelled', 'resumed');
  if (isOutside && mode === 'test') return instead('suppressed', 'test event');
  if (contact === null || (isOutside && isReserved(contact)))
    return Date.now() - createdAt.getTime() > KEPT_MS
      ? instead('suppressed', 'no contact')
      : instead('queued', 'no contact', LOOK_AGAIN_MS);
  if ((await findSuppressed(db, [digestOf(contact)])).size > 0) return instead('suppressed', 'suppressed');
  return [[subject, { item: { ...notice, contact, disabledAt: createdAt } }]];
}

/** `id` names this edition of the notice, however often it is sent. */
export async function renderNotice(
  notice: Notice,
  { id, sender }: { id: string; sender: Sender },
): Promise<MailMessage> {
  const letter = letterOf(notice);
  const frame = await createFrame({ ...letter, sender });
  return frame({
    to: { name: '', address: notice.contact },
    messageId: `<webhook.${id}@${sender.domain}>`,
    letter,
  });
}

const timeText = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const REASONS: Record<Notice['reason'], string> = {
  gone: 'Your receiver answered 410 (Gone).',
  failing: 'For five days your receiver has accepted no message.',
};

/** Partners read English. */
function letterOf({ eventName, reason, failingSince, webhookId, waiting, ...notice }: Notice): Letter {
  const subject = `Your webhook for ${eventName} was switched off`;
  return {
    language: 'en',
    subject,
    preview: REASONS[reason],
    heading: subject,
    greeting: 'Hello,',
    news: `One of your webhooks for ${eventName} was switched off. ${REASONS[reason]}`,
    facts: [
      ['Webhook', webhookId],
      ['Description', notice.description],
      ['Receiver', notice.receiver],
      ['x-event-ref', notice.eventRef],
      ['Failing since', failingSince && timeText(failingSince)],
      ['Switched off', timeText(notice.disabledAt)],
      ['Not delivered yet', `${waiting} ${waiting === 1 ? 'change' : 'changes'}`],
    ],
    next: 'When your receiver is ready, continue where messages stopped:',
    call: `POST /api/v1/webhooks/${webhookId}/resume`,
    hints: [
      'Send your x-secret-key and the x-event-ref above. You then get everything that is still kept, so do not wait for long. GET …/attempts lists the attempts.',
      'See “Webhooks”, “When you do not answer” in the guide.',
    ],
    why: 'You get this e-mail because this is the contact address of a partner. The operator of the service can change it.',
  };
}
