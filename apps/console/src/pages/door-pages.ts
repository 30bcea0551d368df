import type { DescribedDevice, DoorCounts, DoorReport } from '@floodgate/door/console';
import { SHARED_PAGE } from '@floodgate/operators';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder } from '../add-page.ts';
import { addStream, liveHtml } from '../live-stream.ts';
import { readBy, type ConsoleContext } from '../operations.ts';
import { actions, link, NOTHING } from '../view/html.ts';
import type { Page } from '../view/page.ts';
import { paced, SlowReads, type Dated } from '../view/slow-reads.ts';
import { subTabs } from '../view/sub-tabs.ts';
import { conflictsHtml } from './door-conflicts.ts';
import { devicesHtml, gatesHtml } from './door-live.ts';
import { showDevice, showGate, showStory } from './door-things.ts';
import type { Look } from './door-words.ts';
import { eventPage, type EventPageRequest } from './event-page.ts';

const SCOPES = ['door:read'] as const;
const ASK_AGAIN_SECONDS = 1;

/** The pages of a door, with the end of their addresses. */
const PAGES = { gates: '', devices: '/devices', conflicts: '/conflicts' } as const;

type DoorPage = keyof typeof PAGES;
type Parts = Pick<Page, 'parts' | 'refreshSeconds'>;

/** Resolves to the next snapshot of a page as HTML. All viewers with one language share it. */
type Snapshot = (context: ConsoleContext, eventId: string, look: Look) => () => Promise<string>;

/** Resolves to the counts of an event, or to undefined if they are not there soon. */
type CountsOf = (page: EventPageRequest) => Promise<Dated<DoorCounts> | undefined>;

/** Adds the pages of the doors of an event. Those that change by themselves have a stream of snapshots. */
export function addDoorPages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context);
  const path = '/events/:eventId/door';
  const countsOf = countsReader();
  add(path, SCOPES, eventPage('door', doorPage('gates', countsOf, showGates(countsOf))));
  add(`${path}/devices`, SCOPES, eventPage('door', doorPage('devices', countsOf, showDevices())));
  add(`${path}/conflicts`, SCOPES, eventPage('door', doorPage('conflicts', countsOf, showConflicts())));
  add(`${path}/gates/:gateId`, SCOPES, eventPage('door', thingPage('gates', showGate)));
  add(`${path}/devices/:deviceId`, SCOPES, eventPage('door', thingPage('devices', showDevice)));
  add(`${path}/story`, SCOPES, eventPage('door', thingPage('conflicts', showStory)));
  addSnapshots(app, context, path, takeGates);
  addSnapshots(app, context, `${path}/devices`, takeDevices);
  addSnapshots(app, context, `${path}/conflicts`, takeConflicts);
}

/** Returns a page of a door: its links, what can be added, and what `show` returns. */
const doorPage =
  (name: DoorPage, countsOf: CountsOf, show: (page: EventPageRequest) => Promise<Parts>) =>
  async (page: EventPageRequest) => {
    const { operations, action, event, words } = page;
    const eventId = event.id;
    const [{ parts, ...more }, counts] = await Promise.all([show(page), countsOf(page)]);
    const gates = counts?.value.gates.map(({ id }) => id);
    const look = { part: 'enrol', kind: 'primary' } as const;
    const links = [
      // A scanner needs a gate.
      gates?.length === 0
        ? NOTHING
        : action(operations.deviceCreate, { eventId, ...(gates && { gates }) }, words.door.enrol, look),
      action(operations.gateCreate, { eventId }),
    ];
    return { help: 'operate/doors', ...more, parts: [tabsHtml(page, name), actions(...links), ...parts] };
  };

/** Returns the page of one thing at a door, below the page that lists such things. */
const thingPage =
  (name: DoorPage, show: (page: EventPageRequest) => Promise<{ heading: string; parts: string[] }>) =>
  async (page: EventPageRequest) => {
    const { heading, parts } = await show(page);
    return { help: 'operate/doors', parts: [tabsHtml(page, name), html`<h2>${heading}</h2>`, ...parts] };
  };

function tabsHtml({ event, words: { door } }: EventPageRequest, current: DoorPage) {
  const tabs = Object.entries(PAGES).map(([name, end]) => {
    return {
      href: `/events/${event.id}/door${end}`,
      name: door[name as DoorPage],
      isCurrent: name === current,
    };
  });
  return subTabs(door.pages, tabs);
}

