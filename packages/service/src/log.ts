import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { pino, type DestinationStream, type Level } from 'pino';
import { redactUrls, sqlStateOf } from './failure.ts';

/**
 * Facts and a message, or a message alone. Each line has a message of ours: pino would take an error's own message for that of the
 * line, and that may quote data.
 */
export type Logger = Record<Level, { (facts: object, message: string): void; (message: string): void }>;

/**
 * The process's logger: JSON lines on standard output. A pipe that nobody reads, or a full disk, costs lines and nothing else.
 * Secrets and attendees' data stay out by construction: only named facts are logged, never a request, and errors lose what a
 * database or a parser quotes in them.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const describe = (error: unknown) => describeError(error);
  const options = {
    level,
    base: { service, pid: process.pid },
    serializers: { err: describe, error: describe },
    redact: {
      paths: ['secretKey', '*.secretKey', 'headers', '*.headers', 'body', '*.body', 'password', '*.password'],
      censor: '[redacted]',
    },
  };
  const tellDropped = (dropped: number) =>
    log.warn({ dropped }, 'log lines were dropped: they could not be written');
  const log: Logger = pino(options, destination ?? standardOutput(tellDropped));
  return log;
}

const STDOUT = 1;
/** Limit of unread output. Further lines are dropped. */
const UNREAD_BYTES = 1024 * 1024;

// In place of pino's own destination, which holds the process up while nobody reads the pipe, or does not let it end
// (decision 36). Tells how many lines were dropped, once lines can be written again.
function standardOutput(tell: (dropped: number) => void): DestinationStream {
  const { stdout } = process;
  let dropped = 0;
  const tellDropped = () => {
    const count = dropped;
    dropped = 0;
    if (count > 0) tell(count);
  };
  // The reader has gone. There is no place to report that.
  stdout.on('error', () => {});
  stdout.on('drain', tellDropped);
  return {
    write(line) {
      if (isWritten(stdout, line)) tellDropped();
      else dropped += 1;
    },
  };
}

function isWritten(stdout: unknown, line: string): boolean {
  if (stdout instanceof Socket) {
    if (stdout.writableLength > UNREAD_BYTES) return false;
    stdout.write(line);
    return true;
  }
  try {
    // As Node does it for a file, but process.stdout stays broken after the first failure.
    writeSync(STDOUT, line);
    return true;
  } catch {
    return false;
  }
}

/** The first lines of a stack repeat the message. */
const framesOf = (stack: string) => stack.match(/^ +at .*$/gm)?.join('\n') ?? '';

type ErrorDescription = Partial<Record<'code' | 'constraint' | 'stack', string>> & {
  type: string;
  message: string;
  cause?: ErrorDescription;
};

/** Errors that are logged without a stack: the same failure was logged with one just before. */
const repeated = new WeakSet<object>();

/**
 * Describes an error without the data that it may quote. Postgres repeats values in its message, detail and context. So only its
 * SQLSTATE and constraint are kept.
 */
export function describeError(error: unknown, withStack?: boolean): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  const hasStack = withStack ?? !repeated.has(error);
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  const sqlState = sqlStateOf(error);
  // The message of a parser quotes its input, and some clients quote the URL that they cannot reach.
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
/** How long after a failure the same one counts as repeated. */
const REPEATED_WITHIN_MS = 60_000;

/**
 * A warning that is logged once a second at most, with the number of those that were not: an outage fails every request. A
 * failure that repeats is logged without its stack.
 */
export function throttledWarn(message: string) {
  let lastLoggedAt = -Infinity;
  let lastFailure: string | null = null;
  let unlogged = 0;
  return (log: Pick<Logger, 'warn'>, facts: { err?: unknown; [fact: string]: unknown }): void => {
    const sinceLastMs = performance.now() - lastLoggedAt;
    if (sinceLastMs < LOG_INTERVAL_MS) {
      unlogged += 1;
      return;
    }
    const { err } = facts;
    const failure = JSON.stringify(describeError(err, false));
    const isRepeated = failure === lastFailure && sinceLastMs < REPEATED_WITHIN_MS;
    if (isRepeated && err instanceof Error) repeated.add(err);
    log.warn({ ...facts, unlogged }, message);
    lastLoggedAt = performance.now();
    lastFailure = failure;
    unlogged = 0;
  };
}
