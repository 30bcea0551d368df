import type { Delivery, DeliveryKind, LoadedItems, Outcome } from '@floodgate/deliveries';
import { findNoticeContent, WEBHOOK_DISABLED, type NoticeContent } from '@floodgate/webhooks/notices';
import type { Letter, Sender } from '../letter.ts';
import { createFrame, type MailMessage } from '../message.ts';
import { findRefusals, type RefusalOptions } from './refusals.ts';

const DAY_MS = 86_400_000;
/** A notice waits this long for its partner to have a contact, which is checked every RECHECK_MS. */
const KEPT_MS = 30 * DAY_MS;
const RECHECK_MS = 60_000;

/** The content of a notice that can be sent. */
export interface Notice extends Omit<NoticeContent, 'state' | 'mode' | 'contact'> {
  contact: string;
  disabledAt: Date;
}

/** The e-mail to the contact of a partner whose webhook was disabled. */
export const webhookDisabledKind = (
  options: RefusalOptions & { sender: Sender },
): DeliveryKind<MailMessage, Notice> => ({
  name: WEBHOOK_DISABLED,
  consumerKind: null,
  async load(deliveries) {
    const loaded: LoadedItems<Notice> = new Map();
    for (const delivery of deliveries) loaded.set(delivery.subject, await loadNotice(options, delivery));
    return loaded;
  },
  render: (notice, { revision }) => renderNotice(notice, options.sender, revision),
});

async function loadNotice(
  options: RefusalOptions,
  { shardId, subject, createdAt }: Delivery,
): Promise<{ item: Notice } | { outcome: Outcome }> {
  const content = await findNoticeContent(options.db, shardId, subject);
  if (content?.state !== 'disabled')
    return { outcome: { state: 'cancelled', reason: content ? 'resumed' : 'missing' } };
  const { state: _state, mode, contact, ...notice } = content;
  const [refusal] = await findRefusals(options, mode, [contact ?? '']);
  if (contact !== null && !refusal) return { item: { ...notice, contact, disabledAt: createdAt } };
  if (refusal && refusal !== 'reserved address') return { outcome: { state: 'suppressed', reason: refusal } };
  const isOver = Date.now() - createdAt.getTime() > KEPT_MS;
  const outcome = { reason: 'no contact', dueInMs: RECHECK_MS };
  return { outcome: { ...outcome, state: isOver ? 'suppressed' : 'queued' } };
}

const timeText = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const REASONS: Record<Notice['reason'], string> = {
  gone: 'Your receiver answered 410 (Gone).',
  failing: 'Your receiver has accepted no message for five days.',
};

/** Composes an edition of a notice, in English. */
export async function renderNotice(
  { eventName, reason, failingSince, webhookId, waiting, ...notice }: Notice,
  sender: Sender,
  revision: number,
): Promise<MailMessage> {
  const subject = `Your webhook for ${eventName} was disabled`;
  const letter: Omit<Letter, 'greeting'> = {
    language: 'en',
    subject,
    preview: REASONS[reason],
    heading: subject,
    news: `One of your webhooks for ${eventName} was disabled. ${REASONS[reason]}`,
    facts: [
      ['Webhook', webhookId],
      ['Description', notice.description],
      ['Receiver', notice.receiver],
      ['x-event-ref', notice.eventRef],
      ['Failing since', failingSince && timeText(failingSince)],
      ['Disabled', timeText(notice.disabledAt)],
      ['Not delivered yet', `${waiting} ${waiting === 1 ? 'change' : 'changes'}`],
    ],
    next: 'When your receiver is ready, resume the webhook:',
    call: `POST /api/v1/webhooks/${webhookId}/resume`,
    hints: [
      'Send your x-secret-key and the x-event-ref above. You then get all changes that are still kept, ' +
        'so resume soon. GET …/attempts lists the attempts.',
      'See “Webhooks”, “When you do not answer” in the guide.',
    ],
    why:
      'You get this e-mail because this is the contact address of a partner. ' +
      'The operator of the service can change it.',
  };
  const frame = await createFrame({ letter, sender });
  return frame({
    to: { name: '', address: notice.contact },
    messageId: `<webhook.${webhookId}.${revision}@${sender.domain}>`,
    greeting: 'Hello,',
    revision,
  });
}
