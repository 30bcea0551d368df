import { journalOf } from '../harness/journal.ts';
import { checkChain, checkMails, findRepeats, nameOfEntry, type Addressee } from './check-deliveries.ts';
import type { Violation } from './check-history.ts';
import type { Deployment } from './deployment.ts';
import { pathOf, type EventOnSale } from './events-on-sale.ts';
import type { Fault } from './fault.ts';
import type { Stored } from './history.ts';
import { readList } from './read-list.ts';
import type { TakenMail } from './receivers.ts';
import type { Round } from './run-round.ts';
import { contactOf } from './waiting-list.ts';

// What is published: the journal, the lists of the partners, webhooks and e-mails.

/** What partners were told, against what the journal tells. */
export async function checkTold(
  { db, webhooks }: Deployment,
  events: readonly EventOnSale[],
  stored: Stored,
): Promise<Violation[]> {
  const references = referencesIn(stored);
  const live = events.filter(({ isTest }) => !isTest);
  const journals = await Promise.all(live.map((event) => readJournalFor(db, event)));
  return live.flatMap((event, index) =>
    checkChain(pathOf(event), webhooks.takenAt(pathOf(event)), journals[index]!, references),
  );
}

const referencesIn = ({ entries }: Stored) =>
  new Map(entries.map(({ serial, reference }) => [serial, reference]));

/** What the journal has for a partner of an event: its registrations, and the tickets. */
const readJournalFor = async (db: Deployment['db'], { fixture }: EventOnSale) =>
  (await journalOf(db, fixture)).filter(
    ({ serial, partnerId }) => serial === null || partnerId === fixture.partnerId,
  );

/** Every state of a registration is in the journal once, and in the list of its partner. */
export async function checkPublished(
  { db, apiUrls }: Deployment,
  events: readonly EventOnSale[],
  stored: Stored,
): Promise<Violation[]> {
  const references = referencesIn(stored);
  const violations: Violation[] = [];
  for (const event of events) {
    const { fixture } = event;
    const journal = (await readJournalFor(db, event)).map((entry) => nameOfEntry(entry, references));
    const list = await readList(apiUrls[0]!.replace(/\/$/, ''), event);
    violations.push(...findRepeats(`journal of event ${fixture.eventId}`, journal));
    violations.push(...findRepeats(`list of event ${fixture.eventId}`, list));
    const expected = journal.filter((name) => name.startsWith('registration.'));
    if (list.join() !== expected.join())
      violations.push({ kind: 'wrong', problem: `the list of event ${fixture.eventId} is not its journal` });
  }
  return violations;
}

/** Under way when a process, a server or the wire between them was lost, in each of the processes; see decision 78. */
const UNDER_WAY = 100;

/** Each attendee has one e-mail. After a loss, some came a second time. */
export const checkRoundsMails = (
  taken: readonly TakenMail[],
  stored: Stored,
  events: readonly EventOnSale[],
  { seed, faults }: Round,
): Violation[] =>
  checkMails(
    taken.filter(({ to }) => !isOfOtherRound(to, seed)),
    addresseesOf(stored, events),
    mayComeAgain(faults),
  );

/** A process that stands still for long may send an e-mail of an earlier round a second time. */
const isOfOtherRound = (address: string, seed: number) => {
  const [, round] = /^(?:waiting-)?r(\d+)-/.exec(address) ?? [];
  return round !== undefined && round !== String(seed);
};

/** How many e-mails may have come a second time. */
const mayComeAgain = (faults: readonly Fault[]) =>
  faults.some(({ part, mayFail }) => part !== 'redis' && part !== 'worker' && mayFail !== false)
    ? 2 * UNDER_WAY
    : 0;

/** Whoever is registered under a live event. Who was cancelled may have been before the e-mail was sent. */
function addresseesOf(
  { registrations, offered, entries }: Stored,
  events: readonly EventOnSale[],
): Addressee[] {
  const tickets = new Set(events.filter(({ isTest }) => !isTest).flatMap(({ ticketIds }) => ticketIds));
  const isLive = ({ ticketId }: { ticketId: number }) => tickets.has(ticketId);
  return [
    ...[...registrations, ...offered].filter(isLive).map(({ address, changes }) => ({
      address: address ?? '',
      mayHaveNone: !changes.includes('confirmed') || changes.includes('cancelled'),
    })),
    // An offer may have ended before its e-mail was sent.
    ...entries
      .filter((entry) => isLive(entry) && entry.wasOffered)
      .map(({ requestId }) => ({ address: contactOf(requestId).emailAddress, mayHaveNone: true })),
  ];
}
