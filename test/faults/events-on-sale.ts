import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { grantEvent } from '@floodgate/events';
import { switchOn } from '@floodgate/mail/actions';
import { createPartner, issueKey } from '@floodgate/partners';
import { allocateTicketAction } from '@floodgate/tickets/actions';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { nodeOf, type NodeUnderTest } from './citus-under-test.ts';
import type { Deployment } from './deployment.ts';
import type { Random } from './random.ts';
import { addWebhook } from '../harness/webhooks.ts';

/** An event that a partner sells in a round. */
export interface EventOnSale {
  fixture: Fixture;
  ticketIds: readonly number[];
  /** One of them, with few seats and a waiting list. */
  listTicketId: number;
  /** How many seats that ticket has at first. */
  listCapacity: number;
  /** The worker node that it is stored on, in a Citus cluster. */
  node: NodeUnderTest | undefined;
  /** Whether its partner tries things out, and resets it now and then. */
  isTest: boolean;
}

const EVENTS_PER_NODE = 2;
/** A new event goes to a shard with few. By chance a node would get none of so many once in a billion times. */
const MAX_EVENTS = 32;
const ROOMY = 1_000_000;
const RESERVED = { seats: 50, of: { from: 50, to: 80 } };
const MAX_CAP = 40;
const LISTED = { from: 4, to: 12 };

/**
 * Creates an event that two partners sell; in a Citus cluster, as many on each of its nodes. And a test event
 * of one partner, wherever that is stored. Returns an event once for each of its partners.
 */
export async function createEvents(deployment: Deployment, random: Random): Promise<EventOnSale[]> {
  const { db, webhooks } = deployment;
  const sales: EventOnSale[] = [];
  for (const event of await createAll(deployment, random)) {
    const ofEvent = event.isTest ? [event] : [event, await openToAnother(db, event)];
    sales.push(...ofEvent);
    if (event.isTest) continue;
    for (const sale of ofEvent) await addWebhook(db, sale.fixture, { url: webhooks.urlOf(pathOf(sale)) });
    const { shardId, eventId } = event.fixture;
    await switchOn(db, { shardId, eventId }, false);
    await allocate(db, ofEvent, random);
  }
  return sales;
}

/** Where a partner of an event is told of its registrations. */
export const pathOf = ({ fixture }: EventOnSale) => `/events/${fixture.eventId}/${fixture.partnerId}`;

async function openToAnother(db: Database, event: EventOnSale): Promise<EventOnSale> {
  const { id: partnerId } = await createPartner(db, `partner ${randomUUID()}`);
  await grantEvent(db, partnerId, event.fixture.eventId);
  const { keyId, secretKey } = await issueKey(db, partnerId, null);
  return { ...event, fixture: { ...event.fixture, partnerId, keyId, secretKey } };
}

/** Of one ticket, seats are reserved for the first partner: more than it sells while the second one does. Of another, that has a cap. */
async function allocate(db: Database, sales: readonly EventOnSale[], random: Random): Promise<void> {
  const settings = [{ reserved: RESERVED.seats }, { cap: random.between(1, MAX_CAP) }];
  for (const [index, { fixture, ticketIds }] of sales.entries()) {
    const allocation = { ticketId: ticketIds[1 + index]!, partnerId: fixture.partnerId, ...settings[index] };
    await perform(db, allocateTicketAction, allocation, 'test');
  }
}

async function createAll({ db, nodes }: Deployment, random: Random): Promise<EventOnSale[]> {
  const test = await createFixture(db, 'allow', 'test');
  if (nodes.length === 0)
    return [
      await putOnSale(test, undefined, random, true),
      await putOnSale(await createFixture(db), undefined, random),
    ];
  const events = [await putOnSale(test, await nodeOf(db, nodes, test.shardId), random, true)];
  for (let count = 0; count < MAX_EVENTS && events.length < 1 + nodes.length * EVENTS_PER_NODE; count += 1) {
    const fixture = await createFixture(db);
    const node = await nodeOf(db, nodes, fixture.shardId);
    const isWanted = events.filter((event) => !event.isTest && event.node === node).length < EVENTS_PER_NODE;
    if (isWanted) events.push(await putOnSale(fixture, node, random));
  }
  return events;
}

async function putOnSale(
  fixture: Fixture,
  node: NodeUnderTest | undefined,
  random: Random,
  isTest = false,
): Promise<EventOnSale> {
  // Some sell out in the middle of it.
  const { from, to } = RESERVED.of;
  const capacities = [ROOMY, random.between(from, to), random.between(1, 300), random.between(300, 1_500)];
  const ticketIds: number[] = [];
  for (const capacity of capacities) ticketIds.push(await fixture.addTicket({ capacity }));
  const { from: fewest, to: most } = LISTED;
  const listCapacity = random.between(fewest, most);
  const listTicketId = await fixture.addTicket({ capacity: listCapacity, offerHours: 1 });
  // The last one is that of which nobody gives a seat back.
  ticketIds.splice(-1, 0, listTicketId);
  return { fixture, ticketIds, listTicketId, listCapacity, node, isTest };
}
