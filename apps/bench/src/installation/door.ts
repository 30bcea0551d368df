import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { createPassSigner } from '@floodgate/passes';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type LoadResult } from '@floodgate/rehearsal/load/load';
import { reserveBatch } from '@floodgate/registrations';
import { addGate, enrolledDevice, type DoorDevice } from '@floodgate/test/harness/door-device.ts';
import { createFixture, type Fixture } from '@floodgate/test/harness/fixture.ts';
import { reservationOf } from '@floodgate/test/harness/reservation.ts';
import { sql } from 'kysely';
import { startFloodgate } from '../contenders/floodgate.ts';
import type { Figure } from '../results.ts';
import type { Servers } from '../servers.ts';
import { registrationOf, ROOMY } from '../workloads.ts';

const DEVICES = 100;
/** Registrations in one call of reserve_batch, and scans in one call of a device. */
const AT_ONCE = 500;
const CONNECTIONS = 512;
const WARM_UP_SECONDS = 2;
/** A device may send 200 requests per second. */
const PAUSE_MS = 10;
const TOO_BUSY = ['50', '90'];

interface Options {
  rounds: number;
  /** Of each launch. */
  seconds: number;
  /** Of each device. */
  scans: number;
}

/**
 * Measures how long devices take to send the scans that they made offline, what this costs a launch at half of the possible rate, and how
 * long one online scan takes during such a launch. Each round has a new event at the door.
 */
export async function doorFigures(servers: Servers, { rounds, seconds, scans }: Options): Promise<Figure[]> {
  await using database = await servers.openDatabase();
  await servers.emptyRedis();
  const { url, db } = database;
  const running = await startFloodgate({ databaseUrl: url, redisUrl: servers.redisUrl, db });
  const measured: Round[] = [];
  const gateRatios: number[] = [];
  try {
    const launch = await createLaunch(db, running.baseUrl);
    const withGate = await createLaunch(db, running.baseUrl, addGate);
    await launch({ seconds: WARM_UP_SECONDS });
    for (let round = 0; round < rounds; round += 1) {
      const full = await launch({ seconds: WARM_UP_SECONDS });
      const arrivalsPerSecond = answersOf(full, OK) / full.seconds / 2;
      const half = (extra = 0) => launch({ seconds: seconds + extra, arrivalsPerSecond });
      const before = round % 2 === 0 ? await launch({ seconds }) : undefined;
      const gated = await withGate({ seconds });
      const without = before ?? (await launch({ seconds }));
      gateRatios.push(answersOf(gated, OK) / answersOf(without, OK));
      measured.push(await measureOnce(db, running.baseUrl, half, { seconds, scans }));
    }
  } finally {
    await running.stop();
  }
  const of = (name: keyof Round) => measured.map((round) => round[name]);
  const all = `${DEVICES} devices with ${scans} offline scans`;
  return [
    { name: `${all}: time until all are stored`, unit: 's', rounds: of('uploadSeconds'), atMost: 30 },
    { name: `${all}: launch at half load ÷ without`, unit: '', rounds: of('ratio'), atLeast: 0.9 },
    { name: 'launch at half load: answers a second', unit: '', rounds: of('perSecond') },
    { name: 'launch at half load: p99', unit: 'ms', rounds: of('aloneP99Ms') },
    { name: 'launch at half load during the upload: p99', unit: 'ms', rounds: of('besideP99Ms') },
    {
      name: 'one online scan beside a launch at half load: p99',
      unit: 'ms',
      rounds: of('scanP99Ms'),
      atMost: 25,
    },
    { name: 'one online scan beside a launch at half load: median', unit: 'ms', rounds: of('scanP50Ms') },
    { name: 'hot ticket of an event with a gate ÷ without', unit: '', rounds: gateRatios, atLeast: 0.99 },
    { name: 'scans that were not admitted', unit: '', rounds: of('notAdmitted'), atMost: 0 },
  ];
}

type Round = Record<
  | ('uploadSeconds' | 'ratio' | 'perSecond' | 'aloneP99Ms' | 'besideP99Ms')
  | ('scanP99Ms' | 'scanP50Ms' | 'notAdmitted'),
  number
>;

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

async function measureOnce(
  db: Database,
  baseUrl: string,
  half: (extraSeconds?: number) => Promise<LoadResult>,
  { seconds, scans }: Pick<Options, 'seconds' | 'scans'>,
): Promise<Round> {
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
    uploadSeconds,
    perSecond,
    ratio: answersOf(beside, OK) / beside.seconds / perSecond,
    aloneP99Ms: alone.latencyMs.p99,
    besideP99Ms: beside.latencyMs.p99,
    scanP99Ms: times[Math.floor(times.length * 0.99)]!,
    scanP50Ms: times[Math.floor(times.length / 2)]!,
    notAdmitted: DEVICES * scans + times.length - (await countAdmitted(db, fixture)),
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
 * Scans one pass after the other for this many seconds. Starts when the load generator is warm: it runs on the same processors. Resolves to
 * the sorted times of the answers in milliseconds.
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
  return times.toSorted((one, other) => one - other);
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
