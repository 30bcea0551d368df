import type { Delivery, DeliveryKind, Loaded, Outcome } from '@floodgate/deliveries';
import { findWebhookNotice, WEBHOOK_DISABLED, type FoundNotice } from '@floodgate/webhooks';
import type { Letter } from '../letter.ts';
import { createFrame, type MailMessage, type Sender } from '../message.ts';
import { findRefusals, type LoadOptions } from '../suppressions.ts';

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
      const loaded: Loaded<Notice> = new Map();
      for (const delivery of deliveries) loaded.set(delivery.subject, await loadNotice(options, delivery));
      return loaded;
    },
    render: (notice, { revision }) => renderNotice(notice, { revision, sender }),
  };
}

async function loadNotice(
  options: LoadOptions,
  { shardId, subject, createdAt }: Delivery,
): Promise<{ item: Notice } | { outcome: Outcome }> {
  const found = await findWebhookNotice(options.db, shardId, subject);
  if (!found) return { outcome: { state: 'cancelled', reason: 'missing' } };
  const { state, mode, contact, ...notice } = found;
  if (state !== 'disabled') return { outcome: { state: 'cancelled', reason: 'resumed' } };
  const [refusal] = await findRefusals(options, mode, [contact ?? '']);
  if (contact !== null && !refusal) return { item: { ...notice, contact, disabledAt: createdAt } };
  if (refusal && refusal !== 'reserved address') return { outcome: { state: 'suppressed', reason: refusal } };
  const isOver = Date.now() - createdAt.getTime() > KEPT_MS;
  const outcome = { reason: 'no contact', dueInMs: LOOK_AGAIN_MS };
  return { outcome: { ...outcome, state: isOver ? 'suppressed' : 'queued' } };
}

const timeText = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const REASONS: Record<Notice['reason'], string> = {
  gone: 'Your receiver answered 410 (Gone).',
  failing: 'For five days your receiver has accepted no message.',
};

/** Composes an edition of a notice, in English. */
export async function renderNotice(
  { eventName, reason, failingSince, webhookId, waiting, ...notice }: Notice,
  { revision, sender }: { revision: number; sender: Sender },
): Promise<MailMessage> {
  const subject = `Your webhook for ${eventName} was switched off`;
  const letter: Omit<Letter, 'greeting'> = {
    language: 'en',
    subject,
    preview: REASONS[reason],
    heading: subject,
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
  const frame = await createFrame({ letter, sender });
  return frame({
    to: { name: '', address: notice.contact },
    messageId: `<webhook.${webhookId}.${revision}@${sender.domain}>`,
    greeting: 'Hello,',
    revision,
  });
}
