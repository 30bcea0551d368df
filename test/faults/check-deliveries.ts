import { parsePassReference } from '@floodgate/contract';
import type { JournalEntry } from '@floodgate/journal';
import type { Violation } from './check-history.ts';
import type { TakenMail, TakenMessage } from './receivers.ts';

/** A message as a receiver reads it. */
interface ReadMessage {
  data: {
    previousCursor: string;
    cursor: string;
    entries: { type: string; passReference?: string; entry?: string; organizedEventTicketID?: number }[];
  };
}

const wrong = (problem: string): Violation => ({ kind: 'wrong', problem });

/**
 * Holds what an endpoint has taken against the journal: leaving out what came again, the messages are a chain
 * without a gap, and tell each entry once, in order. What came again is what it was.
 */
export function checkChain(
  endpoint: string,
  taken: readonly TakenMessage[],
  journal: readonly JournalEntry[],
  references: EntryReferences = new Map(),
): Violation[] {
  const violations: Violation[] = [];
  const bodies = new Map<string, string>();
  const told: string[] = [];
  let cursor = '0';
  for (const { id, body } of taken) {
    const before = bodies.get(id);
    if (before !== undefined && before !== body)
      violations.push(wrong(`${endpoint}: message ${id} came again, and was another one`));
    if (before !== undefined) continue;
    bodies.set(id, body);
    const { data } = JSON.parse(body) as ReadMessage;
    if (data.previousCursor !== cursor)
      violations.push(
        wrong(`${endpoint}: message ${id} follows ${data.previousCursor}, and ${cursor} was the last`),
      );
    cursor = data.cursor;
    told.push(...data.entries.map(nameOfTold));
  }
  violations.push(...findRepeats(endpoint, told));
  const expected = journal.map((entry) => nameOfEntry(entry, references));
  const differing = expected.findIndex((name, index) => told[index] !== name);
  if (differing >= 0)
    violations.push({
      kind: told.length < expected.length ? 'lost' : 'wrong',
      problem: `${endpoint}: entry ${differing} was told of as ${told[differing] ?? 'nothing'}, and is ${expected[differing]}`,
    });
  else if (told.length > expected.length)
    violations.push(
      wrong(`${endpoint}: ${told.length} entries were told of, and there are ${expected.length}`),
    );
  return violations;
}

/** Every state of a registration, and of an entry of a waiting list, is published once. (A ticket may be sold out several times.) */
export function findRepeats(where: string, published: readonly string[]): Violation[] {
  const states = published.filter((name) => !name.startsWith('ticket.'));
  return [...Map.groupBy(states, (name) => name)]
    .filter(([, all]) => all.length > 1)
    .slice(0, 3)
    .map(([name, { length }]) => ({
      kind: 'published twice',
      problem: `${where}: ${name} was published ${length} times`,
    }));
}

function nameOfTold({
  type,
  passReference,
  entry,
  organizedEventTicketID,
}: ReadMessage['data']['entries'][number]): string {
  if (entry !== undefined) return `${type} ${entry}`;
  return passReference === undefined
    ? `${type} ticket ${organizedEventTicketID}`
    : `${type} ${parsePassReference(passReference)?.serial}`;
}

/** References of the entries of waiting lists, by serial. */
export type EntryReferences = ReadonlyMap<number, string>;

export const nameOfEntry = ({ kind, serial, ticketId }: JournalEntry, references: EntryReferences) => {
  if (serial === null) return `ticket.${kind} ticket ${ticketId}`;
  return kind.startsWith('waiting.') ? `${kind} ${references.get(serial)}` : `registration.${kind} ${serial}`;
};

/** Who is to have an e-mail: confirmed, and not cancelled meanwhile (then they may have one). */
export interface Addressee {
  address: string;
  mayHaveNone: boolean;
}

/**
 * Holds the e-mails that were taken against who was to have one: each exactly one for each seat. `again` of
 * them may have come a second time, as the same message: those that were under way when somebody was killed.
 */
export function checkMails(
  taken: readonly TakenMail[],
  addressees: readonly Addressee[],
  again: number,
): Violation[] {
  const byAddress = Map.groupBy(taken, ({ to }) => to);
  const known = Map.groupBy(addressees, ({ address }) => address);
  const messagesTo = (address: string) =>
    new Set((byAddress.get(address) ?? []).map(({ messageId }) => messageId)).size;
  const missing = [...known].filter(
    ([address, seats]) => messagesTo(address) < seats.filter(({ mayHaveNone }) => !mayHaveNone).length,
  );
  const changed = [...known].filter(([address, seats]) => messagesTo(address) > seats.length);
  const count = taken.length - [...byAddress.keys()].reduce((sum, address) => sum + messagesTo(address), 0);
  return [
    ...missing.slice(0, 3).map((): Violation => ({ kind: 'lost', problem: 'an attendee has had no e-mail' })),
    ...(count > again
      ? [{ kind: 'doubled', problem: `${count} e-mails came again, and ${again} might` } as const]
      : []),
    ...changed.slice(0, 3).map(() => wrong('an e-mail that came again was another message')),
    ...[...byAddress.keys()]
      .filter((address) => !known.has(address))
      .slice(0, 3)
      .map((address) => wrong(`${address} has had an e-mail, and is not registered`)),
  ];
}
