import type { MailCounts, MailFailure } from '@floodgate/mail/console';
import { maskPassCodes } from '@floodgate/contract';
import { html } from 'ghtml';
import {
  actions,
  address,
  card,
  chip,
  Html,
  link,
  NOTHING,
  together,
  type Shown,
  type Tone,
} from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { pager } from '../view/pager.ts';
import type { EventPageRequest } from './event-page.ts';
import { previewLinks } from './mail-preview.ts';
import { personPath } from './names.ts';
import { codeText, mailChip, remedyText, whyText } from './states.ts';

const PER_PAGE = 25;
/** The states of e-mails in the order of the table. `sending` is shown as waiting. */
const STATES = ['sent', 'queued', 'retry', 'undeliverable', 'suppressed', 'cancelled'] as const;

const SWITCH_TONES: Record<MailCounts['switch'], Tone> = {
  active: 'ok',
  paused: 'warn',
  disabled: 'bad',
  off: 'quiet',
};

/** Shows the e-mails of an event: whether they are on, how many, who did not get one, and how they look. */
export async function showMessages(page: EventPageRequest) {
  const { event, read, operations, words } = page;
  const { messages } = words;
  const eventId = event.id;
  const counts = (await read(operations.mailCounts, { eventId }))!;
  return {
    parts: [
      switchHtml(page, counts),
      card(messages.failures, await failuresHtml(page, counts)),
      card(messages.byKind, countsHtml(page, counts)),
      card(messages.previews, previewLinks(page)),
    ],
    help: 'operate/mail',
  };
}

/** Returns whether e-mails are on, what that means, and what can be done. */
function switchHtml({ event, action, operations, words, may }: EventPageRequest, counts: MailCounts) {
  const { messages } = words;
  const state = counts.switch;
  const given = { eventId: event.id };
  const about = event.mode === 'test' ? messages.about.test : messages.about[state];
  const buttons = {
    off: [action(operations.mailEnable, given, messages.enable, { kind: 'primary' })],
    active: [
      action(operations.mailPause, given, messages.pause),
      action(operations.mailDisable, given, messages.disable),
    ],
    paused: [
      action(operations.mailResume, given, messages.resume, { kind: 'primary' }),
      action(operations.mailDisable, given, messages.disable),
    ],
    disabled: [action(operations.mailResume, given, messages.resume, { kind: 'primary' })],
  };
  const row = actions(
    ...buttons[state],
    state === 'off' ? NOTHING : action(operations.eventNotifyHolders, given, messages.tellHolders),
    may('mail:write') ? action(operations.mailTest, {}, messages.test) : NOTHING,
  );
  return html`<section class="card">
    <p>!${chip(SWITCH_TONES[state], messages.switch[state]).text} ${about}</p>
    !${row}
  </section>`;
}

/** Returns the e-mails by kind, one column per state that occurs. */
function countsHtml({ words, format }: EventPageRequest, { counts, uncounted }: MailCounts) {
  const { messages } = words;
  const numberOf = (kind: string, state: string) =>
    counts
      .filter((one) => one.kind === kind && (one.state === 'sending' ? 'queued' : one.state) === state)
      .reduce((sum, { count }) => sum + count, 0);
  const kinds = [...new Set(counts.map(({ kind }) => kind))];
  const states = STATES.filter((state) => kinds.some((kind) => numberOf(kind, state) > 0));
  const names = format.list(uncounted.map((kind) => messages.kinds[kind]));
  const note =
    uncounted.length > 0 && html`<p class="soft">${messages.uncounted(names, format.number(50_000))}</p>`;
  return html`!${note || ''}
  !${listing({
    caption: messages.byKind,
    things: kinds,
    empty: messages.noMails,
    format,
    columns: [
      { head: messages.kind, cell: (kind) => messages.kinds[kind] },
      ...states.map((state) => ({
        head: messages.states[state],
        cell: (kind: (typeof kinds)[number]): Shown => numberOf(kind, state),
      })),
    ],
  })}`;
}

