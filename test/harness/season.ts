import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { grantEvent } from '@floodgate/events';
import { updateEventAction } from '@floodgate/events/actions';
import { switchOn } from '@floodgate/mail/actions';
import { createPartner, issueKey } from '@floodgate/partners';
import { indexAttendees } from '@floodgate/registrations/find';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { addGate } from './door-device.ts';
import { createFixture, type Fixture } from './fixture.ts';
import { finalizePending } from './journal.ts';
import type { Way } from './person.ts';
import { sell } from './sold.ts';
import { waitUntil } from './wait-until.ts';

/** What a person does something about. Each way has its own, so that the tasks do not see each other's effects. */
export interface Season {
  /** The event with most of the tasks: three tickets, people, gates. */
  festival: Fixture & { name: string; standing: number; seated: number; vip: number };
  /** The event that is called off, with more than a hundred people. */
  concert: Fixture & { name: string };
  /** The event that moves by a week. Its people have their pass. */
  gala: Fixture & { name: string; ticketId: number };
  /** The person with the surname "Groß". */
  gross: { name: string; serial: number };
  /** The person without an e-mail. */
  unreached: { name: string; serial: number };
  /** Sells nothing yet. */
  newcomer: { id: number; name: string };
  /** Sells the festival, and was refused. */
  seller: { id: number; name: string };
}

/** The first names of all who are called Groß. The search finds all of them. */
const FIRST_NAMES = { mouse: 'Anna-Lena', keyboard: 'Bernd', phone: 'Çağla' } as const satisfies Record<
  Way,
  string
>;

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

/** Adds an event in Köln, whose partner has a name. */
async function addEvent(db: Database, name: string, days: number, partner: string) {
  const fixture = await createFixture(db);
  const { eventId, partnerId } = fixture;
  const startsAt = inDays(days);
  const place = { venue: 'Tanzbrunnen', timeZone: 'Europe/Berlin', currency: 'EUR' };
  const endsAt = new Date(+startsAt + 12 * 3_600_000);
  await perform(db, updateEventAction, { eventId, name, startsAt, endsAt, ...place }, 'Ada');
  await sql`update partners set name = ${partner} where id = ${partnerId}`.execute(db);
  await switchOn(db, fixture, false);
  return { ...fixture, name };
}

/** Notes the e-mails with passes. `state` "undeliverable": the server does not know the address. */
async function noteMails(
  db: Database,
  { shardId, eventId }: Fixture,
  serials: readonly number[],
  state: 'sent' | 'undeliverable',
) {
  const reason = state === 'sent' ? null : '550 5.1.1';
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, reason, attempts, tried_at, sent_at, revision)
    select ${shardId}, ${eventId}, 'confirmation', serial::text, ${state}, ${reason}, 1, now(), now(), revision
    from unnest(${serials}::bigint[]) serial, events where events.id = ${eventId}`.execute(db);
}

async function addFestival(db: Database, way: Way) {
  const festival = await addEvent(db, `Sommerfest Köln (${way})`, 20, `Acme Tickets (${way})`);
  const standing = await festival.addTicket({ title: 'Stehplatz', price: 49.9, capacity: 1_500 });
  const seated = await festival.addTicket({ title: 'Sitzplatz', price: 79, capacity: 400 });
  const vip = await festival.addTicket({ title: 'VIP', price: 199, capacity: 30 });
  const other = await createPartner(db, `Kartenhaus (${way})`);
  await grantEvent(db, other.id, festival.eventId);
  await issueKey(db, other.id, null, 'live');
  await sell(db, { ...festival, partnerId: other.id }, seated, 7);
  await addGate(db, festival.eventId, { name: 'Haupteingang' });
  await addGate(db, festival.eventId, { name: 'Künstlereingang', area: 'backstage' });
  return { ...festival, standing, seated, vip };
}

/** Sells a seat to a person, and returns its serial. */
async function sellTo(
  db: Database,
  event: Fixture,
  ticketId: number,
  fullName: string,
  emailAddress: string,
) {
  const [serial] = await sell(db, event, ticketId, 1, { fullName, emailAddress });
  return serial!;
}

async function addConcert(db: Database, way: Way) {
  const concert = await addEvent(db, `Hofkonzert (${way})`, 9, `Bühne Nord (${way})`);
  await sell(db, concert, await concert.addTicket({ title: 'Parkett', price: 35 }), 120);
  await finalizePending(db, concert.shardId);
  return concert;
}

async function addGala(db: Database, way: Way) {
  const gala = await addEvent(db, `Winter Gala (${way})`, 30, `Südkasse (${way})`);
  const ticketId = await gala.addTicket({ title: 'Tisch', price: 120, capacity: 80 });
  const serials = await sell(db, gala, ticketId, 12);
  await finalizePending(db, gala.shardId);
  await noteMails(db, gala, serials, 'sent');
  return { ...gala, ticketId };
}

/** Creates the events, partners and people of one way. */
export async function createSeason(db: Database, way: Way): Promise<Season> {
  const festival = await addFestival(db, way);
  const [name, lost] = [`${FIRST_NAMES[way]} Groß`, `Jörg Wenig (${way})`];
  const gross = await sellTo(db, festival, festival.standing, name, `gross.${way}@example.com`);
  const unreached = await sellTo(db, festival, festival.standing, lost, `wenig.${way}@exampel.com`);
  const others = await sell(db, festival, festival.standing, 40);
  await finalizePending(db, festival.shardId);
  await noteMails(db, festival, [gross, ...others.slice(2)], 'sent');
  await noteMails(db, festival, [unreached, ...others.slice(0, 2)], 'undeliverable');
  // A wrong price, which is taken back.
  await perform(db, updateTicketAction, { ticketId: festival.vip, price: 19.9 }, 'Ada');
  const newcomer = await createPartner(db, `Neue Kasse (${way})`);
  await issueKey(db, newcomer.id, null, 'live');
  const seller = { id: festival.partnerId, name: `Acme Tickets (${way})` };
  await refuse(db, seller.id);
  const concert = await addConcert(db, way);
  const gala = await addGala(db, way);
  await waitUntil('the search knows the person', async () => {
    await indexAttendees(db, festival.shardId, 10_000);
    const { rows } = await sql`
      select from search_entries where shard_id = ${festival.shardId} and serial = ${gross}`.execute(db);
    return rows.length > 0;
  });
  const people = { gross: { name, serial: gross }, unreached: { name: lost, serial: unreached } };
  return { festival, concert, gala, ...people, newcomer, seller };
}

/** Reports refusals of a partner, as an API does. The report stays for the whole test. */
async function refuse(db: Database, partnerId: number) {
  const facts = { refusedPartners: { [partnerId]: { '33': 312, '32': 5 } } };
  await sql`
    insert into processes (id, service, version, host, facts, seen_at)
    values (gen_random_uuid(), 'api', '1', 'api-1', ${JSON.stringify(facts)}::jsonb, now() + interval '1 hour')`.execute(
    db,
  );
}
