import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { createPassSigner } from '@floodgate/passes';
import { reserveBatch } from '@floodgate/registrations';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type LoadResult } from '@floodgate/rehearsal/load/load';
import { addGate, enrolledDevice, type DoorDevice } from '@floodgate/test/harness/door-device.ts';
import { createFixture, type Fixture } from '@floodgate/test/harness/fixture.ts';
import { reservationOf } from '@floodgate/test/harness/reservation.ts';
import { sql } from 'kysely';
import { openFloodgate } from '../contenders/floodgate.ts';
import { attempt, type Mode, type Settings } from '../mode.ts';
import { registrationOf, ROOMY } from '../rates/workloads.ts';
import { atLeast, atMost, type Values } from '../report/results.ts';
import { quantile } from '../report/statistics.ts';

const DEVICES = 100;
/** Registrations in one call of reserve_batch, and scans in one call of a device. */
const AT_ONCE = 500;
const CONNECTIONS = 512;
const WARM_UP_SECONDS = 2;
/** A device may send 200 requests per second. */
const PAUSE_MS = 10;
const TOO_BUSY = ['50', '90'];
const OVERHEAD_SECONDS = 10;
/** Launches of a round. */
const LAUNCHES = 6;
const SCANS_PER_SECOND = 5_000;

const TARGETS = {
  'all scans stored after s': atMost(30),
  'launch during the upload ÷ alone': atLeast(0.9),
  'online scan p99 ms': atMost(25),
  'launch of an event with a gate ÷ without': atLeast(0.99),
  'not admitted': atMost(0),
};

/**
 * Measures how long devices take to send the scans that they made offline, what this costs a launch at half
 * of the possible rate, and how long one online scan takes during such a launch. Each round has a new event
 * at the door.
 */
export const DOOR: Mode = {
  name: 'door',
  help: `${DEVICES} devices that send offline scans, and online scans, during a launch at half load`,
  usual: { pairs: 3, seconds: 10, rows: 1_000 },
  duration: ({ pairs, seconds, rows }) =>
    OVERHEAD_SECONDS + pairs * (LAUNCHES * (seconds + 2) + (DEVICES * rows) / SCANS_PER_SECOND),
  measure: async (bench, settings) => {
    await using floodgate = await openFloodgate(bench.servers);
    const { db, baseUrl } = floodgate;
    const launch = await createLaunch(db, baseUrl);
    const withGate = await createLaunch(db, baseUrl, addGate);
    await launch({ seconds: WARM_UP_SECONDS });
    for (let round = 1; round <= settings.pairs; round += 1) {
      const values = await attempt(bench, `door, round ${round}`, async () => ({
        ...(await measureGate(launch, withGate, settings.seconds, round)),
        ...(await measureRound(db, baseUrl, launch, settings)),
      }));
      const row = `${DEVICES} devices with ${settings.rows} offline scans`;
      if (values) bench.results.add('At the door', row, values, TARGETS);
      bench.progress.add(DOOR.duration({ ...settings, pairs: 1 }));
    }
  },
};

type Launch = (how: { seconds: number; arrivalsPerSecond?: number }) => Promise<LoadResult>;

async function createLaunch(
  db: Database,
  baseUrl: string,
  prepare?: (db: Database, eventId: number) => Promise<unknown>,
): Promise<Launch> {
  const fixture = await createFixture(db);
  await prepare?.(db, fixture.eventId);
  const request = registrationOf(fixture, await fixture.addTicket({ capacity: ROOMY }));
  return (how) => generateLoad({ baseUrl, requests: [request], connections: CONNECTIONS, ...how });
}

/**
 * Compares a launch of an event that has a gate with one that has none. Alternates the order in each round.
 */
async function measureGate(plain: Launch, withGate: Launch, seconds: number, round: number): Promise<Values> {
  const before = round % 2 === 1 ? await plain({ seconds }) : undefined;
  const gated = await withGate({ seconds });
  const without = before ?? (await plain({ seconds }));
  return { 'launch of an event with a gate ÷ without': answersOf(gated, OK) / answersOf(without, OK) };
}

