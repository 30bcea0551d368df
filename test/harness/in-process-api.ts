import { ApiConfig, startApi } from '@floodgate/api';
import { createLogger, loadConfig } from '@floodgate/service';
import { Writable } from 'node:stream';
import { assertNothingPrivate } from './private-data.ts';
import { underTest } from './service-roles.ts';

/** An API that runs in the test's own process, with everything that it logged. */
export interface InProcessApi {
  baseUrl: string;
  log(): string;
  close(): Promise<void>;
}

/** Starts the API as main.ts does, on a free port. The queue defaults to the same Postgres. */
export async function startInProcessApi(
  env: { DATABASE_URL: string } & Record<string, string>,
): Promise<InProcessApi> {
  let logged = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk);
      done();
    },
  });
  const given = { HOST: '127.0.0.1', PORT: '0', QUEUE_URL: env.DATABASE_URL, ...env };
  const config = loadConfig(ApiConfig, underTest('api', given));
  const log = createLogger('api', 'trace', destination);
  const { baseUrl, close } = await startApi(config, log);
  return {
    baseUrl,
    log: () => logged,
    close: async () => {
      await close();
      assertNothingPrivate('the log of the API', logged);
    },
  };
}
