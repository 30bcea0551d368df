import { perform } from '@floodgate/audit';
import { revokeDeviceAction } from '@floodgate/door/actions';
import { parsePassReference } from '@floodgate/contract';
import { cancelRegistrationAction, replaceAttendeeAction } from '@floodgate/registrations/actions';
import type { Random } from '../faults/random.ts';
import { answerOf, isRefused, type Outcome, type Scan } from '../harness/door-device.ts';
import { killDuring, signOff, tryUpload, upload } from './drawn-calls.ts';
import { keyOf, waitingOf, type Door, type Entry, type Gate, type Pass, type World } from './drawn-doors.ts';
import { attendee } from '../harness/partner-client.ts';
import { isSeatAdmitted, predict } from './model-facts.ts';

const HOT_PASSES = 4;
const LONGEST_PAUSE_MS = 300_000;

/** A pass that somebody presents at a gate. */
interface Attempt {
  pass: Pass;
  text: string;
  gate: Gate;
  direction: 'in' | 'out';
  knowsCancelled: boolean;
}

function drawAttempt({ passes }: World, { gates }: Door, random: Random): Attempt {
  const pass = random.pick(random.chance(70) ? passes.slice(0, HOT_PASSES) : passes);
  const isReference = pass.fault === null && random.chance(10);
  return {
    pass,
    text: isReference ? pass.reference : pass.text,
    gate: random.pick(gates),
    direction: random.chance(25) ? 'out' : 'in',
    knowsCancelled: random.chance(50),
  };
}

/** Returns what a device decides offline: it knows only its own admissions. */
function decide({ cancelled }: World, { admissions }: Door, attempt: Attempt): string {
  const { pass, text, gate, direction, knowsCancelled } = attempt;
  if (direction === 'out') return 'exited';
  if (text === pass.reference) return 'unknown';
  if (pass.fault) return pass.fault;
  if (knowsCancelled && cancelled.has(pass)) return 'cancelled';
  if (gate.tickets && !gate.tickets.includes(pass.ticketId)) return 'wrong-gate';
  const isInside = admissions.get(keyOf(gate, pass));
  const isAgain = gate.rule === 'any' || (gate.rule === 're-entry' && isInside === false);
  return isInside === undefined || isAgain ? 'admitted' : 'already-admitted';
}

/** Appends a scan to the chain of a door. Every scan is later than the one before. */
function append(
  door: Door,
  { pass, text, gate, direction }: Attempt,
  more: Partial<Scan>,
  atMs = Date.now(),
): Entry {
  const { client } = door;
  const trueMs = Math.max(door.lastMs + 1, atMs);
  door.lastMs = trueMs;
  const scannedAt = new Date(trueMs + client.clockErrorMs).toISOString();
  const scan = client.append(text, gate.id, { direction, scannedAt, ...more });
  const isLive = false;
  const entry = {
    scan,
    pass,
    gate,
    trueMs,
    slackMs: 0,
    isLive,
    isReceived: false,
    isAlone: false,
    outcome: null,
  };
  door.entries.push(entry);
  return entry;
}

/** Notes what a device has learned from an outcome. */
function learn({ admissions }: Door, { pass, gate }: Attempt, outcome: string | null): void {
  const key = keyOf(gate, pass);
  if (outcome === 'admitted') admissions.set(key, true);
  else if (outcome === 'exited' && admissions.has(key)) admissions.set(key, false);
}

function decideOffline(world: World, door: Door, attempt: Attempt, of: number | null, atMs?: number): Entry {
  const decision = decide(world, door, attempt);
  learn(door, attempt, decision);
  return append(door, attempt, { decision, of }, atMs);
}

/** A scan offline, now or in the time since the last one. */
function scanOffline(world: World, door: Door, random: Random): string {
  const latestMs = random.chance(50) ? Date.now() : Math.min(Date.now(), door.lastMs + LONGEST_PAUSE_MS);
  const atMs = random.between(Math.min(door.lastMs + 1, latestMs), latestMs);
  return decideOffline(world, door, drawAttempt(world, door, random), null, atMs).scan.decision!;
}

/** Asks the server until it answers. Resolves to the outcome; the device does not know it yet. */
async function ask(
  world: World,
  door: Door,
  attempt: Attempt,
): Promise<{ counter: number; outcome: string | null }> {
  const entry = append(door, attempt, {});
  entry.isLive = true;
  await upload(world, door, [entry]);
  return { counter: entry.scan.counter, outcome: entry.outcome };
}

