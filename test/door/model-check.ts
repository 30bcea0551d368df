import { isDeepStrictEqual } from 'node:util';
import type { DoorReport } from '@floodgate/door/console';
import { answerOf, readReport, type Outcome } from '../harness/door-device.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { seatKeyOf, type Door, type Entry, type Gate, type World } from './drawn-doors.ts';
import {
  factsOf,
  isAdmittedBefore,
  readRecorded,
  scanKey,
  voidedOf,
  type Recorded,
  type ScannedFact,
} from './model-facts.ts';
import { isTied, judge, type Conflict } from './model.ts';

/** A device rounds to milliseconds, the database does not. */
const ROUNDING_MS = 2;

/** What the model knows at the end. */
interface Truth {
  facts: ScannedFact[];
  conflicts: Conflict<ScannedFact>[];
  insideOf: Map<string, number>;
  /** Passes and areas with two devices at one time. They are not compared. */
  ties: Set<string>;
}

function judgeAll(world: World, recorded: Recorded): Truth {
  const facts = factsOf(world, recorded);
  const truth: Truth = { facts, conflicts: [], insideOf: new Map(), ties: new Set() };
  const groups = Map.groupBy(facts, ({ entry }) => seatKeyOf(entry.gate, entry.pass));
  for (const [key, group] of groups) {
    const { area, rule } = group[0]!.entry.gate;
    if (isTied(group)) truth.ties.add(key);
    const { conflicts, inside } = judge(rule, group);
    truth.conflicts.push(...conflicts);
    truth.insideOf.set(area, (truth.insideOf.get(area) ?? 0) + inside);
  }
  return truth;
}

