import { inCamelCase, type Database } from '@floodgate/database';
import { sleep, systemClock, type Clock } from '@floodgate/service/clock';
import { createFairQueue } from '@floodgate/service/fair-queue';
import { sql } from 'kysely';
import { createDeviceText, hasPasswordForm, isPassword, parseDeviceText } from './secrets.ts';

// Anybody can try to sign in, and a check of a password takes about 0.3 s of a core. Four rules keep strangers
// from locking operators out: a text that is too short for a password is refused without a check; strangers are
// served in rotation, by address and then by name; the more passwords of an address were wrong, the later it
// learns that the next one is; and a browser that has signed in before has a queue and a count of failures of
// its own.

/** Wrong passwords before further ones have to wait. One of them is forgotten in each period. */
const MOST_FAILURES = 5;
const FORGET_MS = 60_000;
/** Limit of remembered addresses, and pairs of address and name. */
const MOST_REMEMBERED = 10_000;
/**
 * A caller that is refused without a check gets the answer as late as others. Otherwise 16 callers would keep
 * the console busy with answers.
 */
const REFUSED_AFTER_MS = 300;
/**
 * After its first MOST_FAILURES wrong passwords, an address waits this much longer for the answer to each
 * further one.
 */
const LATER_BY_MS = 1_000;
const LATEST_MS = 10_000;
const LIMITS = { answerWithinMs: 20_000, patienceMs: 20_000, waitingLimit: 10 };

interface Attempt {
  name: string;
  password: string;
  /** Of the caller. */
  address: string;
  /** The text that an earlier sign-in returned to this browser. */
  device: string | undefined;
  /** Whether the caller still waits. */
  isWanted: () => boolean;
}

/** An operator who gave the right password. */
interface SignedIn {
  operatorId: number;
  /** The text by which the browser is known from now on. */
  device: string;
}

export type SignIn = (attempt: Attempt) => Promise<SignedIn | undefined>;

interface Operator {
  id: number;
  passwordHash: string;
}

/**
 * Returns a function that checks a name and a password. It resolves to the operator's id and the text by
 * which the browser is known from now on, or to undefined: the caller must not say why. Strangers share one
 * core, known browsers another. Throws QueueFull if too many wait. `compare` compares a password with a
 * stored hash.
 */
export function createSignIn(db: Database, clock = systemClock, compare = isPassword): SignIn {
  const strangers = createStrangersQueue(clock);
  const known = createFairQueue({ ...LIMITS, clock });
  const failures = createFailureCounts(clock);

  async function check({ name, password, device }: Attempt, key: string) {
    const operator = await findOperator(db, name);
    const isRight = await compare(password, operator?.passwordHash ?? null);
    if (!isRight || !operator) {
      failures.add(key);
      return undefined;
    }
    failures.forget(key);
    const isKnown = device && parseDeviceText(device)?.isOf(operator);
    return {
      operatorId: operator.id,
      device: isKnown ? device : createDeviceText(operator.id, operator.passwordHash),
    };
  }

  const refuse = () => sleep(clock, REFUSED_AFTER_MS).then(() => undefined);

  /**
   * Guessers try again when they have the answer. Without this wait those behind an operator's address fill
   * its queue.
   */
  async function checkStranger(attempt: Attempt, network: string, key: string) {
    const { name, isWanted } = attempt;
    const signedIn = await strangers(network, name, isWanted, () => check(attempt, key));
    if (signedIn) return signedIn;
    failures.add(network);
    const tooMany = failures.countOf(network) - MOST_FAILURES;
    if (tooMany > 0) await sleep(clock, Math.min(LATEST_MS, tooMany * LATER_BY_MS));
    return undefined;
  }

  return async (attempt: Attempt) => {
    const { name, password, isWanted } = attempt;
    if (!hasPasswordForm(password)) return refuse();
    const network = networkOf(attempt.address);
    const deviceId = await findDevice(db, attempt);
    const key = deviceId ? `device ${deviceId}` : `${network} ${name}`;
    if (failures.isFull(key)) return refuse();
    return deviceId ? known(key, isWanted, () => check(attempt, key)) : checkStranger(attempt, network, key);
  };
}

async function findOperator(db: Database, name: string): Promise<Operator | undefined> {
  const { rows } = await sql<Operator>`
    select id, password_hash from operators
    where name = ${name} and disabled_at is null and password_hash is not null`.execute(inCamelCase(db));
  return rows[0];
}

/** Returns the id of the browser if the operator of this name has signed in with it before. */
async function findDevice(db: Database, { name, device }: Attempt) {
  const parsed = device === undefined ? undefined : parseDeviceText(device);
  const operator = parsed && (await findOperator(db, name));
  return operator && parsed.isOf(operator) ? parsed.id : undefined;
}

/**
 * One check at a time: an address that tries many names, or a name that is tried by many, delays the others
 * by one check per turn.
 */
function createStrangersQueue(clock: Clock) {
  const ofAll = createFairQueue({ ...LIMITS, clock });
  const newEntry = () => ({ run: createFairQueue({ ...LIMITS, clock }), callers: 0 });
  const byAddress = new Map<string, ReturnType<typeof newEntry>>();

  return async function run<Result>(
    network: string,
    name: string,
    isWanted: () => boolean,
    work: () => Promise<Result>,
  ) {
    const entry = byAddress.getOrInsertComputed(network, newEntry);
    entry.callers += 1;
    try {
      return await entry.run(name, isWanted, () => ofAll(network, isWanted, work));
    } finally {
      entry.callers -= 1;
      if (entry.callers === 0) byAddress.delete(network);
    }
  };
}

/** Counts failures by key. In memory: a restart forgets them, and they are worth a few minutes only. */
function createFailureCounts(clock: Clock) {
  const counts = new Map<string, { count: number; at: number }>();
  const countOf = (key: string) => {
    const { count, at } = counts.get(key) ?? { count: 0, at: clock.now() };
    return Math.max(0, count - Math.floor((clock.now() - at) / FORGET_MS));
  };
  return {
    countOf,
    isFull: (key: string) => countOf(key) >= MOST_FAILURES,
    add(key: string) {
      const count = countOf(key) + 1;
      // At the end: the first key is the one that failed longest ago.
      counts.delete(key);
      counts.set(key, { count, at: clock.now() });
      if (counts.size > MOST_REMEMBERED) counts.delete(counts.keys().next().value!);
    },
    forget: (key: string) => void counts.delete(key),
  };
}

/** Returns what one caller has: an IPv4 address, or the first half of an IPv6 address. */
export function networkOf(address: string) {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!plain.includes(':')) return plain;
  const [before, after] = plain.split('::').map((half) => half.split(':').filter(Boolean)) as [
    string[],
    string[]?,
  ];
  const zeros = Array.from({ length: 8 - before.length - (after?.length ?? 0) }, () => '0');
  return before
    .concat(after ? zeros.concat(after) : [])
    .slice(0, 4)
    .join(':');
}
