import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { pino, type DestinationStream, type Level } from 'pino';
import { systemClock } from './clock.ts';
import { redactUrls, sqlStateOf } from './failure.ts';

/**
 * Logs facts with a message, or only a message. The message is required: without one, pino uses the message
 * of a logged error, which may quote data.
 */
export type Logger = Record<Level, { (facts: object, message: string): void; (message: string): void }>;

/**
 * Creates the process's logger: JSON lines on standard output. If nobody reads the pipe or the disk is full,
 * lines are dropped and the process continues. The log holds no secrets and no attendees' data: only named
 * facts are logged, never a request, and data that a database or a parser quotes is removed from errors.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream) {
  const secret = ['secretKey', 'headers', 'body', 'password'];
  const options = {
    level,
    base: { service, pid: process.pid },
    serializers: { err: describeError, error: describeError },
    redact: { paths: secret.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  };
  const tellDropped = (dropped: number) =>
    log.warn({ dropped }, 'log lines were dropped: they could not be written');
  const log: Logger = pino(options, destination ?? standardOutput(tellDropped));
  return log;
}

const STDOUT = 1;
/** Limit of unread output. Further lines are dropped. */
const UNREAD_BYTES = 1024 * 1024;

// Replaces pino's destination, which blocks the process or its exit while nobody reads the pipe (decision
// 36). Calls `tell` with the number of dropped lines when lines can be written again.
function standardOutput(tell: (dropped: number) => void): DestinationStream {
  const { stdout } = process;
  let dropped = 0;
  const tellDropped = () => {
    const count = dropped;
    dropped = 0;
    if (count > 0) tell(count);
  };
  // The reader is gone, and there is nowhere to report that.
  stdout.on('error', () => {});
  stdout.on('drain', tellDropped);
  return {
    write(line) {
      if (isWritten(stdout, line)) tellDropped();
      else dropped += 1;
    },
  };
}

function isWritten(stdout: unknown, line: string) {
  if (stdout instanceof Socket) {
    if (stdout.writableLength > UNREAD_BYTES) return false;
    stdout.write(line);
    return true;
  }
  try {
    // Node writes to a file in the same way, but process.stdout stays broken after the first failure.
    writeSync(STDOUT, line);
    return true;
  } catch {
    return false;
  }
}

/** Returns a stack without its first lines, which repeat the message. */
const framesOf = (stack: string) => stack.match(/^ +at .*$/gm)?.join('\n') ?? '';

type ErrorDescription = Partial<Record<'code' | 'constraint' | 'stack', string>> & {
  type: string;
  message: string;
  cause?: ErrorDescription;
};

/** Errors to log without a stack, because the same failure was logged with its stack recently. */
const repeated = new WeakSet<object>();

/**
 * Describes an error without the data that it may quote. Postgres quotes values in its message, detail and
 * context, so only its SQLSTATE and constraint are logged.
 */
export function describeError(error: unknown, withStack?: boolean): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  const hasStack = withStack ?? !repeated.has(error);
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  const sqlState = sqlStateOf(error);
  // A parser's message quotes its input, and some clients quote the URL of the server.
  const said = error instanceof SyntaxError ? 'something could not be parsed' : redactUrls(error.message);
  return {
    type: error.name,
    message: sqlState ? `Postgres refused the statement (SQLSTATE ${sqlState})` : said,
    ...(typeof code === 'string' && { code }),
    ...(typeof constraint === 'string' && { constraint }),
    ...(hasStack && error.stack && { stack: framesOf(error.stack) }),
    ...(error.cause !== undefined && { cause: describeError(error.cause, hasStack) }),
  };
}

const LOG_INTERVAL_MS = 1_000;
/** The same failure within this time counts as repeated. */
const REPEATED_WITHIN_MS = 60_000;

/**
 * Returns a function that logs a warning at most once per second, with the number of warnings that were left
 * out: in an outage every request fails. A repeated failure is logged without its stack.
 */
export function throttledWarn(message: string, clock = systemClock) {
  let lastLoggedAt = -Infinity;
  let lastFailure: string | null = null;
  let unlogged = 0;
  return (log: Pick<Logger, 'warn'>, facts: { err?: unknown; [fact: string]: unknown }) => {
    const sinceLastMs = clock.now() - lastLoggedAt;
    if (sinceLastMs < LOG_INTERVAL_MS) {
      unlogged += 1;
      return;
    }
    const { err } = facts;
    const failure = JSON.stringify(describeError(err, false));
    const isRepeated = failure === lastFailure && sinceLastMs < REPEATED_WITHIN_MS;
    if (isRepeated && err instanceof Error) repeated.add(err);
    log.warn({ ...facts, unlogged }, message);
    lastLoggedAt = clock.now();
    lastFailure = failure;
    unlogged = 0;
  };
}
