import type { DescribedDevice, DoorStory, DoorStoryEntry } from '@floodgate/door/console';
import { html } from 'ghtml';
import { Refusal } from '../principals.ts';
import { actions, card, facts, Html, link, rows } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { Words } from '../words/index.ts';
import { personOf } from './door-conflicts.ts';
import {
  clockOf,
  contactOf,
  deviceState,
  gateState,
  rangesText,
  remarksOn,
  ticketsOfGate,
} from './door-words.ts';
import type { EventPageRequest } from './event-page.ts';

/** Resolves to the page of a gate: its settings, its scanners, and how to change it. */
export async function showGate(page: EventPageRequest) {
  const { read, operations, action, params, event, tickets, words, format } = page;
  const { door } = words;
  const eventId = event.id;
  const gate = (await read(operations.gateList, { eventId }))?.find(({ id }) => String(id) === params.gateId);
  if (!gate) throw new Refusal(404, 'No such page');
  const devices = (await read(operations.deviceList, { eventId })) ?? [];
  const here = devices.filter(({ gates, revokedAt }) => gates.includes(gate.id) && !revokedAt);
  const settings = facts(
    [door.state, gateState(gate, page)],
    [door.area, gate.area],
    [door.rule, door.rules[gate.entryRule]],
    [door.tickets, ticketsOfGate(gate, tickets, page)],
    [words.fields['opensAt']!.label, format.time(gate.opensAt)],
    [words.fields['closesAt']!.label, format.time(gate.closesAt)],
    [door.names, gate.showsNames ? door.showsNames : door.hidesNames],
    [door.admitted, format.number(gate.admitted)],
    [door.inside, format.number(gate.inside)],
  );
  return {
    heading: gate.name,
    parts: [
      actions(
        action(operations.gateUpdate, { eventId, gateId: gate.id }, door.change),
        action(operations.deviceCreate, { eventId, gates: [gate.id] }, door.enrol, {
          part: 'enrol',
          kind: 'primary',
        }),
      ),
      card(door.settings, settings),
      listing<DescribedDevice>({
        caption: door.devicesOfGate,
        isTitled: true,
        things: here,
        empty: door.noDevices,
        format,
        columns: [
          { head: door.device, cell: ({ id, name }) => link(`/events/${eventId}/door/devices/${id}`, name) },
          { head: door.state, cell: (device) => deviceState(device, page) },
          { head: door.lastContact, cell: (device) => contactOf(device, page) },
        ],
      }),
    ],
  };
}

/** Resolves to the page of a device: what its scans say, and how to end it. */
export async function showDevice(page: EventPageRequest) {
  const { read, operations, params, event, words, format } = page;
  const { door } = words;
  const devices = await read(operations.deviceList, { eventId: event.id });
  const device = devices?.find(({ id }) => String(id) === params.deviceId);
  if (!device) throw new Refusal(404, 'No such page');
  const gates = device.gates.map((id, index) =>
    link(`/events/${event.id}/door/gates/${id}`, device.gateNames[index] ?? id),
  );
  const found = facts(
    [door.state, deviceState(device, page)],
    [door.gatesOfDevice, new Html(gates.map(({ text }) => text).join(', '))],
    [door.lastContact, contactOf(device, page)],
    [door.clock, clockOf(device, page)],
    [door.scans, format.number(device.lastCounter)],
    [door.received, format.number(device.received)],
    [door.missing, rangesText(device.missing)],
    [door.undone, format.number(device.undone)],
    [door.version, device.version],
  );
  const remarks = remarksOn(device, page);
  return {
    heading: device.name,
    parts: [
      device.revokedAt ? html`<p>${door.goneNote}</p>` : actions(...actionsOn(device, page)),
      card('', found),
      remarks.length > 0 ? card(door.notComplete, rows(...remarks)) : '',
    ],
  };
}

function actionsOn(
  { id, state }: DescribedDevice,
  { action, operations, event, words: { door } }: EventPageRequest,
) {
  const given = { eventId: event.id, deviceId: id };
  const end = (lost: boolean, name: string) =>
    action(operations.deviceRevoke, { ...given, lost }, name, { kind: 'danger' });
  if (state === 'not enrolled')
    return [action(operations.deviceCode, given, door.newCode, { kind: 'primary' }), end(false, door.revoke)];
  return [end(false, door.revoke), end(true, door.lose)];
}

/** Resolves to the page about what happened at the door to the person with a pass. */
export async function showStory(page: EventPageRequest) {
  const { read, operations, query, words, format } = page;
  const { door } = words;
  const { passReference = '' } = query;
  const story: DoorStory | undefined = await read(operations.doorStory, { passReference });
  if (story?.eventId !== page.event.id) throw new Refusal(404, 'No such page');
  const { entries, cancelledAt } = story;
  return {
    heading: door.storyTitle(story.fullName ?? story.passReference),
    parts: [
      html`<p class="sub">${door.storyAbout(story.ticket, story.passReference)}</p>`,
      cancelledAt ? html`<p><strong>${door.wasCancelled(format.timeText(cancelledAt))}</strong></p>` : '',
      listing<DoorStoryEntry>({
        caption: door.atDoor,
        things: entries,
        empty: door.noStory,
        format,
        columns: [
          { head: door.when, cell: ({ at }) => format.exactTime(at) },
          { head: door.what, cell: (entry) => entryText(entry, words) },
          { head: door.gate, cell: ({ gate }) => gate },
          { head: door.device, cell: ({ device }) => device },
          {
            head: door.pass,
            cell: ({ passReference: pass }) => personOf({ passReference: pass, fullName: null }),
          },
        ],
      }),
      html`<p><a href="/people/${encodeURIComponent(story.passReference)}">${door.whole}</a></p>`,
    ],
  };
}

const entryText = ({ what, reason }: DoorStoryEntry, { door }: Words) =>
  what === 'refused' ? door.story.refused(door.outcomes[reason ?? ''] ?? reason ?? '') : door.story[what];
