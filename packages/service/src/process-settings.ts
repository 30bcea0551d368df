import { Type } from '@sinclair/typebox';
import { whole } from './load-config.ts';

/** What every service reads from its environment. */
export const processSettings = {
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info', description: 'fatal, error, warn, info, debug, trace or silent' },
  ),
  SHUTDOWN_TIMEOUT_MS: whole('how long a stop may take', { minimum: 100, maximum: 600_000, default: 10_000 }),
};
