import { randomBytes } from 'node:crypto';

// Unique over processes and restarts by the random part, within the process by the count.
const processPart = randomBytes(6).toString('hex');
let count = 0;

/** The id that an answer carries as x-request-id and a log line as requestId. */
export function nextRequestId(): string {
  count += 1;
  return `${processPart}-${count.toString(36)}`;
}
