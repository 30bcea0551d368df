import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createEvent, findEvent, grantEvent, updateEvent } from '@floodgate/events';
import { switchOn } from '@floodgate/mail/actions';
import { perform } from '@floodgate/audit';
import { createOperatorAction, listOperators, resetPasswordAction } from '@floodgate/operators';
import { accessControl, createPartner, issueKey, listPartners } from '@floodgate/partners';
import { reserveBatch, type Reservation } from '@floodgate/registrations';
import { createTicket } from '@floodgate/tickets';
import type { Database } from '@floodgate/database';
import { writePrivateFile } from './data-dir.ts';

/** The content of demo.json: everything that a call to the API needs. */
export type Demo = Awaited<ReturnType<typeof createDemo>> & { baseUrl: string; operator: Credentials };

type Credentials = Record<'name' | 'password', string>;

const EVENT = { name: 'Winter Gala', passPrefix: 'GALA', duplicatePolicy: 'allow', mode: 'test' } as const;
const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

const PLACE = { venue: 'Town Hall, Main Street 1', timeZone: 'Europe/Berlin' };

/**
 * Times of an event that starts within a day. So its passes are valid now, and its waiting list is open: that
 * closes when the event starts.
 */
function startingSoon() {
  const hour = Date.now() - (Date.now() % HOUR_MS);
  const startsAt = hour + 23 * HOUR_MS;
  return { startsAt: new Date(startsAt), endsAt: new Date(startsAt + 7 * 24 * HOUR_MS) };
}

/** Seats of the ticket that is sold out. */
const SOLD_OUT_SEATS = 2;

/**
 * One ticket of each kind: many seats, few seats, sold out with a waiting list, inactive, and on sale later.
 * The printed commands use the first. In a new database they have the ids 1 to 5, which the guide's examples
 * use.
 */
const offers = () => [
  { title: 'Standard', capacity: 1_000_000, price: 25, benefits: 'Entry and a drink' },
  { title: 'Front row', capacity: 5, price: 120, benefits: 'Front row and dinner' },
  { title: 'Backstage', capacity: SOLD_OUT_SEATS, price: 250, offerHours: 24 },
  { title: 'Early bird', capacity: 1_000, price: 15, active: false },
  {
    title: 'Last minute',
    capacity: 1_000,
    price: 40,
    saleStartsAt: new Date(Date.now() + 30 * DAY_MS),
  },
];

/**
 * Creates a demo: a partner with a key, an event and tickets. Keeps the demo of an earlier start if this
 * database still has it. Writes it to `file`, which only its owner can read.
 */
