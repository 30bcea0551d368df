import type { Event } from '@floodgate/events/console';
import { maskPassCodes } from '@floodgate/contract';
import { InvalidInput } from '@floodgate/service';
import { html } from 'ghtml';
import type { PageRequest, Show } from '../add-page.ts';
import type { Operations } from '../operations.ts';
import { card, chip, facts, grid, Html, link, NOTHING, rows, together } from '../view/html.ts';
import { personPath } from './names.ts';
import { storyHtml } from './person-story.ts';
import { codeText, mailChip, registrationChip, remedyText, whyText } from './states.ts';

type Registration = Awaited<ReturnType<Operations['registrationShow']>>;
type Attendee = NonNullable<Awaited<ReturnType<Operations['attendeeShow']>>>;
type Mail = Awaited<ReturnType<Operations['mailShow']>>[number];

/** The context of a registration's page. */
interface PersonFacts {
  registration: Registration;
  event: Event | undefined;
  /** Undefined: the operator may not see attendees. */
  attendee: Attendee | undefined;
  mails: readonly Mail[] | undefined;
}

/** Shows a registration: who it is, what has happened, its e-mails, and what can be done. */
export const showPerson: Show = async (page) => {
  const { read, operations, params, words } = page;
  const { passReference } = params;
  const registration = (await read(operations.registrationShow, { passReference }))!;
  const { eventId } = registration;
  const [event, attendee, mails, story] = await Promise.all([
    read(operations.eventShow, { eventId }),
    read(operations.attendeeShow, { passReference }),
    read(operations.mailShow, { passReference }),
    read(operations.registrationStory, { passReference }),
  ]);
  const known = { registration, event, attendee, mails };
  const { people } = words;
  return {
    title: attendee?.fullName ?? maskPassCodes(registration.passReference),
    chips: chipsOf(known, page),
    about: aboutPerson(known, page),
    path: [link('/people', people.title), link(`/events/${eventId}/attendees`, event?.name ?? eventId)],
    actions: actionsOf(known, page),
    parts: [
      grid(
        column(
          8,
          card(people.whatHappened, storyHtml(story?.story ?? [], registration.passReference, page)),
          mails ? card(people.mails, mailsHtml(mails, page)) : '',
        ),
        column(4, card(people.facts, factsHtml(known, page)), await orderCard(known, page)),
      ),
    ],
    help: 'operate/console',
  };
};

const column = (size: 4 | 8, ...cards: string[]) => html`<div class="s${size}">!${cards}</div>`;

/** Returns the e-mail with the pass, if it was refused. */
const refusedPass = (mails: readonly Mail[] = []) =>
  mails.find(
    ({ kind, state }) => kind === 'confirmation' && (state === 'undeliverable' || state === 'suppressed'),
  );

function chipsOf({ registration, mails }: PersonFacts, { words }: PageRequest) {
  const isWithoutPass = registration.state === 'confirmed' && refusedPass(mails) !== undefined;
  return together(
    registrationChip(registration.state, words),
    registration.admitted ? chip('info', words.people.isAdmitted) : NOTHING,
    isWithoutPass ? chip('bad', words.people.hasNoPass) : NOTHING,
  );
}

function aboutPerson({ registration, attendee }: PersonFacts, { words, format }: PageRequest) {
  const { people } = words;
  const { ticketTitle, price, currency, partner, partnerReference } = registration;
  const reached = attendee ? [attendee.emailAddress, attendee.phoneNumber] : [];
  const paid = price === null ? null : format.money(price, currency);
  const order = partnerReference ? people.order(partnerReference) : null;
  const seller = [people.soldBy(partner), order].filter(Boolean).join(', ');
  const ticket = [ticketTitle, paid].filter(Boolean).join(', ');
  return new Html(html`${[...reached, ticket, seller].filter(Boolean).join(' · ')}`);
}

/** Without a pass, a person needs another address first. */
function actionsOf({ registration, mails }: PersonFacts, { action, operations, words }: PageRequest) {
  const { people } = words;
  const passReference = maskPassCodes(registration.passReference);
  if (registration.state === 'cancelled') return [];
  const isConfirmed = registration.state === 'confirmed';
  const isAddressWrong = refusedPass(mails)?.steps.includes('correct-address') ?? false;
  const correct = action(
    operations.registrationCorrect,
    { passReference },
    isAddressWrong ? people.correctAddress : people.correct,
    isAddressWrong ? { kind: 'primary' } : {},
  );
  const resend = action(
    operations.mailResend,
    { passReference, kind: 'confirmation' },
    people.sendAgain,
    isAddressWrong ? {} : { kind: 'primary' },
  );
  return [
    ...(isConfirmed ? (isAddressWrong ? [correct, resend] : [resend, correct]) : [correct]),
    action(operations.registrationReplace, { passReference }, people.giveSeat),
    action(operations.registrationCancel, { passReference }, people.cancel, { kind: 'danger' }),
  ];
}

