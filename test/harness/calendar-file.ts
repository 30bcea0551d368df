import ICAL from 'ical.js';

/** A calendar file, read by a parser that is not ours. */
export interface CalendarFile {
  method: string;
  event: ICAL.Event;
  component: ICAL.Component;
  text: string;
}

/** The part of an e-mail with the file. A parser of e-mails would change the ends of its lines. */
const PART = /^Content-Type: text\/calendar;[^]*?method=([A-Z]+)[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/m;

/** Returns the calendar file of an e-mail; undefined if it has none. */
export function calendarOf({ content }: { content: string }): CalendarFile | undefined {
  const [, method, file] = PART.exec(content) ?? [];
  if (file === undefined) return undefined;
  const calendar = readCalendar(Buffer.from(file, 'base64'));
  if (calendar.method !== method) throw new Error('the type of the file names another method');
  return calendar;
}

/** Reads a calendar file. Throws if it breaks a rule of RFC 5545 or RFC 5546 that programs rely on. */
export function readCalendar(file: Buffer): CalendarFile {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(file);
  for (const line of linesOf(file)) {
    if (line.length > 75) throw new Error(`${line.length} octets in a line`);
    // A fold inside a character would make two broken ones.
    new TextDecoder('utf-8', { fatal: true }).decode(line);
  }
  if (/(?<!\r)\n|\r(?!\n)/.test(text)) throw new Error('a line does not end with CRLF');
  const calendar = new ICAL.Component(ICAL.parse(text) as []);
  const component = calendar.getFirstSubcomponent('vevent')!;
  const method = String(calendar.getFirstPropertyValue('method'));
  if (calendar.getFirstPropertyValue('version') !== '2.0' || !calendar.getFirstPropertyValue('prodid'))
    throw new Error('no VERSION or PRODID');
  checkEvent(component, method);
  return { method, component, event: new ICAL.Event(component), text };
}

function linesOf(file: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0, end = file.indexOf('\r\n'); end !== -1; end = file.indexOf('\r\n', start)) {
    lines.push(file.subarray(start, end));
    start = end + 2;
  }
  return lines;
}

/** The table of each method in RFC 5546, 3.2. */
function checkEvent(event: ICAL.Component, method: string): void {
  const needed = ['uid', 'dtstamp', 'organizer', 'dtstart', 'summary', 'sequence'];
  for (const name of needed)
    if (event.getAllProperties(name).length !== 1) throw new Error(`${name} is not there once`);
  const organizer = String(event.getFirstPropertyValue('organizer'));
  if (!/^mailto:\S+@\S+$/.test(organizer)) throw new Error(`the organizer is ${organizer}`);
  for (const name of ['dtstamp', 'dtstart'])
    if ((event.getFirstPropertyValue(name) as ICAL.Time).zone !== ICAL.Timezone.utcTimezone)
      throw new Error(`${name} is not in UTC`);
  const status = event.getFirstPropertyValue('status');
  if ((method === 'CANCEL') !== (status === 'CANCELLED')) throw new Error(`${method} with ${String(status)}`);
}
