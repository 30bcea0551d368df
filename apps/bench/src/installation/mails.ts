import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { PartnerClient, attendee } from '@floodgate/test/harness/partner-client.ts';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import type { Figure } from '../results.ts';
import { registrationOf, ROOMY } from '../workloads.ts';
import type { Installation } from './installation.ts';
import { measurePairs, measureSlice, ratiosOf, type SliceOptions } from './slices.ts';

const CONNECTIONS = 128;
const WARM_UP_SECONDS = 2;

/** Measures the rate of a launch with e-mails, divided by the rate without. All processes run on this machine. */
export async function launchRatios(installation: Installation, options: SliceOptions): Promise<Figure[]> {
  const { live, run } = installation;
  const request = registrationOf(live, await live.addTicket({ capacity: ROOMY }));
  const slice = { request, connections: CONNECTIONS, seconds: options.seconds };
  const switchMails = (state: 'enable' | 'disable', ...flags: string[]) =>
    run('mail', state, String(live.eventId), ...flags);
  const withMails = async () => {
    await switchMails('enable', '--from-now');
    // Sending the backlog would take minutes.
    return measureSlice(installation, { ...slice, afterwards: () => switchMails('disable') });
  };
  await measureSlice(installation, { ...slice, seconds: WARM_UP_SECONDS });
  const pairs = await measurePairs(options.rounds, withMails, () => measureSlice(installation, slice));
  return [
    { name: 'launch, e-mails on ÷ off', unit: '', rounds: ratiosOf(pairs, 'perSecond'), atLeast: 0.85 },
  ];
}

const PER_CALL = 1_000;
const TIMEOUT_MS = 300_000;

/** Measures e-mails per second of one delivery process without other load. */
export async function mailRates(
  { baseUrl, live, run, idle }: Installation,
  server: MailServer,
  { rounds, mails }: { rounds: number; mails: number },
): Promise<Figure[]> {
  const client = new PartnerClient(baseUrl, live);
  const ticketId = await live.addTicket({ capacity: ROOMY });
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (let stored = 0; stored < mails; stored += PER_CALL)
      await client.registerBulk(Array.from({ length: PER_CALL }, () => attendee(ticketId)));
    await idle();
    const before = server.accepted();
    await run('mail', 'enable', String(live.eventId));
    const first = await waitUntil(
      'the first e-mail arrives',
      () => server.accepted().count > before.count && server.accepted(),
    );
    const all = before.count + mails;
    await waitUntil('all e-mails have arrived', () => server.accepted().count >= all, TIMEOUT_MS);
    const last = server.accepted();
    rates.push((last.count - first.count) / ((last.at - first.at) / 1_000));
    await run('mail', 'disable', String(live.eventId));
    await idle();
  }
  return [{ name: 'e-mails a second of a delivery process', unit: '', rounds: rates, atLeast: 1_000 }];
}

/** Number of accepted e-mails, and the time of the last one. */
export interface Accepted {
  count: number;
  /** In milliseconds since the epoch. */
  at: number;
}

export interface MailServer extends Disposable {
  url: string;
  accepted(): Accepted;
}

/** Starts an SMTP server in a separate process. It discards accepted e-mails. */
export async function startMailServer(): Promise<MailServer> {
  const child = fork(new URL('mail-server-main.ts', import.meta.url));
  // The server stands for another machine, so it must not compete with the measured processes.
  setPriority(child.pid!, constants.priority.PRIORITY_LOW);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  let accepted: Accepted = { count: 0, at: 0 };
  child.on('message', (message) => (accepted = message as Accepted));
  return {
    url: `smtp://127.0.0.1:${port}`,
    accepted: () => accepted,
    [Symbol.dispose]: () => void child.kill(),
  };
}