async function measureRound(
  db: Database,
  baseUrl: string,
  launch: Launch,
  { seconds, rows: scans }: Settings,
): Promise<Values> {
  const full = await launch({ seconds: WARM_UP_SECONDS });
  const arrivalsPerSecond = answersOf(full, OK) / full.seconds / 2;
  const half = (extra = 0) => launch({ seconds: seconds + extra, arrivalsPerSecond });
  const fixture = await createFixture(db);
  const gate = await addGate(db, fixture.eventId);
  const passes = await sell(db, fixture, DEVICES * scans + (seconds * 1_000) / PAUSE_MS);
  const enrol = () => enrolledDevice(db, baseUrl, fixture.eventId, [gate]);
  const devices = await Promise.all(Array.from({ length: DEVICES }, enrol));
  for (const [index, device] of devices.entries())
    for (const pass of passes.slice(index * scans, (index + 1) * scans))
      device.append(pass, gate, { decision: 'admitted' });
  const online = await enrol();
  const alone = await half();
  const [besideScans, times] = await Promise.all([
    half(WARM_UP_SECONDS),
    scanSlowly(online, gate, passes.slice(DEVICES * scans), seconds),
  ]);
  const uploading = uploadAll(devices);
  const beside = await half();
  const uploadSeconds = await uploading;
  const perSecond = answersOf(alone, OK) / alone.seconds;
  if (answersOf(besideScans, OK) === 0) throw new Error('the launch beside the scans had no answers');
  return {
    'all scans stored after s': uploadSeconds,
    'launch per second': perSecond,
    'launch during the upload ÷ alone': answersOf(beside, OK) / beside.seconds / perSecond,
    'launch p99 ms': alone.latencyMs.p99,
    'launch during the upload p99 ms': beside.latencyMs.p99,
    'online scan p50 ms': quantile(times, 0.5),
    'online scan p99 ms': quantile(times, 0.99),
    'not admitted': DEVICES * scans + times.length - (await countAdmitted(db, fixture)),
  };
}

/** Registers people as the API does. Resolves to their passes. */
async function sell(db: Database, fixture: Fixture, count: number): Promise<string[]> {
  const ticketId = await fixture.addTicket({ capacity: count });
  const { eventId } = fixture;
  const signer = createPassSigner({ db });
  const passes: string[] = [];
  while (passes.length < count) {
    const size = Math.min(AT_ONCE, count - passes.length);
    const group = Array.from({ length: size }, () => reservationOf(fixture, ticketId));
    for (const outcome of await reserveBatch(db, randomUUID(), group)) {
      if (outcome.kind !== 'registered') throw new Error('a registration was refused');
      passes.push(await signer.tokenFor({ eventId, ticketId, serial: outcome.serial }));
    }
  }
  return passes;
}

/**
 * Scans one pass after the other for this many seconds. Starts when the load generator is warm: it runs on
 * the same processors. Resolves to the times of the answers in milliseconds.
 */
async function scanSlowly(
  device: DoorDevice,
  gate: number,
  passes: readonly string[],
  seconds: number,
): Promise<number[]> {
  await delay(WARM_UP_SECONDS * 1_000);
  const times: number[] = [];
  const endsAt = performance.now() + seconds * 1_000;
  for (const pass of passes) {
    const startedAt = performance.now();
    if (startedAt > endsAt) break;
    await device.scan(pass, gate);
    times.push(performance.now() - startedAt);
    await delay(PAUSE_MS);
  }
  return times;
}

/** Sends the scans of all devices at the same time. Resolves to the seconds until all are stored. */
async function uploadAll(devices: readonly DoorDevice[]): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(
    devices.map(async (device) => {
      for (let first = 0; first < device.scans.length;) {
        const { body, headers } = await device.upload(device.scans.slice(first, first + AT_ONCE));
        if (body.responseCode === '00') first += AT_ONCE;
        // Too busy: the device tries again later.
        else if (TOO_BUSY.includes(body.responseCode))
          await delay(Number(headers.get('retry-after')) * 1_000);
        else throw new Error(body.responseMessage);
      }
    }),
  );
  return (performance.now() - startedAt) / 1_000;
}

async function countAdmitted(db: Database, { eventId }: Fixture): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from admissions where event_id = ${eventId} and again_of is null`.execute(db);
  return rows[0]!.count;
}
