import { formatPassReference } from '@floodgate/contract';
import type { DeliveryKind } from '@floodgate/deliveries';
import { CONFIRMATION, EVENT_UPDATED } from '@floodgate/events';
import { qrPng, type PassSigner } from '@floodgate/passes';
import { greetingName, loadAttendees, type Attendee, type LoadOptions } from '../attendees.ts';
import { cachedByEvent, calendarOf, whenText } from '../mail-event.ts';
import { createFrame, type MailMessage, type Sender } from '../message.ts';
import { WORDS } from '../words.ts';

/** Half of what partners get: a picture of half the width takes half the time. */
const PIXELS_PER_MODULE = 4;

/** The e-mail with the pass, and the one with the new time and place of the event. */
export function attendeeKinds({
  passes,
  sender,
  ...options
}: LoadOptions & { passes: PassSigner; sender: Sender }): DeliveryKind<MailMessage, Attendee>[] {
  // The operator's switch is the journal consumer.
  const ofAttendees = { load: loadAttendees.bind(null, options), consumerKind: 'mail' };
  const confirmation = confirmationRenderer(sender);
  const update = createRenderer(sender, EVENT_UPDATED);
  return [
    {
      ...ofAttendees,
      name: CONFIRMATION,
      render: async (attendee) =>
        confirmation(attendee, await passes.tokenFor({ ...attendee, eventId: attendee.event.id })),
    },
    {
      ...ofAttendees,
      name: EVENT_UPDATED,
      render: (attendee, { revision }) => update(attendee, revision),
    },
  ];
}

/** Returns a renderer of e-mails with a pass. */
export function confirmationRenderer(sender: Sender) {
  const render = createRenderer(sender, CONFIRMATION);
  return (attendee: Attendee, passToken: string): Promise<MailMessage> =>
    render(attendee, attendee.event.revision, qrPng(passToken, PIXELS_PER_MODULE));
}

/** Returns a renderer of e-mails of a kind. It composes the common part of an event's e-mails once. */
function createRenderer(sender: Sender, kind: typeof CONFIRMATION | typeof EVENT_UPDATED) {
  const isConfirmation = kind === CONFIRMATION;
  const commonOf = cachedByEvent(async (event) => {
    const { language, name, ref, venue } = event;
    const words = WORDS[language];
    const ofKind = words[kind];
    const calendar = calendarOf(event);
    const pictureId = isConfirmation ? `pass.${ref}@${sender.domain}` : undefined;
    const letter = {
      language,
      subject: ofKind.subject(name),
      preview: ofKind.preview,
      heading: name,
      news: ofKind.news(name),
      ...(pictureId
        ? { picture: { ...words.picture, url: `cid:${pictureId}` } }
        : { next: words.passStaysValid }),
      hints: calendar ? [ofKind.calendar] : [],
      why: words.why(name),
    };
    const facts = [
      [words.when, whenText(event)],
      [words.where, venue],
    ] as const;
    const frame = await createFrame({ ...event, ...letter, sender, pictureId, calendar });
    return { frame, letter, facts, words };
  });
  return async (attendee: Attendee, revision: number, picture?: Buffer): Promise<MailMessage> => {
    const { event, serial, emailAddress, ticketTitle, seat } = attendee;
    const { frame, letter, facts, words } = await commonOf(event);
    const name = greetingName(attendee);
    const passReference = formatPassReference({ ...attendee, prefix: event.passPrefix, eventId: event.id });
    const ofAttendee = [
      [words.ticket, ticketTitle],
      [words.seat, seat],
      [words.passReference, passReference],
    ] as const;
    return frame({
      to: { name: name ?? '', address: emailAddress },
      messageId: `<${serial}.${isConfirmation ? '' : `${revision}.`}${event.ref}@${sender.domain}>`,
      letter: {
        ...letter,
        greeting: words.greeting(name),
        facts: isConfirmation ? [...facts, ...ofAttendee] : facts,
      },
      picture,
      revision,
    });
  };
}
