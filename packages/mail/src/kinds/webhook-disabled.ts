import type { Delivery, DeliveryKind, Outcome } from '@floodgate/deliveries';
import { findWebhookNotice, WEBHOOK_DISABLED, type FoundNotice } from '@floodgate/webhooks';
import { isReserved, type LoadOptions } from '../load-attendees.ts';
import { createFrame, domainOf, type MailMessage, type Sender } from '../message.ts';
import { digestOf, findSuppressed } from '../suppressions.ts';
import { noticeHtml, noticeSubject, noticeText, type WebhookNotice } from '../templates/webhook-disabled.ts';

export { WEBHOOK_DISABLED } from '@floodgate/webhooks';

const DAY_MS = 86_400_000;
/** How long a notice waits for its partner to have a contact, and how soon it looks again. */
const KEPT_MS = 30 * DAY_MS;
const LOOK_AGAIN_MS = 60_000;

export type Notice = WebhookNotice & { contact: string };

/** The e-mail to the contact of a partner whose webhook was disabled. */
export function webhookDisabledKind(
  options: LoadOptions & { sender: Sender },
): DeliveryKind<MailMessage, Notice> {
  const { db, sender } = options;
  return {
    name: WEBHOOK_DISABLED,
    async load(deliveries) {
      const found = await Promise.all(
        deliveries.map(async (delivery) => {
          const notice = await findWebhookNotice(db, delivery.shardId, delivery.subject);
          return notice ? [[delivery.subject, await itemOf(options, delivery, notice)] as const] : [];
        }),
      );
      return new Map(found.flat());
    },
    render: (notice, { subject, revision }) => renderNotice(notice, { id: `${subject}.${revision}`, sender }),
  };
}

async function itemOf(
  { db, isOutside }: LoadOptions,
  { createdAt }: Delivery,
  { state, mode, contact, ...found }: FoundNotice,
): Promise<{ item: Notice } | { outcome: Outcome }> {
  if (state !== 'disabled') return { outcome: { state: 'cancelled', reason: 'resumed' } };
  if (isOutside && mode === 'test') return { outcome: { state: 'suppressed', reason: 'test event' } };
  if (contact === null || (isOutside && isReserved(contact))) {
    const isOld = Date.now() - createdAt.getTime() > KEPT_MS;
    return isOld
      ? { outcome: { state: 'suppressed', reason: 'no contact' } }
      : { outcome: { state: 'queued', reason: 'no contact', dueInMs: LOOK_AGAIN_MS } };
  }
  if ((await findSuppressed(db, [digestOf(contact)])).size > 0)
    return { outcome: { state: 'suppressed', reason: 'suppressed' } };
  return { item: { ...found, contact, disabledAt: createdAt } };
}

/** `id` names this edition of the notice, however often it is sent. */
export async function renderNotice(notice: Notice, { id, sender }: { id: string; sender: Sender }) {
  const frame = await createFrame({ sender, subject: noticeSubject(notice), language: 'en' });
  return frame({
    to: { name: '', address: notice.contact },
    messageId: `<webhook.${id}@${domainOf(sender)}>`,
    text: noticeText(notice),
    html: noticeHtml(notice),
  });
}
