import type { PageRequest } from '../add-page.ts';
import { valueWords } from '../words/index.ts';

/** The names that a filter has ids for. */
interface FilterNames {
  tickets: ReadonlyMap<number, string>;
  partners: ReadonlyMap<number, string>;
}

/** Returns a field of a filter of registrations in words: "State", "Confirmed". */
export function filterWords(name: string, value: string, { words, format }: PageRequest, names: FilterNames) {
  const { attendees, columns, states } = words.people;
  const stateNames: Partial<Record<string, string>> = states;
  const mailNames: Partial<Record<string, string>> = words.messages.states;
  const timeText = Number.isNaN(Date.parse(value)) ? value : format.timeText(new Date(value));
  const fields: Partial<Record<string, readonly [label: string, text: string | undefined]>> = {
    ticketId: [columns.ticket, names.tickets.get(Number(value))],
    partnerId: [columns.partner, names.partners.get(Number(value))],
    state: [columns.state, stateNames[value]],
    mail: [columns.mail, mailNames[value]],
    admitted: [columns.admitted, valueWords(words, value)],
    soldFrom: [attendees.soldFrom, timeText],
    soldUntil: [attendees.soldUntil, timeText],
    failure: [attendees.failure, value],
    name: [attendees.name, value],
    email: [attendees.email, value],
    phone: [attendees.phone, value],
    partnerReference: [attendees.partnerReference, value],
  };
  const [label, text] = fields[name] ?? [name, value];
  return { label, text: text ?? value };
}
