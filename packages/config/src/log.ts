import { pino, type DestinationStream, type Logger } from 'pino';

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
    redact: {
      paths: ['secretKey', '*.secretKey', 'headers', '*.headers', 'body', '*.body', 'password', '*.password'],
      censor: '[redacted]',
    },
  };
  return destination ? pino(options, destination) : pino(options);
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
    message: isDatabaseError ? `Postgres refused the statement (SQLSTATE ${code})` : error.message,
    ...(typeof code === 'string' && { code }),
    ...(typeof constraint === 'string' && { constraint }),
    // The first lines of a stack repeat the message.
    ...(error.stack && { stack: error.stack.split('\n').filter(isFrame).join('\n') }),
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  };
}

const isFrame = (line: string) => /^\s+at /.test(line);