/** Asks the server, if no scan waits. `isLost`: the answer does not arrive, and the device decides itself. */
async function scanOnline(world: World, door: Door, random: Random, isLost: boolean): Promise<string> {
  const attempt = drawAttempt(world, door, random);
  if (waitingOf(door).length > 0) return decideOffline(world, door, attempt, null).scan.decision!;
  const expected = await predict(world, attempt);
  const { counter, outcome } = await ask(world, door, attempt);
  if (outcome !== expected)
    world.problems.push(`${door.name}: scan ${counter} is ${outcome} online, not ${expected}`);
  if (isLost) decideOffline(world, door, attempt, counter);
  else learn(door, attempt, outcome);
  return String(outcome);
}

/** A question that does not reach the server. It is sent later, with the decision. */
function scanCut(world: World, door: Door, random: Random): string {
  const attempt = drawAttempt(world, door, random);
  const { scan } = append(door, attempt, {});
  return decideOffline(world, door, attempt, scan.counter).scan.decision!;
}

/** A question that is still being answered when the device decides itself and sends both. */
async function scanOvertaken(world: World, door: Door, random: Random): Promise<string> {
  if (waitingOf(door).length > 0) return 'none';
  const attempt = drawAttempt(world, door, random);
  const question = append(door, attempt, {});
  question.isLive = true;
  const slow = tryUpload(door, [question]);
  const decided = decideOffline(world, door, attempt, question.scan.counter);
  const [first] = await Promise.all([slow, upload(world, door, [question, decided])]);
  // The server may have let the person in before it received the decision.
  const outcomes = (first?.body.responseData as { outcomes?: Outcome[] } | null)?.outcomes;
  if (outcomes) question.outcome = outcomes[0]!.outcome;
  return question.outcome ?? 'throttled';
}

/** Undoes one of the last scans. */
async function undo(world: World, door: Door, random: Random): Promise<string> {
  const undone = new Set(door.entries.map(({ scan }) => scan.of));
  const counted = door.entries.filter(
    ({ scan, outcome }) =>
      scan.direction !== 'undo' &&
      !undone.has(scan.counter) &&
      ['admitted', 'exited'].includes(scan.decision ?? outcome ?? ''),
  );
  const entry = counted.at(-random.between(1, 2));
  if (!entry) return 'none';
  const { pass, gate, scan } = entry;
  if (scan.direction === 'in') door.admissions.delete(keyOf(gate, pass));
  const attempt: Attempt = { pass, text: scan.pass, gate, direction: 'in', knowsCancelled: false };
  const isFirst = waitingOf(door).length === 0;
  const undoing = append(door, attempt, { direction: 'undo', of: scan.counter, decision: 'undone' });
  if (isFirst && random.chance(70)) await upload(world, door, [undoing]);
  return 'done';
}

/** Uploads what waits: all, the first ones, twice, or in the wrong order. */
async function uploadSome(world: World, door: Door, random: Random): Promise<string> {
  const waiting = waitingOf(door);
  if (waiting.length === 0) return 'none';
  const mode = random.pick(['all', 'first', 'twice', 'reversed']);
  const cut = random.between(1, waiting.length);
  if (mode === 'first') await upload(world, door, waiting.slice(0, cut));
  else if (mode === 'reversed') {
    door.isInOrder = false;
    for (const entries of [waiting.slice(cut), waiting.slice(0, cut)]) await upload(world, door, entries);
  } else {
    await upload(world, door, waiting);
    if (mode === 'twice') await upload(world, door, waiting);
  }
  return mode;
}

const pickDoors = (random: Random, doors: readonly Door[]) =>
  random.shuffle(doors).slice(0, random.between(2, 6));

/** Several devices ask about one pass at the same time. At most one of them lets the person in. */
async function askTogether(world: World, doors: readonly Door[], random: Random): Promise<string> {
  const attempt = drawAttempt(world, random.pick(doors), random);
  attempt.direction = 'in';
  const able = doors.filter((door) => door.gates.includes(attempt.gate) && waitingOf(door).length === 0);
  const expected = await predict(world, attempt);
  const asked = await Promise.all(able.map(async (door) => ({ door, ...(await ask(world, door, attempt)) })));
  const admitted = asked.filter(({ outcome }) => outcome === 'admitted').length;
  const most = attempt.gate.rule === 'any' ? asked.length : Math.min(1, asked.length);
  const right = expected === 'admitted' ? most : 0;
  if (admitted !== right)
    world.problems.push(
      `${asked.length} devices ask about ${keyOf(attempt.gate, attempt.pass)}: ${admitted} admit`,
    );
  for (const { door, outcome } of asked) learn(door, attempt, outcome);
  return `${admitted} of ${asked.length}`.replace(/\d+$/, 'some');
}