export async function ensureDemo(db: Database, file: string, baseUrl: string) {
  const former = await readDemo(db, file);
  const operator = await ensureOwner(db, former?.operator);
  const demo = { ...(former ?? (await createDemo(db))), baseUrl, operator };
  const { startsAt } = await findEvent(db, demo.eventId);
  if (startsAt && startsAt <= new Date()) await updateEvent(db, demo.eventId, startingSoon());
  await writePrivateFile(file, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

const OWNER = 'owner';

/** Returns the name and the first password of an owner of the console. The password may have been changed since. */
async function ensureOwner(db: Database, known: Credentials | undefined) {
  const isThere = (await listOperators(db)).some(({ name }) => name === OWNER);
  if (isThere && known) return known;
  const { name, password } = await (isThere
    ? perform(db, resetPasswordAction, { name: OWNER }, 'npm start')
    : perform(db, createOperatorAction, { name: OWNER, role: 'owner' }, 'npm start'));
  return { name, password };
}

async function readDemo(db: Database, file: string) {
  try {
    const demo = JSON.parse(await readFile(file, 'utf8')) as Demo;
    const access = await accessControl(db)(demo.secretKey, demo.eventRef);
    return access.kind === 'partner' ? demo : null;
  } catch {
    return null; // missing, or edited by hand
  }
}

const PARTNER = 'Demo partner';
// Shown in the mailcatcher. Nobody has this address.
const CONTACT = 'webhooks@partner.example';

async function createDemo(db: Database) {
  return db.transaction().execute(async (transaction) => {
    const isTaken = (await listPartners(transaction)).some(({ name }) => name === PARTNER);
    const name = isTaken ? `${PARTNER} ${randomBytes(4).toString('hex')}` : PARTNER;
    const partner = await createPartner(transaction, name, CONTACT);
    const { secretKey } = await issueKey(transaction, partner.id, null, EVENT.mode);
    const event = await createEvent(transaction, EVENT);
    await updateEvent(transaction, event.id, { ...PLACE, ...startingSoon() });
    // Nobody gets these e-mails: the event is a test event, and without SMTP_URL they stay in the mailcatcher.
    await switchOn(transaction, { shardId: event.shardId, eventId: event.id }, false);
    await grantEvent(transaction, partner.id, event.id);
    const tickets = [];
    for (const settings of offers()) {
      const { id, title, capacity } = await createTicket(transaction, event.id, settings, 'demo');
      tickets.push({ id, ticketTitle: title, capacity });
    }
    const { id: eventId, shardId } = event;
    const soldOut = tickets.find(({ capacity }) => capacity === SOLD_OUT_SEATS)!;
    await sellOut(transaction, { shardId, eventId, partnerId: partner.id, ticketId: soldOut.id });
    return { secretKey, eventRef: event.ref, eventId, partnerId: partner.id, tickets };
  });
}

/** Registers an attendee for each seat of the ticket. A worker confirms them. */
const sellOut = (db: Database, seat: Pick<Reservation, 'shardId' | 'eventId' | 'partnerId' | 'ticketId'>) => {
  const reservations = Array.from({ length: SOLD_OUT_SEATS }, (_, index): Reservation => {
    const attendee = { fullName: `Demo Guest ${index + 1}`, emailAddress: `guest-${index + 1}@example.com` };
    return { ...NOTHING_ELSE, ...seat, ...attendee, passCode: randomInt(1e9, 1e10) };
  });
  return reserveBatch(db, randomUUID(), reservations);
};

/** The fields of a registration that are optional. */
const NOTHING_ELSE = {
  phoneNumber: null,
  gender: null,
  tableOrSeat: null,
  extraData1: null,
  extraData2: null,
  attendeeDigest: null,
  returnsExisting: false,
  holdSeconds: null,
  holdId: null,
  partnerReference: null,
  idempotency: null,
};

/** Returns the text for the terminal after the start: addresses, and commands that can be pasted. */
export function welcome(
  { baseUrl, secretKey, eventRef, eventId, partnerId, tickets, operator }: Demo,
  { demoFile, connectionFile }: Record<'demoFile' | 'connectionFile', string>,
  { mailUrl, consoleUrl }: { mailUrl: string | null; consoleUrl: string },
) {
  const attendee = JSON.stringify({
    fullName: 'Ada Lovelace',
    emailAddress: 'ada@example.com',
    organizedEventTicketID: tickets[0]!.id,
  });
  const call = (path: string, ...body: string[]) => {
    const headers = '-H "x-secret-key: $SECRET_KEY" -H "x-event-ref: $EVENT_REF"';
    return [`  curl -s "$BASE/api/v1/events/${path}"`, headers, ...body].join(' \\\n    ');
  };
  return `
Floodgate is listening on ${baseUrl}

Paste these lines into another terminal. The examples of the documentation use the same names:

export BASE='${baseUrl}'
export SECRET_KEY='${secretKey}'
export EVENT_REF='${eventRef}'
export EVENT_ID='${eventId}'
export PARTNER_ID='${partnerId}'

List the available tickets:

${call('tickets')}

Register for one of them (responseData is the pass reference):

${call('register', "-H 'Content-Type: application/json'", `-d '${attendee}'`)}

Read its current state (insert the pass reference):

${call('registrations/<passReference>')}

Documentation   ${baseUrl}/docs${mailUrl ? `\nE-mails         ${mailUrl}` : ''}
Console         ${consoleUrl} (name: ${operator.name}, password: ${operator.password})
The demo's key  ${demoFile}
The command     set -a; . '${connectionFile}'; set +a; npm run floodgate -- --help
Stop            Ctrl-C

`;
}