/** Returns who did not get an e-mail, why, and what to do. */
async function failuresHtml(page: EventPageRequest, { counts }: MailCounts) {
  const { event, query, read, operations, words, format, action } = page;
  const { messages } = words;
  const eventId = event.id;
  const { after } = query;
  const { failures, cursor } = (await read(operations.mailFailures, { eventId, after, limit: PER_PAGE }))!;
  const path = `/events/${eventId}/messages`;
  const first = after ? html`<a class="button" href="${path}">${messages.first}</a>` : '';
  const all = { eventId, mail: 'undeliverable' as const };
  return html`!${listing({
    caption: messages.failures,
    things: failures,
    empty: noFailuresText(page, counts.length > 0),
    format,
    columns: [
      { head: messages.person, cell: (failure) => personHtml(failure, page) },
      {
        head: messages.kind,
        cell: ({ kind, state }) => kindHtml(messages.kinds[kind], mailChip(state, words)),
      },
      { head: messages.why, cell: ({ why, reason }) => whyHtml(whyText(why, words), reason) },
      { head: messages.since, cell: ({ since }) => format.ago(since) },
      { head: messages.remedy, cell: (failure) => remedyHtml(failure, page) },
    ],
  })}
  !${first} !${pager(words, undefined, cursor === null ? undefined : address(path, { after: cursor }))}
  !${failures.length > 0 ? actions(action(operations.jobResend, all, messages.retry)) : ''}`;
}

function noFailuresText({ event, words: { messages } }: EventPageRequest, isAnySent: boolean) {
  if (event.mode === 'test') return messages.noFailuresOfTest;
  return isAnySent ? messages.noFailures : messages.noMails;
}

const kindHtml = (kind: string, state: Html) => new Html(html`${kind}<br />!${state.text}`);

const whyHtml = (why: string | null, reason: string | null) =>
  new Html(html`${why ?? '–'}<br /><span class="soft">${codeText(reason)}</span>`);

function personHtml({ passReference, fullName, emailAddress }: MailFailure, { words }: EventPageRequest) {
  const reached = emailAddress === undefined ? '' : html`<br /><span class="soft">${emailAddress}</span>`;
  if (passReference === null)
    return new Html(html`<bdi>${fullName ?? words.messages.notNamed}</bdi>!${reached}`);
  const name = link(personPath(passReference), fullName ?? maskPassCodes(passReference));
  return new Html(html`<bdi>!${name.text}</bdi>!${reached}`);
}

/** Returns what to do, with the forms that do it. */
function remedyHtml(failure: MailFailure, { words, action, operations }: EventPageRequest) {
  const { messages } = words;
  const { steps, suppressionDigest } = failure;
  const of = nameOf(failure);
  const lift =
    suppressionDigest !== null && steps.includes('lift')
      ? action(operations.mailUnsuppress, { address: suppressionDigest }, messages.lift, { of })
      : NOTHING;
  const buttons = together(lift, ...ofRegistration(failure, words, action, operations));
  return new Html(html`${remedyText(steps, words)}<br /><span class="actions">!${buttons.text}</span>`);
}

/** Returns the name of the person, otherwise the reference of the pass. */
const nameOf = ({ fullName, passReference }: MailFailure) =>
  fullName ?? (passReference === null ? undefined : maskPassCodes(passReference));

/** Returns the forms about the registration of an e-mail. An offer is about none. */
function ofRegistration(
  failure: MailFailure,
  { messages }: EventPageRequest['words'],
  action: EventPageRequest['action'],
  operations: EventPageRequest['operations'],
) {
  const { kind, state, steps, passReference: whole } = failure;
  if (whole === null || kind === 'waiting-offer') return [];
  const of = nameOf(failure);
  const passReference = maskPassCodes(whole);
  const mayHelp = (step: MailFailure['steps'][number]) => state === 'waiting' || steps.includes(step);
  return [
    mayHelp('correct-address')
      ? action(operations.registrationCorrect, { passReference }, messages.correct, { of })
      : NOTHING,
    mayHelp('send-again')
      ? action(operations.mailResend, { passReference, kind }, messages.sendAgain, { of })
      : NOTHING,
  ];
}