async function uploadTogether(world: World, doors: readonly Door[]): Promise<string> {
  await Promise.all(doors.map((door) => upload(world, door, waitingOf(door))));
  return 'done';
}

async function kill(world: World, doors: readonly Door[], random: Random): Promise<string> {
  for (const door of doors) scanOffline(world, door, random);
  await killDuring(world, doors, random.between(0, doors.length - 1), random.between(0, 15));
  return 'done';
}

/** A pass whose seat can change, often one that many devices scan. The first one stays valid. */
function drawValid({ passes, cancelled }: World, random: Random): Pass | undefined {
  const valid = passes.slice(1).filter((pass) => !pass.fault && !cancelled.has(pass));
  return valid[random.chance(50) ? 0 : random.between(0, valid.length - 1)];
}

/** Notes the pass of the new attendee of a seat. It takes the place of the old one among the passes that are scanned often. */
async function noteReplaced(world: World, pass: Pass, reference: string): Promise<void> {
  const { serial } = parsePassReference(reference)!;
  const { eventId } = world.fixture;
  const text = await world.signer.tokenFor({ eventId, ticketId: pass.ticketId, serial });
  const later = { ...pass, serial, reference, text };
  world.passes[world.passes.indexOf(pass)] = later;
  world.passes.push(pass);
  world.cancelled.add(pass);
  world.replaced.add(pass);
}

let attendees = 0;

/** A partner cancels a registration, or changes its attendee. Resolves to the code. */
async function takeSeat(world: World, pass: Pass, change: 'cancel' | 'change'): Promise<string> {
  const { partner, cancelled } = world;
  const someone = attendee(pass.ticketId, { emailAddress: `later-${(attendees += 1)}@example.com` });
  const { body } = await answerOf(() =>
    change === 'cancel'
      ? partner.cancel(pass.reference)
      : partner.post(`/registrations/${pass.reference}/attendee`, someone),
  );
  if (body.responseCode !== '00') return body.responseCode;
  if (change === 'cancel') cancelled.add(pass);
  else await noteReplaced(world, pass, body.responseData as string);
  return '00';
}

/** A partner takes a seat from its attendee: refused once the seat was admitted, and only then. */
async function takeByPartner(world: World, random: Random, change: 'cancel' | 'change'): Promise<string> {
  const pass = drawValid(world, random);
  if (!pass) return 'none';
  const expected = (await isSeatAdmitted(world, pass)) ? '35' : '00';
  const code = await takeSeat(world, pass, change);
  if (code !== expected) world.problems.push(`${change} of ${pass.reference}: ${code}, not ${expected}`);
  return code;
}

/** The same while devices ask about the pass: either somebody is let in, or the seat is taken. */
async function takeDuringScans(world: World, doors: readonly Door[], random: Random): Promise<string> {
  const pass = drawValid(world, random);
  if (!pass) return 'none';
  const change = random.pick(['cancel', 'change'] as const);
  const wasAdmitted = await isSeatAdmitted(world, pass);
  const able = doors.filter((door) => waitingOf(door).length === 0);
  const scans = able.map(async (door) => {
    const gate = random.pick(door.gates);
    const attempt: Attempt = { pass, text: pass.text, gate, direction: 'in', knowsCancelled: false };
    const { outcome } = await ask(world, door, attempt);
    learn(door, attempt, outcome);
    return outcome;
  });
  const [code, ...outcomes] = await Promise.all([takeSeat(world, pass, change), ...scans]);
  const isAdmitted = wasAdmitted || outcomes.includes('admitted');
  if ((code === '35') !== isAdmitted)
    world.problems.push(`${change} of ${pass.reference} during scans: ${code}, and ${outcomes.join(', ')}`);
  return code;
}

