import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK } from '@floodgate/rehearsal/load/load';
import { PartnerClient, attendee } from '@floodgate/test/harness/partner-client.ts';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import { attempt, type Mode } from '../mode.ts';
import { registrationOf, ROOMY } from '../rates/workloads.ts';
import { atLeast } from '../report/results.ts';
import { startInstallation, type Installation } from './installation.ts';

const CONNECTIONS = 128;
const WARM_UP_SECONDS = 2;
const START_SECONDS = 30;
/** Time until the installation is idle again. */
const SETTLE_SECONDS = 4;
const PER_CALL = 1_000;
const MAILS_PER_SECOND = 500;
const TIMEOUT_MS = 300_000;

/**
 * Measures the rate of a launch with e-mails, divided by the rate without. All processes run on this machine.
 */
export const LAUNCH: Mode = {
  name: 'launch',
  help: 'npm start: a launch with e-mails beside one without',
  usual: { pairs: 6, seconds: 4 },
  duration: ({ pairs, seconds }) => pairs * 2 * (seconds + SETTLE_SECONDS) + START_SECONDS,
  measure: async (bench, { pairs, seconds }) => {
    using server = await startMailServer();
    await using installation = await startInstallation({ SMTP_URL: server.url });
    const { live, run, baseUrl, idle } = installation;
    const requests = [registrationOf(live, await live.addTicket({ capacity: ROOMY }))];
    const perSecond = async (length: number, afterwards?: () => Promise<unknown>): Promise<number> => {
      const result = await generateLoad({ baseUrl, requests, connections: CONNECTIONS, seconds: length });
      await afterwards?.();
      await idle();
      return answersOf(result, OK) / result.seconds;
    };
    const withMails = async (): Promise<number> => {
      await run('mail', 'enable', String(live.eventId), '--from-now');
      // Sending the backlog would take minutes.
      return perSecond(seconds, () => run('mail', 'disable', String(live.eventId)));
    };
    await perSecond(WARM_UP_SECONDS);
    for (let round = 1; round <= pairs; round += 1) {
      const values = await attempt(bench, `launch, round ${round}`, async () => {
        const early = round % 2 === 1 ? await withMails() : undefined;
        const without = await perSecond(seconds);
        const rate = early ?? (await withMails());
        return { '÷ without': rate / without, 'per second': rate };
      });
      if (values) bench.results.add('Launch', 'with e-mails', values, { '÷ without': atLeast(0.85) });
      bench.progress.add(2 * (seconds + SETTLE_SECONDS));
    }
  },
};

/** Measures e-mails per second of one delivery process without other load. */
export const MAILS: Mode = {
  name: 'mails',
  help: 'npm start: e-mails a second of one delivery process',
  usual: { pairs: 3, rows: 20_000 },
  duration: ({ pairs, rows }) => pairs * (rows / MAILS_PER_SECOND) + START_SECONDS,
  measure: async (bench, { pairs, rows }) => {
    using server = await startMailServer();
    await using installation = await startInstallation({ SMTP_URL: server.url });
    const ticketId = await installation.live.addTicket({ capacity: ROOMY });
    for (let round = 1; round <= pairs; round += 1) {
      const rate = await attempt(bench, `e-mails, round ${round}`, () =>
        mailsPerSecond(installation, server, ticketId, rows),
      );
      const values = { 'per second': rate };
      bench.results.add('E-mails', 'one delivery process', values, { 'per second': atLeast(1_000) });
      bench.progress.add(rows / MAILS_PER_SECOND);
    }
  },
};

async function mailsPerSecond(
  { baseUrl, live, run, idle }: Installation,
  server: MailServer,
  ticketId: number,
  mails: number,
): Promise<number> {
  const client = new PartnerClient(baseUrl, live);
  for (let stored = 0; stored < mails; stored += PER_CALL)
    await client.registerBulk(Array.from({ length: PER_CALL }, () => attendee(ticketId)));
  await idle();
  const before = server.accepted();
  await run('mail', 'enable', String(live.eventId));
  const first = await waitUntil(
    'the first e-mail arrives',
    () => server.accepted().count > before.count && server.accepted(),
  );
  await waitUntil(
    'all e-mails have arrived',
    () => server.accepted().count >= before.count + mails,
    TIMEOUT_MS,
  );
  const last = server.accepted();
  await run('mail', 'disable', String(live.eventId));
  await idle();
  return (last.count - first.count) / ((last.at - first.at) / 1_000);
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
