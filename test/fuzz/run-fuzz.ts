import type { Database, DuplicatePolicy } from '@floodgate/database';
import fc from 'fast-check';
import { converse, sendAndReset } from './converse.ts';
import { hostileBytes } from './hostile-bytes.ts';
import {
  hostileBulk,
  hostileChange,
  hostileHold,
  hostileRegistration,
  hostileWaiting,
  hostileWebhook,
} from './hostile-requests.ts';
import { judge, rememberUnanswered } from './judge.ts';
import { readStrictly } from './read-strictly.ts';
import { createTarget, type Target } from './target.ts';

/** How long the smallest message that fails is looked for. */
const SHRINK_MS = 20_000;
/** Few enough to meet each other, so that a key is used again with the same and with other requests. */
const KEYS = ['!~', 'k'.repeat(255), ...Array.from({ length: 30 }, (_, number) => `key-${number}`)];

interface Lane {
  name: string;
  duplicatePolicy?: DuplicatePolicy;
  /** The connection is reset once the message is sent, and no answer is read. */
  isReset?: boolean;
  messages: (target: Target) => fc.Arbitrary<Buffer>;
}

/** Each on an event of its own, one message after the other; all at once. */
const LANES: readonly Lane[] = [
  { name: 'registrations', messages: hostileRegistration },
  { name: 'registrations, no duplicates', messages: hostileRegistration, duplicatePolicy: 'reject' },
  { name: 'registrations with keys', messages: (target) => hostileRegistration(target, KEYS) },
  {
    name: 'registrations with keys, no duplicates',
    messages: (target) => hostileRegistration(target, KEYS),
    duplicatePolicy: 'reject',
  },
  { name: 'bulk calls', messages: (target) => hostileBulk(target, KEYS) },
  { name: 'bulk calls, no duplicates', messages: hostileBulk, duplicatePolicy: 'reject' },
  { name: 'changes', messages: hostileChange },
  { name: 'changes, attendees once', messages: hostileChange, duplicatePolicy: 'return_existing' },
  { name: 'waiting lists', messages: (target) => hostileWaiting(target, KEYS) },
  { name: 'holds', messages: (target) => hostileHold(target, KEYS) },
  {
    name: 'holds, attendees once',
    messages: (target) => hostileHold(target, []),
    duplicatePolicy: 'reject',
  },
  { name: 'webhooks', messages: hostileWebhook },
  { name: 'bytes and a reset', messages: hostileBytes, isReset: true },
  ...[1, 2, 3, 4].map((number) => ({ name: `bytes ${number}`, messages: hostileBytes })),
];

export interface FuzzOptions {
  baseUrl: string;
  db: Database;
  /** Messages in all; a message may hold several requests. */
  requests: number;
  /** Decides every message. */
  seed: number;
  onProgress: (sent: number) => void;
}

export interface FuzzReport {
  targets: Target[];
  /** Messages sent, and requests that a strict reader sees in them. */
  sent: number;
  understood: number;
  /** Answers by their code, or status where they have none. */
  answers: Record<string, number>;
  /** What was wrong with the smallest message of a lane, and the message. */
  failures: string[];
}

/** Sends hostile messages, and judges every answer. Rejects only where it could not do so. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const report: FuzzReport = { targets: [], sent: 0, understood: 0, answers: {}, failures: [] };
  // In order, so that every run has the same ids.
  for (const { duplicatePolicy = 'allow' } of LANES) {
    report.targets.push(await createTarget(options.db, duplicatePolicy));
  }
  const runs = LANES.map((lane, index) => runLane(lane, report.targets[index]!, index, options, report));
  await Promise.all(runs);
  return report;
}

async function runLane(
  { name, messages, isReset = false }: Lane,
  target: Target,
  index: number,
  { baseUrl, requests, seed, onProgress }: FuzzOptions,
  report: FuzzReport,
): Promise<void> {
  let failedAt = Infinity;
  const property = fc.asyncProperty(messages(target), async (message) => {
    if (performance.now() > failedAt + SHRINK_MS) return;
    try {
      await tryMessage(baseUrl, target, message, isReset, report);
    } catch (error) {
      failedAt = Math.min(failedAt, performance.now());
      throw error;
    }
    onProgress(report.sent);
  });
  const numRuns = Math.ceil(requests / LANES.length);
  const {
    counterexample,
    errorInstance,
    numRuns: tried,
  } = await fc.check(property, { seed: seed + index, numRuns });
  if (!counterexample) return;
  report.failures.push(
    `${name}, message ${tried}: ${(errorInstance as Error).message}\n${readable(counterexample[0])}`,
  );
}

async function tryMessage(
  baseUrl: string,
  target: Target,
  message: Buffer,
  isReset: boolean,
  report: FuzzReport,
): Promise<void> {
  const reading = readStrictly(message);
  report.sent += 1;
  report.understood += reading.requests.length;
  if (isReset) {
    rememberUnanswered(target, reading.requests);
    return sendAndReset(baseUrl, message);
  }
  const answers = await converse(baseUrl, message, reading);
  for (const { status, text } of answers) {
    const label = /^\{"responseCode":"(\d\d)"/.exec(text)?.[1] ?? `status ${status}`;
    report.answers[label] = (report.answers[label] ?? 0) + 1;
  }
  judge(target, reading, answers);
}

const LONGEST_SHOWN = 4_000;

/** Bytes as text, line by line, everything but visible ASCII escaped. */
function readable(bytes: Buffer): string {
  const text = bytes.toString('latin1', 0, LONGEST_SHOWN);
  const escaped = text.replaceAll('\\', String.raw`\\`).replaceAll(/[^\n\u0020-\u007e]/g, (character) => {
    if (character === '\r') return String.raw`\r`;
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  const more = bytes.length > LONGEST_SHOWN ? `… (${bytes.length} bytes)` : '';
  return escaped.replaceAll('\n', '\\n\n') + more;
}
