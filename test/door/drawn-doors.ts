import { randomUUID } from 'node:crypto';
import { formatPassReference } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { createPassSigner } from '@floodgate/passes';
import { reserveBatch } from '@floodgate/registrations';
import type { Random } from '../faults/random.ts';
import { addGate, enrolledDevice, type DoorDevice, type Scan } from '../harness/door-device.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { PartnerClient } from '../harness/partner-client.ts';
import { reservationOf } from '../harness/reservation.ts';
import { ENTRY_RULES, type EntryRule } from './model.ts';

const LOCK_WITHIN_MS = 20_000;
const OFFLINE_MS = 30 * 60_000;
const CLOCK_ERRORS_MS = [0, 0, 600_000, -600_000, 1_500];

export interface Gate {
  id: number;
  name: string;
  area: string;
  rule: EntryRule;
  tickets: number[] | null;
}

export interface Pass {
  serial: number;
  /** The serial of the first registration of its seat. */
  seat: number;
  reference: string;
  text: string;
  ticketId: number;
  /** Why the text admits nobody. */
  fault: 'invalid-signature' | 'unknown' | null;
}

/** A scan, and what is known about it. */
export interface Entry {
  scan: Scan;
  pass: Pass;
  gate: Gate;
  trueMs: number;
  /** The longest time that a call with it took. The server may date the scan this much too late. */
  slackMs: number;
  /** Whether the device asked the server at once. */
  isLive: boolean;
  isReceived: boolean;
  /** Whether it was received without the decision that follows. */
  isAlone: boolean;
  /** The outcome when the server received it. */
  outcome: string | null;
}

/** A device, and what it knows. */
export interface Door {
  client: DoorDevice;
  name: string;
  gates: Gate[];
  entries: Entry[];
  /** By area and pass, whether the person that this device has let in is inside. */
  admissions: Map<string, boolean>;
  /** When the device made its last scan. */
  lastMs: number;
  isClockSet: boolean;
  isInOrder: boolean;
  /** The highest counter that the server knows. */
  named: number;
  isSignedOff: boolean;
  goneAs: 'lost' | 'revoked' | null;
  /** Whether the device sends its last scans and signs off. */
  isReliable: boolean;
}

