import { switchOn } from '@floodgate/mail/actions';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { nodeOf, type NodeUnderTest } from './citus-under-test.ts';
import type { Deployment } from './deployment.ts';
import type { Random } from './random.ts';
import { addWebhook } from '../harness/webhooks.ts';

/** An event that is sold in a round. */
export interface EventOnSale {
  fixture: Fixture;
  ticketIds: readonly number[];
  /** The worker node that it is stored on, in a Citus cluster. */
  node: NodeUnderTest | undefined;
  /** Whether its partner tries things out, and resets it now and then. */
  isTest: boolean;
}

const EVENTS_PER_NODE = 2;
/** A new event goes to a shard with few. By chance a node would get none of so many once in a billion times. */
const MAX_EVENTS = 32;
const ROOMY = 1_000_000;

/**
 * Creates an event with three tickets; in a Citus cluster, as many on each of its nodes. And a test event, wherever that is
 * stored.
 */
export async function createEvents(deployment: Deployment, random: Random): Promise<EventOnSale[]> {
  const events = await createAll(deployment, random);
  for (const event of events) if (!event.isTest) await tellOf(deployment, event);
  return events;
}

/** Where the partner of an event is told of it. */
export const pathOf = ({ fixture }: EventOnSale) => `/events/${fixture.eventId}`;

/** Has the partner told of what becomes of its registrations, and each attendee. */
async function tellOf({ db, webhooks }: Deployment, event: EventOnSale): Promise<void> {
  const { shardId, eventId } = event.fixture;
  await addWebhook(db, event.fixture, { url: webhooks.urlOf(pathOf(event)) });
  await switchOn(db, { shardId, eventId }, false);
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
  const capacities = [ROOMY, random.between(1, 300), random.between(300, 1_500)];
  const ticketIds: number[] = [];
  for (const capacity of capacities) ticketIds.push(await fixture.addTicket({ capacity }));
  return { fixture, ticketIds, node, isTest };
}
