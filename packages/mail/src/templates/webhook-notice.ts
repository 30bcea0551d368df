import { html } from 'ghtml';
import { factTable, layout } from './layout.ts';

/** What a partner is told of a webhook that was given up. In English, as everything that partners are told. */
export interface WebhookNotice {
  webhookId: string;
  /** Host and path alone: the rest of a URL may be a secret. */
  receiver: string;
  /** As the partner has called it; may be empty. */
  description: string;
  eventName: string;
  eventRef: string;
  reason: 'gone' | 'failing';
  /** Null: it had not failed before. */
  failingSince: Date | null;
  givenUpAt: Date;
  /** Changes that were not told. */
  waiting: number;
}

const timeText = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const REASONS: Record<WebhookNotice['reason'], string> = {
  gone: 'Your receiver answered 410 (Gone).',
  failing: 'For five days your receiver has accepted nothing.',
};
const GUIDE = 'The guide has it all: “Webhooks”, “When you do not answer”.';
const WHY =
  'You get this e-mail because this is the contact address of a partner. Whoever runs the service can change it.';

const summary = ({ eventName, reason }: WebhookNotice) =>
  `A webhook of yours for ${eventName} was switched off. ${REASONS[reason]}`;

const resumeCall = ({ webhookId }: WebhookNotice) => `POST /api/v1/webhooks/${webhookId}/resume`;
const HOW_TO_RESUME = 'When your receiver is ready, have messages go on where they stopped:';
const WITH_HEADERS =
  'With your x-secret-key, and the x-event-ref above. You are told of everything that is still kept, so do not wait for long. GET …/attempts says what was tried.';

function factsOf(notice: WebhookNotice): [string, string][] {
  const facts: [string, string | null][] = [
    ['Webhook', notice.webhookId],
    ['Description', notice.description],
    ['Receiver', notice.receiver],
    ['x-event-ref', notice.eventRef],
    ['Failing since', notice.failingSince && timeText(notice.failingSince)],
    ['Switched off', timeText(notice.givenUpAt)],
    ['Not told yet', `${notice.waiting} ${notice.waiting === 1 ? 'change' : 'changes'}`],
  ];
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
}

export const noticeSubject = ({ eventName }: Pick<WebhookNotice, 'eventName'>) =>
  `Your webhook for ${eventName} was switched off`;

/** Returns the e-mail as text. */
export const noticeText = (notice: WebhookNotice): string =>
  [
    'Hello,',
    '',
    summary(notice),
    '',
    ...factsOf(notice).map(([label, fact]) => `${label}: ${fact}`),
    '',
    HOW_TO_RESUME,
    '',
    `  ${resumeCall(notice)}`,
    '',
    WITH_HEADERS,
    GUIDE,
    '',
    '-- ',
    WHY,
    '',
  ].join('\r\n');

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
  const paragraph = 'margin:20px 0;color:#1b2430;font-size:16px;line-height:1.5;overflow-wrap:anywhere';
  return html`<h1
      class="text"
      style="margin:0 0 16px;color:#1b2430;font-size:24px;line-height:1.25;overflow-wrap:anywhere"
    >
      ${noticeSubject(notice)}
    </h1>
    <p class="text" style="!${paragraph}">${summary(notice)}</p>
    !${factTable(factsOf(notice))}
    <p class="text" style="!${paragraph}">
      ${HOW_TO_RESUME}<br /><code style="font-size:14px">${resumeCall(notice)}</code>
    </p>
    <p class="quiet" style="margin:20px 0 0;color:#5b6573;font-size:14px;line-height:1.5">
      ${WITH_HEADERS} ${GUIDE}
    </p>`;
}
