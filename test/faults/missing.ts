import { missingCitus } from '../servers/citus.ts';
import { redisServerCommand } from '../servers/redis.ts';

/** The reason to skip the fault suite, or ''. In CI nothing is skipped for lack of a Redis: the tests fail. */
export const noRedis = redisServerCommand() || process.env['CI'] ? '' : 'needs a redis-server on the PATH';

/** The reason to skip the fault suite on Citus, or ''. */
export const noCitus = noRedis || (missingCitus() ?? '');

/** Returns the reason for a title. */
export const because = (reason: string) => (reason === '' ? '' : ` (skipped: ${reason})`);
