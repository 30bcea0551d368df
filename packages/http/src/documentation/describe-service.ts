import { RESPONSE_CODES } from '@floodgate/contract';

const INTRODUCTION = `Registers attendees for events and lists the tickets of an event.

Every answer has the fields \`responseCode\`, \`responseMessage\` and \`responseData\`, and carries an \`x-request-id\`.
Where a retry makes sense, \`Retry-After\` may say when.

Where a limit of requests per second was agreed, \`RateLimit-Policy\` states it and \`RateLimit\` what remains of it;
requests above it are answered 50. Without a limit neither is sent.

| code | HTTP | meaning | retry |
|---|---|---|---|
`;

/** Returns the introduction of the reference: what holds for every operation, and the table of response codes. */
export function describeService(): string {
  const rows = Object.entries(RESPONSE_CODES).map(
    ([code, { httpStatuses, meaning, retryable }]) =>
      `| ${code} | ${httpStatuses.join(', ')} | ${meaning} | ${retryable ? 'yes' : 'no'} |`,
  );
  // By code: JavaScript puts "10" before "00", since keys that look like array indexes come first.
  return INTRODUCTION + rows.toSorted().join('\n');
}
