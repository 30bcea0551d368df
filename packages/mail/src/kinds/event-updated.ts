import type { DeliveryKind } from '@floodgate/deliveries';
import { EVENT_UPDATED } from '@floodgate/events';
import { calendarOf } from '../calendar.ts';
import { greetingName, loadAttendees, type Attendee, type LoadOptions } from '../load-attendees.ts';
import { eventFrames, whenText } from '../mail-event.ts';
import { createFrame, domainOf, type MailMessage, type Sender } from '../message.ts';
import { eventUpdatedHtml, eventUpdatedText } from '../templates/event-updated.ts';
import { WORDS } from '../templates/words.ts';

export { EVENT_UPDATED };

/** The e-mail with the new time and place of an event, to each attendee who has had a confirmation. */
export function eventUpdatedKind(
  options: LoadOptions & { sender: Sender },
): DeliveryKind<MailMessage, Attendee> {
  const { sender } = options;
  const frameOf = eventFrames(async (event) => {
    const calendar = calendarOf(event);
    const subject = WORDS[event.language].updatedSubject(event.name);
    const frame = await createFrame({ ...event, sender, subject, calendar });
    return { frame, when: whenText(event), hasCalendar: calendar !== null };
  });
  return {
    name: EVENT_UPDATED,
    load: (deliveries) => loadAttendees(options, deliveries),
    async render(attendee, { revision }) {
      const { event, serial, emailAddress } = attendee;
      const { frame, ...ofEvent } = await frameOf(event);
      const { language, name: eventName, venue } = event;
      const update = { language, eventName, venue, name: greetingName(attendee), ...ofEvent };
      return frame({
        to: { name: update.name ?? '', address: emailAddress },
        messageId: `<${serial}.${revision}.${event.ref}@${domainOf(sender)}>`,
        text: eventUpdatedText(update),
        html: eventUpdatedHtml(update),
        revision,
      });
    },
  };
}
