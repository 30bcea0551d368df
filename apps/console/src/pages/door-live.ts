import type { CountedGate, CountedTicket, DescribedDevice, DoorCounts } from '@floodgate/door/console';
import type { DescribedTicket } from '@floodgate/tickets/console';
import { html } from 'ghtml';
import { figure, grid, link, rows } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import {
  clockOf,
  contactOf,
  deviceState,
  gateState,
  remarksOn,
  ticketsOfGate,
  type Look,
} from './door-words.ts';

// The number of parts of each page stays the same, so the browser replaces only what has changed.

/** A verdict names so many remarks. Each device has its own page. */
const MOST_REMARKS = 10;
const MOST_NAMES = 5;
/** The cards at the top have room for so many areas. */
const MOST_AREAS = 2;

interface Counted {
  counts: DoorCounts;
  tickets: readonly DescribedTicket[];
}

/** Returns the people at the doors, by gate and by ticket. */
export function gatesHtml({ counts, tickets }: Counted, look: Look) {
  const { event, words, format } = look;
  const { door } = words;
  const { gates } = counts;
  const hasAreas = new Set(gates.map(({ area }) => area)).size > 1;
  const path = `/events/${event.id}/door`;
  return [
    alertOf(counts, look),
    figuresHtml(counts, tickets, look),
    listing<CountedGate>({
      caption: door.gates,
      isTitled: true,
      things: gates,
      empty: door.noGates,
      format,
      columns: [
        { head: door.gate, cell: ({ id, name }) => link(`${path}/gates/${id}`, name) },
        hasAreas && { head: door.area, cell: ({ area }) => area },
        { head: door.state, cell: (gate) => gateState(gate, look) },
        { head: door.tickets, cell: (gate) => ticketsOfGate(gate, tickets, look) },
        { head: door.rule, cell: ({ entryRule }) => door.rules[entryRule] },
        { head: door.admitted, cell: ({ admitted }) => admitted },
        { head: door.inside, cell: ({ inside }) => inside },
      ],
    }),
    listing<CountedTicket>({
      caption: door.byTicket,
      isTitled: true,
      things: counts.tickets,
      empty: door.nobody,
      format,
      columns: [
        {
          head: door.ticket,
          cell: ({ ticketId, ticket }) => link(`/events/${event.id}/tickets/${ticketId}`, ticket),
        },
        hasAreas && { head: door.area, cell: ({ area }) => area },
        { head: door.admitted, cell: ({ admitted }) => admitted },
        { head: door.inside, cell: ({ inside }) => inside },
        { head: door.sold, cell: ({ ticketId }) => tickets.find(({ id }) => id === ticketId)?.taken },
      ],
    }),
  ].join('\n');
}

/** Even when empty, it is a part. */
function alertOf({ conflicts, silent }: DoorCounts, look: Look) {
  const { event, words, format } = look;
  const { door } = words;
  const path = `/events/${event.id}/door`;
  const texts = [
    conflicts > 0 &&
      html`${door.twice(format.number(conflicts))} <a href="${path}/conflicts">${door.look}</a>`,
    silent.length > 0 &&
      html`${door.silentNow(namesOf(silent, look))} <a href="${path}/devices">${door.look}</a>`,
  ].filter((text) => text !== false);
  return html`<div role="alert">!${texts.map((text) => html`<p class="alert">!${text}</p>`)}</div>`;
}

/** Returns the first names, and how many more there are. */
function namesOf(things: readonly { name: string }[], { words: { door }, format }: Look) {
  const names = things.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = things.length - names.length;
  return format.list(more > 0 ? [...names, door.more(format.number(more))] : names);
}

function figuresHtml({ gates }: DoorCounts, tickets: readonly DescribedTicket[], { words, format }: Look) {
  const { door } = words;
  const areas = new Map(gates.map(({ area, inside }) => [area, inside]));
  const inAreas = [...areas]
    .slice(0, MOST_AREAS)
    .map(([area, inside]) => [inside, areas.size > 1 ? door.insideMeaning(area) : door.inside] as const);
  const all = [
    [gates.reduce((sum, { admitted }) => sum + admitted, 0), door.admittedMeaning] as const,
    ...inAreas,
    [tickets.reduce((sum, { taken }) => sum + taken, 0), door.expectedMeaning] as const,
  ];
  return grid(...all.map(([count, meaning]) => figure(format.number(count), meaning)));
}

/** Returns the devices of an event, and whether all their scans have arrived. */
export function devicesHtml(devices: readonly DescribedDevice[], look: Look) {
  const { event, words, format } = look;
  const { door } = words;
  return [
    verdictHtml(devices, look),
    listing<DescribedDevice>({
      caption: door.devices,
      isTitled: true,
      // Those that need a look are at the top.
      things: devices.toSorted((one, other) => Number(other.isSilent) - Number(one.isSilent)),
      empty: door.noDevices,
      format,
      columns: [
        { head: door.device, cell: ({ id, name }) => link(`/events/${event.id}/door/devices/${id}`, name) },
        { head: door.gates, cell: ({ gateNames }) => format.list(gateNames) },
        { head: door.state, cell: (device) => deviceState(device, look) },
        { head: door.lastContact, cell: (device) => contactOf(device, look) },
        { head: door.clock, cell: (device) => clockOf(device, look) },
        { head: door.scans, cell: ({ lastCounter }) => lastCounter },
        { head: door.missing, cell: ({ lastCounter, received }) => lastCounter - received || null },
      ],
    }),
  ].join('\n');
}

/** Returns whether every scan has arrived, or what is missing. */
export function verdictHtml(devices: readonly DescribedDevice[], look: Look) {
  const { door } = look.words;
  const remarks = devices.flatMap((device) => remarksOn(device, look));
  if (remarks.length === 0)
    return html`<section>
      <p><strong>${door.complete}</strong></p>
    </section>`;
  const more = remarks.length - MOST_REMARKS;
  const shown = [
    ...remarks.slice(0, MOST_REMARKS),
    ...(more > 0 ? [door.remarks.more(look.format.number(more))] : []),
  ];
  return html`<section class="card">
    <p><strong>${door.notComplete}</strong></p>
    !${rows(...shown)}
  </section>`;
}