/** A process of the API that can be killed, and a second one. */
export interface Server {
  baseUrl: string;
  otherUrl: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** An event with its doors. */
export interface World {
  db: Database;
  server: Server;
  fixture: Fixture;
  partner: PartnerClient;
  signer: ReturnType<typeof createPassSigner>;
  gates: Gate[];
  passes: Pass[];
  doors: Door[];
  /** Registrations that are cancelled. A device knows those that were cancelled before it last fetched revocations. */
  cancelled: Set<Pass>;
  /** Those of them whose attendee was changed. */
  replaced: Set<Pass>;
  problems: string[];
  /** How often each step was made. */
  uses: Record<string, number>;
}

export const keyOf = ({ area }: Gate, pass: Pass) => `${area} ${pass.serial}`;
/** An admission belongs to the seat. A device that is offline knows only passes. */
export const seatKeyOf = ({ area }: Gate, { seat, text }: Pass) => `${area} ${seat || text}`;
export const waitingOf = ({ entries }: Door) => entries.filter(({ isReceived }) => !isReceived);

/** Creates an event with 1 to 3 areas, 2 to 20 devices and 5 to 30 passes. */
export async function createWorld(db: Database, server: Server, random: Random): Promise<World> {
  const fixture = await createFixture(db);
  const tickets = [await fixture.addTicket(), await fixture.addTicket({ title: 'Balcony' })];
  const gates = await createGates(db, fixture, tickets, random);
  const passes = await createPasses(db, fixture, tickets, random);
  const seeds = Array.from({ length: random.between(2, 20) }, (_, index) => ({
    name: `Scanner ${index + 1}`,
    gates: gates.filter(() => random.chance(60)),
    clockErrorMs: random.pick(CLOCK_ERRORS_MS),
    isReliable: random.chance(85),
  }));
  const areDone = random.chance(40);
  const doors = await Promise.all(
    seeds.map((seed, index) =>
      createDoor(db, index % 2 === 0 ? server.baseUrl : server.otherUrl, fixture, {
        ...seed,
        gates: seed.gates.length > 0 ? seed.gates : gates.slice(0, 1),
        isReliable: seed.isReliable || areDone,
      }),
    ),
  );
  const partner = new PartnerClient(server.otherUrl, fixture);
  const known = { cancelled: new Set<Pass>(), replaced: new Set<Pass>(), problems: [], uses: {} };
  const signer = createPassSigner({ db });
  return { db, server, fixture, partner, signer, gates, passes, doors, ...known };
}

async function createGates(db: Database, { eventId }: Fixture, tickets: number[], random: Random) {
  const gates: Gate[] = [];
  for (const area of ['main', 'yard', 'bar'].slice(0, random.between(1, 3))) {
    const rule = random.pick(ENTRY_RULES);
    for (let count = random.between(1, 2); count > 0; count -= 1) {
      const name = `Gate ${gates.length + 1}`;
      const admitted = random.chance(20) ? tickets.slice(0, 1) : null;
      const id = await addGate(db, eventId, { name, area, entryRule: rule, tickets: admitted });
      gates.push({ id, name, area, rule, tickets: admitted });
    }
  }
  return gates;
}

async function createPasses(db: Database, fixture: Fixture, tickets: number[], random: Random) {
  const wanted = Array.from({ length: random.between(5, 30) }, () => random.pick(tickets));
  const reservations = wanted.map((ticketId) =>
    reservationOf(fixture, ticketId, { passCode: random.between(1_000_000_000, 2_000_000_000) }),
  );
  const outcomes = await reserveBatch(db, randomUUID(), reservations, { lockWithinMs: LOCK_WITHIN_MS });
  const signer = createPassSigner({ db });
  const passes: Pass[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind !== 'registered') throw new Error(outcome.kind);
    const { serial, passCode } = outcome;
    const { eventId, passPrefix } = fixture;
    const ticketId = wanted[index]!;
    const reference = formatPassReference({ prefix: passPrefix, eventId, serial, passCode });
    const text = await signer.tokenFor({ eventId, ticketId, serial });
    passes.push({ serial, seat: serial, reference, text, ticketId, fault: null });
  }
  return [...passes, ...(await createFaultyPasses(signer, passes[0]!, fixture))];
}

/** Returns texts that admit nobody: a forged pass, a pass of another event, and the code of another system. */
async function createFaultyPasses(
  signer: ReturnType<typeof createPassSigner>,
  pass: Pass,
  { eventId }: Fixture,
): Promise<Pass[]> {
  const { text, serial, ticketId } = pass;
  const forged = text.slice(0, 60) + (text[60] === '0' ? '1' : '0') + text.slice(61);
  const foreign = await signer.tokenFor({ eventId: eventId + 1, ticketId, serial });
  const faulty = { serial: 0, seat: 0, reference: 'GALA-1', ticketId };
  return [
    { ...faulty, text: forged, fault: 'invalid-signature' },
    { ...faulty, text: foreign, fault: 'unknown' },
    { ...faulty, text: 'https://example.com/tickets/42', fault: 'unknown' },
  ];
}

async function createDoor(
  db: Database,
  baseUrl: string,
  { eventId }: Fixture,
  { clockErrorMs, ...given }: Pick<Door, 'name' | 'gates' | 'isReliable'> & Pick<DoorDevice, 'clockErrorMs'>,
): Promise<Door> {
  const ids = given.gates.map(({ id }) => id);
  const client = await enrolledDevice(db, baseUrl, eventId, ids, given.name);
  client.clockErrorMs = clockErrorMs;
  const known = { entries: [], admissions: new Map<string, boolean>(), lastMs: Date.now() - OFFLINE_MS };
  const state = { isClockSet: false, isInOrder: true, named: 0, isSignedOff: false, goneAs: null };
  return { client, ...given, ...known, ...state };
}
