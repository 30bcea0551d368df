import { connect, type Database } from '@floodgate/database';

/** Returns a pool of the test's own. It waits through the pauses of a busy machine: its time is not under test. */
export const connectInTest = (connectionString: string, maxConnections = 1): Database =>
  connect({ connectionString, applicationName: 'tests', connectTimeoutMs: 60_000, maxConnections });
