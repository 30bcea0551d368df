import type { Demo } from './demo.ts';

/** What the terminal shows when everything runs: where, and commands that work as they are. */
export function welcome(demo: Demo, demoFile: string): string {
  const { baseUrl, secretKey, eventRef, tickets } = demo;
  const headers = `-H 'x-secret-key: ${secretKey}' \\\n    -H 'x-event-ref: ${eventRef}'`;
  const attendee = JSON.stringify({
    fullName: 'Ada Lovelace',
    emailAddress: 'ada@example.com',
    organizedEventTicketID: tickets[0]!.id,
  });
  return `
Floodgate is listening on ${baseUrl}

Which tickets are on sale:

  curl -s '${baseUrl}/api/v1/events/tickets' \\
    ${headers}

Register for one of them (responseData is the pass reference):

  curl -s '${baseUrl}/api/v1/events/register' \\
    ${headers} \\
    -H 'Content-Type: application/json' \\
    -d '${attendee}'

What became of it (put the pass reference in):

  curl -s '${baseUrl}/api/v1/events/registrations/<passReference>' \\
    ${headers}

Documentation   ${baseUrl}/docs
The demo's key  ${demoFile}
Stop            Ctrl-C

`;
}