const waiting = (text: string): Parts => ({
  parts: [html`<p class="waiting" role="status">${text}</p>`],
  refreshSeconds: ASK_AGAIN_SECONDS,
});

const liveAt = (event: { id: number }, page: DoorPage, snapshot: string) =>
  liveHtml(`/events/${event.id}/door${PAGES[page]}`, snapshot);

function countsReader(): CountsOf {
  const reads = new SlowReads<DoorCounts>();
  return ({ read, operations, event }) =>
    reads.find(String(event.id), async () => (await read(operations.doorCounts, { eventId: event.id }))!);
}

const showGates =
  (countsOf: CountsOf) =>
  async (page: EventPageRequest): Promise<Parts> => {
    const { event, tickets, words } = page;
    const found = await countsOf(page);
    if (!found) return waiting(words.door.counting);
    return { parts: [liveAt(event, 'gates', gatesHtml({ counts: found.value, tickets }, page))] };
  };

function showDevices() {
  const reads = new SlowReads<DescribedDevice[]>();
  return async (page: EventPageRequest): Promise<Parts> => {
    const { event, words, read, operations } = page;
    const eventId = event.id;
    const found = await reads.find(
      String(eventId),
      async () => (await read(operations.deviceList, { eventId }))!,
    );
    if (!found) return waiting(words.door.counting);
    return { parts: [liveAt(event, 'devices', devicesHtml(found.value, page))] };
  };
}

/** The table has names for those who may see them, so it is no part of the stream that all share. */
function showConflicts() {
  const reads = new SlowReads<DoorReport>();
  return async (page: EventPageRequest): Promise<Parts> => {
    const { event, words, may, read, operations } = page;
    const eventId = event.id;
    const key = JSON.stringify([eventId, may('attendees:read')]);
    const found = await reads.find(key, async () => (await read(operations.doorReport, { eventId }))!);
    if (!found) return waiting(words.door.gathering);
    const { conflicts } = found.value;
    const snapshot = knownHtml(conflicts.length, found.at, page);
    return { parts: [liveAt(event, 'conflicts', snapshot), ...conflictsHtml(found.value, page)] };
  };
}

/** Says how many conflicts are known, so that a viewer notices that the list has become old. */
function knownHtml(conflicts: number, at: Date, { event, words: { door }, format }: Look) {
  const { text } = link(`/events/${event.id}/door/conflicts`, door.reload);
  const known = door.conflictsAt(format.number(conflicts), format.clock(at));
  return html`<p><strong>${known}</strong> !${text}</p>`;
}

/** Adds a stream to a page. It reads at most a tenth of the time. */
function addSnapshots(
  app: FastifyInstance,
  context: ConsoleContext,
  path: `/${string}:eventId${string}`,
  take: Snapshot,
) {
  addStream(app, context, path, SCOPES, (eventId, _operator, viewer) => ({
    key: `${eventId} ${viewer.language} ${viewer.format.zone}`,
    admits: () => true,
    open: async () => {
      // Throws if there is no such event.
      const event = await readBy(context, context.operations.eventShow, { eventId }, SHARED_PAGE);
      const format = viewer.format.inZone(event.timeZone);
      return take(context, eventId, { event, words: viewer.words, format });
    },
  }));
}

const takeGates: Snapshot = (context, eventId, look) => {
  const { operations } = context;
  const read = paced(async () => ({
    counts: await readBy(context, operations.doorCounts, { eventId }, SHARED_PAGE),
    tickets: await readBy(context, operations.ticketList, { eventId }, SHARED_PAGE),
  }));
  return async () => gatesHtml(await read(), look);
};

const takeDevices: Snapshot = (context, eventId, look) => {
  const { operations } = context;
  const read = paced(() => readBy(context, operations.deviceList, { eventId }, SHARED_PAGE));
  return async () => devicesHtml(await read(), look);
};

const takeConflicts: Snapshot = (context, eventId, look) => {
  const { operations } = context;
  const read = paced(async () => {
    const { conflicts } = await readBy(context, operations.doorCounts, { eventId }, SHARED_PAGE);
    return knownHtml(conflicts, new Date(), look);
  });
  return read;
};
