import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createEvent, findEvent, grantEvent, updateEvent } from '@floodgate/events';
import { switchOn } from '@floodgate/mail/actions';
import { accessControl, createPartner, issueKey, listPartners } from '@floodgate/partners';
import { createTicket } from '@floodgate/tickets';
import type { Database } from '@floodgate/database';
import { writePrivateFile } from './data-dir.ts';

/** The content of demo.json: enough to call the API at once. */
export type Demo = Awaited<ReturnType<typeof createDemo>> & { baseUrl: string };

const EVENT = { name: 'Winter Gala', passPrefix: 'GALA', duplicatePolicy: 'allow', mode: 'test' } as const;
const DAY_MS = 24 * 3600 * 1000;
const LASTS_MS = 7 * DAY_MS;
const SALE_STARTS_IN_MS = 30 * DAY_MS;

const PLACE = { venue: 'Town Hall, Main Street 1', timeZone: 'Europe/Berlin' };

/** The event is running, so that its passes are valid now. */
function runningNow() {
  const startsAt = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
  return { startsAt, endsAt: new Date(startsAt.getTime() + LASTS_MS) };
}

/** One of each kind: plenty of seats, sold out soon, not on sale, and not on sale yet. The printed commands use the first. */
const offers = () => [
  { title: 'Standard', capacity: 1_000_000, price: 25, benefits: 'Entry and a drink' },
  { title: 'Front row', capacity: 5, price: 120, benefits: 'Front row and dinner' },
  { title: 'Early bird', capacity: 1_000, price: 15, active: false },
  {
    title: 'Last minute',
    capacity: 1_000,
    price: 40,
    saleStartsAt: new Date(Date.now() + SALE_STARTS_IN_MS),
  },
];

/**
 * Makes sure that there is a partner with a key, an event and tickets to try the API with, and that `file` (readable
 * only by its owner) holds them. A demo from an earlier start is used again if this database still has it.
 */
export async function ensureDemo(db: Database, file: string, baseUrl: string): Promise<Demo> {
  const demo = { ...((await readDemo(db, file)) ?? (await createDemo(db))), baseUrl };
  const { endsAt } = await findEvent(db, demo.eventId);
  // An event that is over is moved to today.
  if (endsAt && endsAt <= new Date()) await updateEvent(db, demo.eventId, runningNow());
  await writePrivateFile(file, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

async function readDemo(db: Database, file: string): Promise<Demo | null> {
  try {
    const demo = JSON.parse(await readFile(file, 'utf8')) as Demo;
    const access = await accessControl(db)(demo.secretKey, demo.eventRef);
    return typeof access === 'object' ? demo : null;
  } catch {
    return null; // missing, or changed by hand
  }
}

const PARTNER = 'Demo partner';
// Shown in the mailcatcher. The address belongs to no one.
const CONTACT = 'webhooks@partner.example';

async function createDemo(db: Database) {
  return db.transaction().execute(async (transaction) => {
    const earlier = (await listPartners(transaction)).map(({ name }) => name);
    const name = earlier.includes(PARTNER) ? `${PARTNER} ${randomBytes(4).toString('hex')}` : PARTNER;
    const partner = await createPartner(transaction, name, CONTACT);
    const { secretKey } = await issueKey(transaction, partner.id, null, EVENT.mode);
    const event = await createEvent(transaction, EVENT);
    await updateEvent(transaction, event.id, { ...PLACE, ...runningNow() });
    // Nobody gets them: it is a test event, and without SMTP_URL they stay in the mailcatcher.
    await switchOn(transaction, { shardId: event.shardId, eventId: event.id }, false);
    await grantEvent(transaction, partner.id, event.id);
    const tickets = [];
    for (const settings of offers()) {
      const { id, title, capacity } = await createTicket(transaction, event.id, settings, 'demo');
      tickets.push({ id, ticketTitle: title, capacity });
    }
    return { secretKey, eventRef: event.ref, eventId: event.id, partnerId: partner.id, tickets };
  });
}

/** Shown in the terminal when everything runs: the addresses, and commands that work as they are. */
export function welcome(
  { baseUrl, secretKey, eventRef, eventId, partnerId, tickets }: Demo,
  { demoFile, connectionFile }: Record<'demoFile' | 'connectionFile', string>,
  mailcatcherUrl: string | null,
): string {
  const headers = '-H "x-secret-key: $SECRET_KEY" -H "x-event-ref: $EVENT_REF"';
  const attendee = JSON.stringify({
    fullName: 'Ada Lovelace',
    emailAddress: 'ada@example.com',
    organizedEventTicketID: tickets[0]!.id,
  });
  return `
Floodgate is listening on ${baseUrl}

Paste these lines into another terminal. The examples of the documentation use the same names:

export BASE='${baseUrl}'
export SECRET_KEY='${secretKey}'
export EVENT_REF='${eventRef}'
export EVENT_ID='${eventId}'
export PARTNER_ID='${partnerId}'

Which tickets are on sale:

  curl -s "$BASE/api/v1/events/tickets" \\
    ${headers}

Register for one of them (responseData is the pass reference):

  curl -s "$BASE/api/v1/events/register" \\
    ${headers} \\
    -H 'Content-Type: application/json' \\
    -d '${attendee}'

Its current state (insert the pass reference):

  curl -s "$BASE/api/v1/events/registrations/<passReference>" \\
    ${headers}

Documentation   ${baseUrl}/docs${mailcatcherUrl ? `\nE-mails         ${mailcatcherUrl}` : ''}
The demo's key  ${demoFile}
The command     set -a; . '${connectionFile}'; set +a; npm run floodgate -- --help
Stop            Ctrl-C

`;
}