function factsHtml({ registration, event, attendee }: PersonFacts, { words, format, may }: PageRequest) {
  const { columns, ...people } = words.people;
  const { partner, partnerId, dateReserved, dateCancelled, price, currency } = registration;
  const ofAttendee = attendee
    ? ([
        [columns.address, attendee.emailAddress],
        [columns.phone, attendee.phoneNumber],
        [columns.gender, attendee.gender],
        [columns.seat, attendee.tableOrSeat],
        [columns.extra, [attendee.extraData1, attendee.extraData2].filter(Boolean).join(', ')],
      ] as const)
    : [];
  const given = ofAttendee.filter(([, value]) => value);
  return facts(
    ...given,
    [columns.event, event && link(`/events/${event.id}`, event.name)],
    [columns.ticket, registration.ticketTitle],
    [columns.price, price === null ? null : format.money(price, currency)],
    [columns.partner, may('partners:read') ? link(`/partners/${partnerId}`, partner) : partner],
    [columns.order, registration.partnerReference],
    [columns.sold, format.time(new Date(dateReserved))],
    ...(dateCancelled ? ([[columns.cancelled, format.time(new Date(dateCancelled))]] as const) : []),
    [columns.admitted, registration.admitted ? people.isAdmitted : people.notAdmitted],
    [columns.reference, new Html(html`<code>${registration.passReference}</code>`)],
  );
}

function mailsHtml(mails: readonly Mail[], page: PageRequest) {
  const { words } = page;
  if (mails.length === 0) return html`<p class="none">${words.people.noMails}</p>`;
  return rows(...mails.map((mail) => mailRow(mail, page)));
}

/** Returns an e-mail with its state, and what to do if it did not arrive. */
function mailRow(mail: Mail, page: PageRequest) {
  const { words, format } = page;
  const { kind, state, sentAt, queuedAt, why, reason, steps } = mail;
  const because =
    why === null ? '' : html`<br />${whyText(why, words)} <span class="soft">${codeText(reason)}</span>`;
  const now = state === 'sent' && sentAt ? sentAt : queuedAt;
  const before =
    state !== 'sent' && sentAt ? html` · ${words.people.sentBefore(format.timeText(sentAt))}` : '';
  const remedy = steps.length > 0 ? html`<br /><span class="soft">${remedyText(steps, words)}</span>` : '';
  const buttons = mailButtons(mail, page).text;
  return new Html(
    html`<strong>${words.messages.kinds[kind]}</strong> !${mailChip(state, words).text}
      <span class="soft">· !${format.time(now)!.text}!${before}</span> !${because} !${remedy}
      !${buttons && html`<br /><span class="actions">!${buttons}</span>`}`,
  );
}

/** The head of the page sends the pass again. */
function mailButtons(
  { kind, steps, suppressionDigest }: Mail,
  { action, operations, params, words }: PageRequest,
) {
  const passReference = maskPassCodes(params.passReference);
  return together(
    steps.includes('lift') && suppressionDigest !== null
      ? action(operations.mailUnsuppress, { address: suppressionDigest }, words.messages.lift)
      : NOTHING,
    kind !== 'confirmation' && steps.includes('send-again')
      ? action(operations.mailResend, { passReference, kind }, words.messages.sendAgain)
      : NOTHING,
  );
}

/** Returns the other registrations of the same order. */
async function orderCard({ registration }: PersonFacts, page: PageRequest) {
  const { read, operations, words } = page;
  const { partnerReference, partnerId, eventId, passReference } = registration;
  if (!partnerReference) return '';
  const found = await read(operations.attendeeFind, { text: partnerReference, eventId }).catch(
    (error: unknown) => {
      // A reference without a letter or digit cannot be searched.
      if (error instanceof InvalidInput) return undefined;
      throw error;
    },
  );
  const others = (found?.attendees ?? []).filter(
    (hit) =>
      hit.partnerReference === partnerReference &&
      hit.partnerId === partnerId &&
      hit.passReference !== passReference,
  );
  if (others.length === 0) return '';
  const items = others.map(({ passReference: other, fullName, state }) => {
    const name = other === null ? new Html(html`${fullName}`) : link(personPath(other), fullName);
    return together(name, registrationChip(state, words));
  });
  return card(words.people.sameOrder(partnerReference), rows(...items));
}