const compare = (what: string, actual: unknown, expected: unknown) =>
  isDeepStrictEqual(actual, expected)
    ? []
    : [`${what}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];

function conflictProblems({ fixture, passes }: World, { conflicts }: DoorReport, truth: Truth): string[] {
  const isTiedKey = (area: string, reference: string) => {
    const seat = passes.find((pass) => pass.reference === reference)?.seat;
    return truth.ties.has(`${area} ${seat}`);
  };
  // The model knows no names.
  const nameless = ({ passReference, gate, device, at }: DoorReport['conflicts'][number]['first']) => {
    return { passReference, gate, device, at };
  };
  const reported = conflicts
    .filter(({ area, passReference }) => !isTiedKey(area, passReference))
    .map(({ passReference, area, first, again }) => {
      return { passReference, area, first: nameless(first), again: nameless(again) };
    });
  const sideOf = ({ entry, door, date }: ScannedFact) => ({
    passReference: entry.pass.reference,
    gate: entry.gate.name,
    device: door.name,
    at: date,
  });
  const expected = truth.conflicts
    .map(({ first, again }) => ({
      passReference: again.entry.pass.reference,
      area: again.entry.gate.area,
      first: sideOf(first),
      again: sideOf(again),
    }))
    .filter(({ area, passReference }) => !isTiedKey(area, passReference));
  const sorted = (list: typeof expected) => list.map((one) => JSON.stringify(one)).toSorted();
  return compare(`conflicts of event ${fixture.eventId}`, sorted(reported), sorted(expected));
}

/**
 * Checks that no ticket lets in more people than it has seats, unless the report names the seat: as one of a
 * conflict, as one that is cancelled, or as one whose pass a device let in although the server refuses it.
 */
function peopleProblems(world: World, report: DoorReport, truth: Truth): string[] {
  const { passes, doors, cancelled, replaced } = world;
  const admitted = truth.facts.filter(
    ({ direction, entry }) => direction === 'in' && entry.gate.rule !== 'any',
  );
  const refused = doors.flatMap((door) => {
    const voided = voidedOf(door);
    const counted = new Set(truth.facts.map(({ entry }) => entry));
    return door.entries.filter(
      (entry) =>
        entry.isReceived &&
        entry.scan.decision === 'admitted' &&
        entry.gate.rule !== 'any' &&
        !voided.has(entry.scan.counter) &&
        !counted.has(entry),
    );
  });
  const freed = passes.filter((pass) => cancelled.has(pass) && !replaced.has(pass));
  const ofFreed = admitted.filter(({ entry }) => freed.some(({ seat }) => seat === entry.pass.seat));
  const keysOf = (entries: readonly Entry[]) => [
    ...new Set(entries.map(({ gate, pass }) => seatKeyOf(gate, pass))),
  ];
  const named = new Set([
    ...keysOf(truth.conflicts.map(({ again }) => again.entry)),
    ...keysOf(ofFreed.map(({ entry }) => entry)),
    ...keysOf(refused),
  ]);
  const seatOf = new Map(passes.map(({ reference, seat }) => [reference, seat]));
  const reported = [...report.conflicts, ...report.cancelled, ...report.letIn].map(
    ({ area, passReference }) => `${area} ${seatOf.get(passReference!)}`,
  );
  const clear = (keys: Iterable<string>) =>
    [...new Set(keys)].filter((key) => !truth.ties.has(key)).toSorted();
  const tooMany = report.tickets.filter(({ ticketId, area, people, exceptions, sold }) => {
    const seats = passes.filter((pass) => pass.ticketId === ticketId && !pass.fault && !cancelled.has(pass));
    const here = admitted.filter(({ entry }) => entry.pass.ticketId === ticketId && entry.gate.area === area);
    const letIn = refused.filter(({ pass, gate }) => pass.ticketId === ticketId && gate.area === area);
    const unique = keysOf(here.map(({ entry }) => entry)).length;
    const again = truth.conflicts.filter((one) => here.includes(one.again)).length;
    const hasTie = here.some(({ entry }) => truth.ties.has(seatKeyOf(entry.gate, entry.pass)));
    const isRight = hasTie || people === unique + again + letIn.length;
    return sold !== seats.length || !isRight || people - exceptions > sold;
  });
  return [
    ...compare('seats that are named', clear(reported), clear(named)),
    ...compare('people and seats', tooMany, []),
    ...compare('proved', report.proved, true),
  ];
}

function gateProblems({ gates }: World, report: DoorReport, { facts, insideOf, ties }: Truth): string[] {
  return gates.flatMap(({ id, area, name, rule }: Gate) => {
    const { admitted, inside } = report.gates.find((gate) => gate.id === id)!;
    const here = facts.filter(({ entry, direction }) => direction === 'in' && entry.gate.id === id);
    // With the rule any, nobody knows which of the people with one pass has left.
    const isUnclear = rule === 'any' || [...ties].some((key) => key.startsWith(`${area} `));
    return [
      ...compare(`admitted at ${name}`, admitted, here.length),
      ...(isUnclear ? [] : compare(`inside ${area}`, inside, insideOf.get(area) ?? 0)),
    ];
  });
}

/** Returns the ranges of counters that the server knows of and has not received. */
function missingOf({ entries, named }: Door): [number, number][] {
  const ranges: [number, number][] = [];
  for (const { scan, isReceived } of entries.slice(0, named)) {
    const last = ranges.at(-1);
    if (isReceived) continue;
    if (last?.[1] === scan.counter - 1) last[1] = scan.counter;
    else ranges.push([scan.counter, scan.counter]);
  }
  return ranges;
}

/** A device that signed off promised to scan nothing more, also if it is revoked afterwards. A lost device cannot keep a promise. */
function stateOf({ goneAs, isSignedOff }: Door) {
  if (goneAs !== 'lost' && isSignedOff) return 'signed off';
  return goneAs ?? 'active';
}

function verdictProblems({ doors }: World, report: DoorReport): string[] {
  const [open, except]: [string[], string[]] = [[], []];
  const devices = doors.map((door) => {
    const { client, name, named, entries, goneAs } = door;
    const missing = missingOf(door);
    const device = `device ${client.id} (${name})`;
    const state = stateOf(door);
    if (missing.length > 0) (goneAs ? except : open).push(`${device}: scans `);
    if (state === 'active') open.push(`${device} has not signed off after scan ${named}`);
    else if (state !== 'signed off') except.push(`${device} is ${state}: scans after ${named} `);
    const received = entries.filter(({ isReceived }) => isReceived).length;
    return { id: client.id, lastCounter: named, received, missing, state };
  });
  const reported = report.devices.map(({ id, lastCounter, received, missing, state }) => ({
    id,
    lastCounter,
    received,
    missing,
    state,
  }));
  const byId = (one: { id: number }, other: { id: number }) => one.id - other.id;
  const start = (texts: string[]) =>
    texts.map((text) => text.replace(/(: scans )(?!after).*|(: scans after \d+ ).*/, '$1$2')).toSorted();
  return [
    ...compare('complete', report.complete, open.length + except.length === 0),
    ...compare('open', start(report.open), open.toSorted()),
    ...compare('except', start(report.except), except.toSorted()),
    ...compare('devices', reported.toSorted(byId), devices.toSorted(byId)),
  ];
}

/** Checks the times of all received scans: the true ones, as exactly as the duration of the calls allows. */
function timeProblems({ doors }: World, recorded: Recorded): string[] {
  return doors.flatMap((door) => {
    let latestMs = -Infinity;
    const voided = voidedOf(door);
    return door.entries.flatMap((entry) => {
      const { scan, trueMs, slackMs, isReceived, isLive } = entry;
      const stored = recorded.scans.get(scanKey(door.client.id, scan.counter));
      // A question that arrives late is decided later, and has no time of its own.
      if (!isReceived || !stored || (scan.decision === null && !isLive)) return [];
      const atMs = stored.at / 1_000;
      const isEarly = door.isInOrder && scan.decision !== null && atMs < latestMs;
      // A scan of this millisecond can be dated before it, because no scan is dated in the future.
      const earliestMs = Math.min(trueMs, stored.receivedAt / 1_000) - ROUNDING_MS;
      const isRight = atMs >= earliestMs && atMs <= Math.max(trueMs + slackMs + ROUNDING_MS, latestMs);
      // A device can have decided while the server was still asked.
      if (scan.decision !== null || !voided.has(scan.counter)) latestMs = Math.max(latestMs, atMs);
      if (!isEarly && (isRight || door.isClockSet)) return [];
      return [`${door.name}: scan ${scan.counter} was made at ${trueMs} and is dated ${atMs} (±${slackMs})`];
    });
  });
}

/** Checks that the admissions are those of the model, and that they have the times of their scans. */
function admissionProblems({ doors }: World, recorded: Recorded, { facts }: Truth): string[] {
  const expected = facts.filter(({ direction }) => direction === 'in');
  const counted = [...recorded.admissions].filter(([, { isUndone }]) => !isUndone).map(([key]) => key);
  const undone = [...recorded.admissions].filter(([, { isUndone }]) => isUndone).map(([key]) => key);
  const mayBeUndone = new Set(
    doors.flatMap((door) =>
      [...voidedOf(door).keys()]
        .filter((counter) => {
          const { scan, outcome } = door.entries[counter - 1]!;
          return scan.decision === 'admitted' || outcome === 'admitted';
        })
        .map((counter) => scanKey(door.client.id, counter)),
    ),
  );
  return [
    ...compare(
      'admissions',
      counted.toSorted(),
      expected.map(({ deviceId, counter }) => scanKey(deviceId, counter)).toSorted(),
    ),
    ...compare(
      'undone admissions without a reason',
      undone.filter((key) => !mayBeUndone.has(key)),
      [],
    ),
    ...expected.flatMap((fact) => admissionTimeProblems(fact, recorded)),
  ];
}

function admissionTimeProblems(
  { door, entry, at, counter, deviceId }: ScannedFact,
  { scans }: Recorded,
): string[] {
  const stored = scans.get(scanKey(deviceId, counter))!;
  const question = isAdmittedBefore(door, entry) ? door.entries[entry.scan.of! - 1]! : null;
  const isRight = question
    ? at <= stored.at && (door.isClockSet || at >= (question.trueMs - ROUNDING_MS) * 1_000)
    : at === stored.at;
  return isRight
    ? []
    : [`${door.name}: the admission of scan ${counter} is dated ${at}, its scan ${stored.at}`];
}

/** Repeats all calls, and checks that each scan has the outcome that it must have by now. */
async function outcomeProblems(world: World, { facts, conflicts, ties }: Truth): Promise<string[]> {
  const again = new Set(conflicts.map((conflict) => conflict.again.entry));
  const counted = new Set(facts.map(({ entry }) => entry));
  const problems: string[] = [];
  for (const door of world.doors.filter(({ goneAs }) => goneAs === null)) {
    const voided = voidedOf(door);
    for (const entries of callsOf(door)) {
      const { body } = await answerOf(() => door.client.upload(entries.map(({ scan }) => scan)));
      const { outcomes } = body.responseData as { outcomes: Outcome[] };
      for (const [index, entry] of entries.entries()) {
        const expected = finalOutcome(
          entry,
          voided.get(entry.scan.counter),
          counted.has(entry),
          again.has(entry),
        );
        const { outcome } = outcomes[index]!;
        if (expected && outcome !== expected && !ties.has(seatKeyOf(entry.gate, entry.pass)))
          problems.push(`${door.name}: scan ${entry.scan.counter} is ${outcome}, not ${expected}`);
      }
    }
  }
  return problems;
}

/** Returns the outcome that a scan must have in the end, or null if a later scan has undone it. */
function finalOutcome(entry: Entry, later: Entry | undefined, isCounted: boolean, isAgain: boolean) {
  const { scan, outcome } = entry;
  if (later) return later.scan.direction === 'undo' ? null : 'superseded';
  if (scan.direction !== 'in' || !isCounted) return outcome;
  return isAgain ? 'admitted-again' : 'admitted';
}

/** Returns the received scans of a door, as calls with consecutive counters. */
function callsOf({ entries }: Door): Entry[][] {
  const calls: Entry[][] = [];
  for (const entry of entries.filter(({ isReceived }) => isReceived)) {
    const call = calls.at(-1);
    if (call?.at(-1)!.scan.counter === entry.scan.counter - 1) call.push(entry);
    else calls.push([entry]);
  }
  return calls;
}

/** Checks that each admission and each conflict is published, and no admission twice as the same. */
async function journalProblems(
  { db, fixture }: World,
  recorded: Recorded,
  { facts, conflicts, ties }: Truth,
) {
  await finalizePending(db, fixture.shardId);
  const entries = (await journalOf(db, fixture)).filter(({ kind }) => kind.startsWith('admitted'));
  const published = entries.map(({ kind, serial }) => `${kind} ${serial}`);
  const kinds = new Set(published);
  const serialOf = ({ deviceId, counter }: ScannedFact) =>
    recorded.admissions.get(scanKey(deviceId, counter))?.serial;
  const isClear = ({ entry }: ScannedFact) => !ties.has(seatKeyOf(entry.gate, entry.pass));
  const unpublished = [
    ...conflicts
      .filter(({ again }) => isClear(again) && !kinds.has(`admitted_again ${serialOf(again)}`))
      .map(({ again }) => again),
    ...facts.filter(
      (fact) =>
        fact.direction === 'in' &&
        !kinds.has(`admitted ${serialOf(fact)}`) &&
        !kinds.has(`admitted_again ${serialOf(fact)}`),
    ),
  ];
  const twice = published.filter((one, index) => published.indexOf(one) !== index);
  return [
    ...compare('published twice', twice, []),
    ...unpublished.map(
      ({ door, counter }) => `${door.name}: the admission of scan ${counter} is not published`,
    ),
  ];
}

/** Checks that no question was answered admitted twice without an exit, an undo or a decision between them. */
function onlineProblems({ doors }: World, { scans }: Recorded): string[] {
  const events = doors
    .flatMap((door) => door.entries.map((entry) => ({ door, entry })))
    .flatMap(({ door, entry }) => {
      const stored = scans.get(scanKey(door.client.id, entry.scan.counter));
      return stored && entry.isReceived && entry.gate.rule !== 'any' ? [{ door, entry, ...stored }] : [];
    })
    .toSorted((one, other) => one.receivedAt - other.receivedAt);
  const open = new Set<string>();
  return events.flatMap(({ door, entry }) => {
    const key = seatKeyOf(entry.gate, entry.pass);
    const { decision, of, direction } = entry.scan;
    if (direction !== 'in' || of !== null) open.delete(key);
    if (decision !== null || direction !== 'in' || entry.outcome !== 'admitted') return [];
    const isTwice = open.has(key);
    open.add(key);
    return isTwice ? [`${door.name}: scan ${entry.scan.counter} admits ${key} a second time online`] : [];
  });
}

/** Checks that a question that arrives together with its decision is not asked any more. */
function lateQuestionProblems({ doors }: World): string[] {
  return doors.flatMap(({ name, entries }) =>
    entries
      .filter(({ isLive, isReceived, scan }) => !isLive && isReceived && scan.decision === null)
      .filter(({ isAlone, outcome }) => !isAlone && outcome !== 'superseded')
      .map(({ scan, outcome }) => `${name}: scan ${scan.counter} has a decision, but is ${outcome}`),
  );
}

/** Compares everything that the server says about the doors with the model. Returns the differences, and counts. */
export async function findProblems(world: World) {
  const recorded = await readRecorded(world);
  const truth = judgeAll(world, recorded);
  const report = await readReport(world.db, world.fixture.eventId);
  const problems = [
    ...conflictProblems(world, report, truth),
    ...peopleProblems(world, report, truth),
    ...gateProblems(world, report, truth),
    ...verdictProblems(world, report),
    ...timeProblems(world, recorded),
    ...admissionProblems(world, recorded, truth),
    ...onlineProblems(world, recorded),
    ...lateQuestionProblems(world),
    ...(await outcomeProblems(world, truth)),
    ...(await journalProblems(world, recorded, truth)),
  ];
  const { facts, conflicts, ties } = truth;
  const counts = {
    scans: recorded.scans.size,
    admissions: facts.filter(({ direction }) => direction === 'in').length,
    conflicts: conflicts.length,
    complete: Number(report.complete),
    'not complete': Number(!report.complete),
    ties: ties.size,
  };
  return { problems, counts };
}
