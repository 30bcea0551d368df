import { html } from 'ghtml';
import { factTable, heading, layout, TEXT, textMail, type Fact } from './layout.ts';

/** The data of the e-mail about a disabled webhook. Partners read English. */
export interface WebhookNotice {
  webhookId: string;
  /** Host and path alone: the rest of a URL may be a secret. */
  receiver: string;
  /** The partner's own; may be empty. */
  description: string;
  eventName: string;
  eventRef: string;
  reason: 'gone' | 'failing';
  /** Null: no attempt had failed before. */
  failingSince: Date | null;
  disabledAt: Date;
  /** Changes that were not delivered. */
  waiting: number;
}

const timeText = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const REASONS: Record<WebhookNotice['reason'], string> = {
  gone: 'Your receiver answered 410 (Gone).',
  failing: 'For five days your receiver has accepted no message.',
};
const GUIDE = 'See “Webhooks”, “When you do not answer” in the guide.';
const WHY =
  'You get this e-mail because this is the contact address of a partner. The operator of the service can change it.';

const summary = ({ eventName, reason }: WebhookNotice) =>
  `One of your webhooks for ${eventName} was switched off. ${REASONS[reason]}`;

const resumeCall = ({ webhookId }: WebhookNotice) => `POST /api/v1/webhooks/${webhookId}/resume`;
const HOW_TO_RESUME = 'When your receiver is ready, continue where messages stopped:';
const WITH_HEADERS =
  'Send your x-secret-key and the x-event-ref above. You then get everything that is still kept, so do not wait for long. GET …/attempts lists the attempts.';

const factsOf = (notice: WebhookNotice): Fact[] => [
  ['Webhook', notice.webhookId],
  ['Description', notice.description],
  ['Receiver', notice.receiver],
  ['x-event-ref', notice.eventRef],
  ['Failing since', notice.failingSince && timeText(notice.failingSince)],
  ['Switched off', timeText(notice.disabledAt)],
  ['Not delivered yet', `${notice.waiting} ${notice.waiting === 1 ? 'change' : 'changes'}`],
];

export const noticeSubject = ({ eventName }: Pick<WebhookNotice, 'eventName'>) =>
  `Your webhook for ${eventName} was switched off`;

/** Returns the e-mail as text. */
export const noticeText = (notice: WebhookNotice): string =>
  textMail({
    intro: ['Hello,', '', summary(notice)],
    facts: factsOf(notice),
    rest: [HOW_TO_RESUME, '', `  ${resumeCall(notice)}`, '', WITH_HEADERS, GUIDE],
    why: WHY,
  });

/** Returns the e-mail as HTML. */
export const noticeHtml = (notice: WebhookNotice): string =>
  layout({
    language: 'en',
    title: noticeSubject(notice),
    preview: REASONS[notice.reason],
    body: body(notice),
    why: WHY,
  });

function body(notice: WebhookNotice): string {
  return html`!${heading(noticeSubject(notice))}
    <p class="text" style="margin:20px 0;!${TEXT}">${summary(notice)}</p>
    !${factTable(factsOf(notice))}
    <p class="text" style="margin:20px 0;!${TEXT}">
      ${HOW_TO_RESUME}<br /><code style="font-size:14px">${resumeCall(notice)}</code>
    </p>
    <p class="quiet" style="margin:20px 0 0;color:#5b6573;font-size:14px;line-height:1.5">
      ${WITH_HEADERS} ${GUIDE}
    </p>`;
}
