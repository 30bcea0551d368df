import { formatPassReference } from '@floodgate/contract';
import type { DeliveryKind } from '@floodgate/deliveries';
import { CONFIRMATION } from '@floodgate/events';
import { qrPng, type PassSigner } from '@floodgate/passes';
import { calendarOf } from '../calendar.ts';
import { greetingName, loadAttendees, type Attendee, type LoadOptions } from '../load-attendees.ts';
import { eventFrames, whenText, type MailEvent } from '../mail-event.ts';
import { createFrame, domainOf, type MailMessage, type Sender } from '../message.ts';
import { confirmationHtml, confirmationText, type Confirmation } from '../templates/confirmation.ts';
import { WORDS } from '../templates/words.ts';

export { CONFIRMATION };

/** Half of what partners get: a picture of half the width takes half the time. */
const PIXELS_PER_MODULE = 4;

/** The e-mail with the pass, to each attendee who is confirmed. */
export function confirmationKind(
  options: LoadOptions & { passes: PassSigner; sender: Sender },
): DeliveryKind<MailMessage, Attendee> {
  const render = confirmationRenderer(options.sender);
  return {
    name: CONFIRMATION,
    load: (deliveries) => loadAttendees(options, deliveries),
    render: async (attendee) =>
      render(attendee, await options.passes.tokenFor({ ...attendee, eventId: attendee.event.id })),
  };
}

/** Returns a renderer of confirmations. It composes the common part of an event's e-mails once. */
export function confirmationRenderer(sender: Sender) {
  const frameOf = eventFrames(async (event) => {
    const calendar = calendarOf(event);
    const pictureId = `pass.${event.ref}@${domainOf(sender)}`;
    const subject = WORDS[event.language].subject(event.name);
    const frame = await createFrame({ ...event, sender, subject, pictureId, calendar });
    return { frame, when: whenText(event), hasCalendar: calendar !== null, qrSource: `cid:${pictureId}` };
  });
  return async (attendee: Attendee, passToken: string): Promise<MailMessage> => {
    const { frame, ...ofEvent } = await frameOf(attendee.event);
    const confirmation = { ...confirmationOf(attendee.event, attendee), ...ofEvent };
    const { serial, emailAddress, event } = attendee;
    return frame({
      to: { name: confirmation.name ?? '', address: emailAddress },
      messageId: `<${serial}.${event.ref}@${domainOf(sender)}>`,
      text: confirmationText(confirmation),
      html: confirmationHtml(confirmation),
      picture: qrPng(passToken, PIXELS_PER_MODULE),
      revision: event.revision,
    });
  };
}

const confirmationOf = (
  event: MailEvent,
  attendee: Attendee,
): Omit<Confirmation, 'when' | 'hasCalendar' | 'qrSource'> => ({
  language: event.language,
  eventName: event.name,
  venue: event.venue,
  name: greetingName(attendee),
  ticket: attendee.ticketTitle,
  seat: attendee.seat,
  passReference: formatPassReference({ ...attendee, prefix: event.passPrefix, eventId: event.id }),
});
