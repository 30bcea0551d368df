import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { pino, type DestinationStream, type Logger, type LogFn } from 'pino';
import { redactUrls } from './reason-of.ts';
import { sqlStateOf } from './sql-state.ts';

export type { Logger };

/**
 * The process's logger: JSON lines on standard output. A pipe that nobody reads, or a disk that is full, costs lines and
 * nothing else.
 * Secrets and attendees' data stay out by construction: only named facts are logged, never a request, and
 * errors lose what a database or a parser quotes in them.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service, pid: process.pid },
    serializers: { err: describeError, error: describeError },
    hooks: { logMethod: withoutForeignMessage },
    redact: {
      paths: ['secretKey', '*.secretKey', 'headers', '*.headers', 'body', '*.body', 'password', '*.password'],
      censor: '[redacted]',
    },
  };
  const tellDropped = (dropped: number) =>
    log.warn({ dropped }, 'log lines were dropped: they could not be written');
  const log: Logger = pino(options, destination ?? new StandardOutput(tellDropped));
  return log;
}

/** The file descriptor of standard output. */
const STDOUT = 1;

/** What may wait until somebody reads it; further lines are dropped. */
const UNREAD_BYTES = 1024 * 1024;

/**
 * In place of pino's own destination. Synchronous, that holds the process up while nobody reads the pipe. Asynchronous
 * (`sync: false, maxLength`), it writes what is left when the process exits: with a pipe that nobody reads, the process did
 * not end on SIGTERM at all, where this one took 9 ms.
 */
class StandardOutput implements DestinationStream {
  readonly #stdout = process.stdout;
  readonly #tell: (dropped: number) => void;
  #dropped = 0;

  /** Tells how many lines were dropped, once lines can be written again. */
  constructor(tell: (dropped: number) => void) {
    this.#tell = tell;
    // Who read it has gone; there is nobody to tell.
    this.#stdout.on('error', () => {});
    this.#stdout.on('drain', () => this.#tellDropped());
  }

  write(line: string): void {
    if (this.#isWritten(line)) this.#tellDropped();
    else this.#dropped += 1;
  }

  #isWritten(line: string): boolean {
    if (this.#stdout instanceof Socket) {
      if (this.#stdout.writableLength > UNREAD_BYTES) return false;
      this.#stdout.write(line);
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

  #tellDropped(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#tell(dropped);
  }
}

/** Pino, and Fastify by itself, take an error's own message for that of the line. Here it is what is left of it. */
function withoutForeignMessage(this: Logger, args: Parameters<LogFn>, method: LogFn): void {
  const [first, message] = args as unknown[];
  const facts = (first instanceof Error ? { err: first } : first) as { err?: unknown } | null | undefined;
  const error = facts?.err;
  const isForeign = error instanceof Error && (message === undefined || message === error.message);
  if (isForeign) method.call(this, facts, describeError(error).message);
  else method.apply(this, args);
}

/** What an error says in a log line. */
interface ErrorDescription {
  type: string;
  message: string;
  code?: string;
  constraint?: string;
  stack?: string;
  cause?: ErrorDescription;
}

/**
 * Describes an error without the data it may quote. A Postgres error repeats values in its message ("invalid
 * input syntax … "Jane""), detail and context, so only its SQLSTATE and constraint are kept.
 */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  const sqlState = sqlStateOf(error);
  return {
    type: error.name,
    message: sqlState ? `Postgres refused the statement (SQLSTATE ${sqlState})` : messageOf(error),
    ...(typeof code === 'string' && { code }),
    ...(typeof constraint === 'string' && { constraint }),
    // The first lines of a stack repeat the message.
    ...(error.stack && { stack: error.stack.split('\n').filter(isFrame).join('\n') }),
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  };
}

/** What a parser says quotes what it could not parse, and some clients quote the URL that they cannot reach. */
function messageOf(error: Error): string {
  if (error instanceof SyntaxError) return 'something could not be parsed';
  return redactUrls(error.message);
}

const isFrame = (line: string) => /^\s+at /.test(line);