/** An operator may take the seat, also after an admission. */
async function takeByOperator(world: World, random: Random, change: 'cancel' | 'change'): Promise<string> {
  const pass = drawValid(world, random);
  if (!pass) return 'none';
  const expected = await isSeatAdmitted(world, pass);
  const { reference: passReference } = pass;
  const emailAddress = `later-${(attendees += 1)}@example.com`;
  const done =
    change === 'cancel'
      ? await perform(world.db, cancelRegistrationAction, { passReference }, 'tests')
      : await perform(
          world.db,
          replaceAttendeeAction,
          { passReference, fullName: 'Later', emailAddress },
          'tests',
        );
  if (change === 'cancel') world.cancelled.add(pass);
  else await noteReplaced(world, pass, done.passReference);
  if (done.wasAdmitted !== expected)
    world.problems.push(`${change} of ${passReference} by the operator: admitted is ${done.wasAdmitted}`);
  return expected ? 'admitted' : 'not admitted';
}

/** The operator revokes a device, which may be lost. */
async function revoke(
  { db, fixture: { eventId }, problems }: World,
  door: Door,
  random: Random,
): Promise<string> {
  const lost = random.chance(50);
  await perform(db, revokeDeviceAction, { eventId, deviceId: door.client.id, lost }, 'tests');
  door.goneAs = lost ? 'lost' : 'revoked';
  const waiting = waitingOf(door);
  const answer = waiting.length > 0 ? await tryUpload(door, waiting) : null;
  if (answer && answer.status !== 410 && !isRefused(answer))
    problems.push(`${door.name} is ${door.goneAs}: ${answer.text}`);
  return door.goneAs;
}

async function nameCounter(door: Door): Promise<string> {
  const { body } = await door.client.state();
  if (body.responseCode === '00') door.named = Math.max(door.named, door.entries.length);
  return body.responseCode;
}

function setClock(door: Door, random: Random): string {
  door.client.clockErrorMs = random.between(-600_000, 600_000);
  door.isClockSet = true;
  return 'done';
}

type Step = (world: World, door: Door, random: Random, doors: readonly Door[]) => Promise<string> | string;

const STEPS: Record<string, [weight: number, step: Step]> = {
  online: [9, (world, door, random) => scanOnline(world, door, random, false)],
  'answer lost': [4, (world, door, random) => scanOnline(world, door, random, true)],
  offline: [12, scanOffline],
  cut: [4, scanCut],
  overtaken: [2, scanOvertaken],
  undo: [3, undo],
  upload: [6, uploadSome],
  'ask together': [3, (world, _door, random, doors) => askTogether(world, pickDoors(random, doors), random)],
  'upload together': [2, (world, _door, random, doors) => uploadTogether(world, pickDoors(random, doors))],
  cancel: [1, (world, _door, random) => takeByPartner(world, random, 'cancel')],
  change: [2, (world, _door, random) => takeByPartner(world, random, 'change')],
  'take during scans': [
    3,
    (world, _door, random, doors) => takeDuringScans(world, pickDoors(random, doors), random),
  ],
  'operator cancels': [1, (world, _door, random) => takeByOperator(world, random, 'cancel')],
  'operator changes': [2, (world, _door, random) => takeByOperator(world, random, 'change')],
  'sign off': [1, (world, door) => signOff(world, door).then(() => 'done')],
  state: [1, (_world, door) => nameCounter(door)],
  'set clock': [1, (_world, door, random) => setClock(door, random)],
};
const DRAWN = Object.entries(STEPS).flatMap(([name, [weight]]) => Array.from({ length: weight }, () => name));

function count({ uses }: World, name: string, outcome: string): void {
  const use = `${name}: ${outcome}`;
  uses[use] = (uses[use] ?? 0) + 1;
}

/** Makes drawn steps, if wanted with a kill of the API process. Then sends the last scans of all reliable devices, and signs them off. */
export async function play(world: World, random: Random, hasKill: boolean): Promise<void> {
  const killedAt = hasKill ? random.between(5, 39) : -1;
  const revokedAt = random.chance(30) ? random.between(5, 40) : -1;
  const steps = random.between(40, 90);
  for (let step = 0; step < steps && world.problems.length === 0; step += 1) {
    const doors = world.doors.filter(({ goneAs }) => goneAs === null);
    const name = random.pick(DRAWN);
    count(world, name, await STEPS[name]![1](world, random.pick(doors), random, doors));
    if (step === killedAt) count(world, 'kill', await kill(world, pickDoors(random, doors), random));
    if (step === revokedAt) count(world, 'revoke', await revoke(world, doors[0]!, random));
  }
  const last = world.doors.filter(({ goneAs, isReliable }) => goneAs === null && isReliable);
  await uploadTogether(world, last);
  for (const door of last) await signOff(world, door);
}
