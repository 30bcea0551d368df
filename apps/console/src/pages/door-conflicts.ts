import type { CancelledSeat, Conflict, DoorReport, LetIn } from '@floodgate/door/console';
import { html } from 'ghtml';
import { address, alertHtml, Html, link, type Shown } from '../view/html.ts';
import { listing, type Column } from '../view/listing.ts';
import type { Look } from './door-words.ts';

/** The report of the command has all of them. */
const MOST = 100;

/** A pass that was scanned. */
interface Scanned {
  passReference: string;
  fullName: string | null;
}

interface Place {
  at: Date;
  gate: string;
  device: string;
}

/** Returns the attendee of a pass by name, for those who may see it, otherwise by the pass. */
export const personOf = ({ passReference, fullName }: Scanned) =>
  new Html(
    html`<a href="/people/${encodeURIComponent(passReference)}">${fullName ?? passReference}</a>
      !${fullName === null ? '' : html`<small class="soft">${passReference}</small>`}`,
  );

/** Returns a link to what happened at the door to the person with a pass. */
const storyLink = ({ event, words }: Look, passReference: string) =>
  link(address(`/events/${event.id}/door/story`, { passReference }), words.door.atDoor);

const placeOf = ({ gate, device }: Place) => [gate, device].filter(Boolean).join(', ');

const personAt = ({ format }: Look, scanned: Scanned & Place) =>
  new Html(
    html`!${personOf(scanned).text}<br />!${format.exactTime(scanned.at)!.text}<br />
      <span class="soft">${placeOf(scanned)}</span>`,
  );

interface Latest<Thing> {
  title: string;
  empty: string;
  things: readonly Thing[];
  columns: readonly (Column<Thing> | false)[];
}

/** Returns a table of the latest things. */
function latestHtml<Thing>(
  { format, words: { door } }: Look,
  { title, empty, things, columns }: Latest<Thing>,
) {
  const shown = things.toReversed().slice(0, MOST);
  const cut = door.cut(format.number(shown.length), format.number(things.length));
  return html`!${listing({ caption: title, isTitled: true, things: shown, empty, format, columns })}
  !${shown.length < things.length ? html`<p class="hint">${cut}</p>` : ''}`;
}

/** Returns every conflict with the names of the people, as far as the report has them. */
export function conflictsHtml(report: DoorReport, look: Look) {
  const hasAreas = new Set(report.gates.map(({ area }) => area)).size > 1;
  return [
    alertHtml(report.proved ? '' : look.words.door.tooMany),
    ...peopleHtml(report, look, hasAreas),
    ...sumsHtml(report, look),
  ];
}

const reasonIn = ({ words: { door } }: Look, reason: string) => door.outcomes[reason] ?? reason;

/** Returns the people who were let in although they should not have been. */
function peopleHtml({ conflicts, cancelled, letIn }: DoorReport, look: Look, hasAreas: boolean) {
  const { words, format } = look;
  const { door } = words;
  const areaColumn = hasAreas && { head: door.area, cell: ({ area }: { area: string }) => area };
  return [
    latestHtml<Conflict>(look, {
      title: door.twiceTitle,
      empty: door.noConflicts,
      things: conflicts,
      columns: [
        { head: door.firstPerson, cell: ({ first }) => personAt(look, first) },
        { head: door.secondPerson, cell: ({ again }) => personAt(look, again) },
        areaColumn,
        { head: '', cell: ({ again }) => storyLink(look, again.passReference) },
      ],
    }),
    latestHtml<CancelledSeat>(look, {
      title: door.cancelledTitle,
      empty: door.noCancelled,
      things: cancelled,
      columns: [
        { head: door.person, cell: (seat) => personAt(look, seat) },
        { head: door.cancelledAt, cell: ({ cancelledAt }) => format.exactTime(cancelledAt) },
        areaColumn,
        { head: '', cell: ({ passReference }) => storyLink(look, passReference) },
      ],
    }),
    latestHtml<LetIn>(look, {
      title: door.letInTitle,
      empty: door.noLetIn,
      things: letIn,
      columns: [
        { head: door.person, cell: (one) => letInCell(look, one) },
        { head: door.reason, cell: ({ reason }) => reasonIn(look, reason) },
        { head: door.seatTaken, cell: ({ seat }): Shown => seat && personAt(look, seat) },
        { head: '', cell: ({ passReference }): Shown => passReference && storyLink(look, passReference) },
      ],
    }),
  ];
}

/** Returns the refused scans by reason, and people compared with seats. */
function sumsHtml({ refused, tickets }: DoorReport, look: Look) {
  const { words, format } = look;
  const { door } = words;
  return [
    listing({
      caption: door.refusedTitle,
      isTitled: true,
      things: refused,
      empty: door.noRefused,
      format,
      columns: [
        { head: door.reason, cell: ({ outcome }) => reasonIn(look, outcome) },
        { head: door.scans, cell: ({ scans }) => scans },
        { head: door.letInOffline, cell: ({ letIn }) => letIn },
      ],
    }),
    listing({
      caption: door.peopleTitle,
      isTitled: true,
      things: tickets,
      empty: door.nobody,
      format,
      columns: [
        { head: door.ticket, cell: ({ ticket }) => ticket },
        { head: door.area, cell: ({ area }) => area },
        { head: door.sold, cell: ({ sold }) => sold },
        { head: door.people, cell: ({ people }) => people },
        { head: door.exceptions, cell: ({ exceptions }) => exceptions },
      ],
    }),
  ];
}

/** A pass of no registration has nobody to name. */
function letInCell(look: Look, { passReference, ...one }: LetIn) {
  if (passReference !== null) return personAt(look, { passReference, ...one });
  const { words, format } = look;
  return new Html(
    html`${words.door.noPass}<br />!${format.exactTime(one.at)!.text}<br /><span class="soft"
        >${placeOf(one)}</span
      >`,
  );
}
