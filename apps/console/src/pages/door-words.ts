import type { CountedGate, DescribedDevice } from '@floodgate/door/console';
import type { Event } from '@floodgate/events/console';
import { html } from 'ghtml';
import type { Format } from '../view/format.ts';
import { chip, Html, together, NOTHING, type Shown, type Tone } from '../view/html.ts';
import type { Words } from '../words/index.ts';

/** The context of the parts of a door's pages. All viewers with the same language get the same. */
export interface Look {
  event: Event;
  words: Words;
  /** In the zone of the event. */
  format: Format;
}

/** Returns the tickets that a gate admits by their names, or those that it does not admit if they are fewer. */
export function ticketsOfGate(
  { tickets: ids }: Pick<CountedGate, 'tickets'>,
  tickets: readonly { id: number; title: string }[],
  { words: { door }, format }: Look,
) {
  if (ids === null) return door.allTickets;
  const admitted = tickets.filter(({ id }) => ids.includes(id));
  const others = tickets.filter(({ id }) => !ids.includes(id));
  if (others.length === 0) return door.allTickets;
  const titles = (some: typeof admitted) => format.list(some.map(({ title }) => title));
  return others.length < admitted.length ? door.allBut(titles(others)) : titles(admitted);
}

/** Returns whether a gate is open, until when, or when it opens. */
export function gateState(
  { opensAt, closesAt }: CountedGate,
  { words: { door }, format }: Look,
  now = new Date(),
) {
  if (closesAt && closesAt <= now) return chip('quiet', door.closed(format.timeText(closesAt)));
  if (opensAt && opensAt > now) return chip('warn', door.opens(format.timeText(opensAt)));
  const until = closesAt
    ? new Html(html`<span class="soft">${door.until(format.timeText(closesAt))}</span>`)
    : NOTHING;
  return together(chip('ok', door.open), until);
}

const TONES: Record<DescribedDevice['state'], Tone> = {
  'not enrolled': 'quiet',
  lost: 'bad',
  'signed off': 'quiet',
  revoked: 'quiet',
  active: 'ok',
};

/**
 * Returns the state of a device. A silent one is marked. One that was never enrolled says until when its code is
 * good.
 */
export function deviceState(device: DescribedDevice, { words: { door }, format }: Look, now = new Date()) {
  const { state, isSilent, codeExpiresAt, revokedAt } = device;
  if (isSilent) return chip('bad', door.silent);
  if (state !== 'not enrolled') return chip(TONES[state], door.states[state]);
  if (revokedAt) return chip('quiet', door.states.revoked);
  const code = codeExpiresAt > now ? door.codeUntil(format.clock(codeExpiresAt)) : door.codeExpired;
  return together(chip('quiet', door.states[state]), new Html(html`<span class="soft">${code}</span>`));
}

/** Returns the last contact in words: how long a device has been silent that should not be. */
export function contactOf(
  { lastContactAt, isSilent }: DescribedDevice,
  { words: { door }, format }: Look,
): Shown {
  if (!lastContactAt) return door.never;
  if (!isSilent) return format.ago(lastContactAt);
  const silent = door.silentFor(format.duration(Date.now() - lastContactAt.getTime(), 'long'));
  return new Html(html`<strong class="bad" title="${format.timeText(lastContactAt)}">${silent}</strong>`);
}

/** The clock of a device is right within this. The server corrects what is more. */
const CLOCK_TOLERANCE_MS = 2_000;

/** Returns how far the clock of a device is from that of the server. */
export function clockOf({ lastContactAt, skewMs }: DescribedDevice, { words: { door }, format }: Look) {
  if (!lastContactAt) return null;
  if (Math.abs(skewMs) < CLOCK_TOLERANCE_MS) return door.clockRight;
  const error = format.duration(Math.abs(skewMs));
  // The correction of a device's clock that is late.
  return skewMs > 0 ? door.clockBehind(error) : door.clockAhead(error);
}

/** Returns ranges of counters: "2–5, 9". */
export const rangesText = (ranges: DescribedDevice['missing']) =>
  ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ');

/** Returns why a device may have scans that did not arrive. */
export function remarksOn(device: DescribedDevice, { words: { door }, format }: Look): string[] {
  const { name, state, missing, lastCounter, forkedCounter } = device;
  const last = format.number(lastCounter);
  return [
    ...(missing.length > 0 ? [door.remarks.missing(name, rangesText(missing))] : []),
    ...(state === 'lost' || state === 'revoked' || state === 'active'
      ? [door.remarks[state](name, last)]
      : []),
    ...(forkedCounter === null ? [] : [door.remarks.forked(name, format.number(forkedCounter))]),
  ];
}
