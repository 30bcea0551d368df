import { pino, type DestinationStream, type Logger, type LogFn } from 'pino';

export type { Logger };

/**
 * The process's logger: JSON lines on standard output.
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
  return destination ? pino(options, destination) : pino(options);
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
  const isDatabaseError = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
  return {
    type: error.name,
    message: isDatabaseError ? `Postgres refused the statement (SQLSTATE ${code})` : messageOf(error),
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
  return error.message.replaceAll(/:\/\/[^\s/@]*@/g, '://…@');
}

const isFrame = (line: string) => /^\s+at /.test(line);
