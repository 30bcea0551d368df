import { Writable } from 'node:stream';
import { createLogger } from '@floodgate/service';
import { assertNothingPrivate } from './private-data.ts';

/** Returns a log that keeps all lines. */
export function keptLog(service: string) {
  let logged = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk);
      done();
    },
  });
  return {
    log: createLogger(service, 'trace', destination),
    logged: () => logged,
    forgetLog: () => void (logged = ''),
    assertNothingPrivate: () => assertNothingPrivate(`the log of the ${service}`, logged),
  };
}
