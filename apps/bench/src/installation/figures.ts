import type { Figure } from '../results.ts';
import type { Servers } from '../servers.ts';
import { sellAbandoned } from './abandoned.ts';
import { basketRatios } from './baskets.ts';
import { doorFigures } from './door.ts';
import { startInstallation } from './installation.ts';
import { idleSeconds, idleShares } from './idle.ts';
import { launchRatios, mailRates, startMailServer } from './mails.ts';
import { rehearsalOverhead } from './rehearsal.ts';
import { watchedLaunch } from './watch.ts';
import { testModeRatios } from './test-mode.ts';
import { waitingRates } from './waiting.ts';

interface FigureOptions {
  pairs: number | undefined;
  seconds: number | undefined;
  rows: number | undefined;
}

/** A kind of measurement with one list of figures, most of them of a checkout's `npm start`. */
export interface FigureKind {
  option:
    | 'test-mode'
    | 'launch'
    | 'watch'
    | 'mails'
    | 'idle'
    | 'rehearsal'
    | 'baskets'
    | 'waiting'
    | 'abandoned'
    | 'door';
  /** Returns its approximate duration. */
  seconds(options: FigureOptions): number;
  measure(directory: string, options: FigureOptions, servers: Servers): Promise<Figure[]>;
}

const OVERHEAD_SECONDS = 30;
/** Time of a slice after its load, for the work that the load has caused. */
const SETTLE_SECONDS = 4;
const SLICES = { pairs: 6, seconds: 4 };
const MAILS = { pairs: 3, rows: 20_000, perSecond: 500 };
const IDLE = { seconds: 30 };
const WAITING = { pairs: 3, rows: 100_000, perSecond: 3_000 };
const ABANDONED = { rows: 100_000, perSecond: 300 };
const DOOR = { pairs: 3, seconds: 10, rows: 1_000, perRound: 60 };
const REHEARSAL = { pairs: 3, seconds: 10 };

const slices = ({ pairs = SLICES.pairs, seconds = SLICES.seconds }: FigureOptions) => ({
  rounds: pairs,
  seconds,
});
const slicesSeconds = (cases: number) => (options: FigureOptions) => {
  const { rounds, seconds } = slices(options);
  return cases * rounds * 2 * (seconds + SETTLE_SECONDS) + OVERHEAD_SECONDS;
};

export const FIGURES: readonly FigureKind[] = [
  {
    option: 'test-mode',
    seconds: slicesSeconds(2),
    measure: async (directory, options) => {
      await using installation = await startInstallation(directory);
      return await testModeRatios(installation, slices(options));
    },
  },
  {
    option: 'launch',
    seconds: slicesSeconds(1),
    measure: async (directory, options) => {
      using server = await startMailServer();
      await using installation = await startInstallation(directory, { SMTP_URL: server.url });
      return await launchRatios(installation, slices(options));
    },
  },
  {
    option: 'watch',
    seconds: slicesSeconds(1),
    measure: async (directory, options) => {
      await using installation = await startInstallation(directory);
      return await watchedLaunch(installation, slices(options));
    },
  },
  {
    option: 'mails',
    seconds: ({ pairs = MAILS.pairs, rows = MAILS.rows }) =>
      pairs * (rows / MAILS.perSecond) + OVERHEAD_SECONDS,
    measure: async (directory, { pairs: rounds = MAILS.pairs, rows: mails = MAILS.rows }) => {
      using server = await startMailServer();
      await using installation = await startInstallation(directory, { SMTP_URL: server.url });
      return await mailRates(installation, server, { rounds, mails });
    },
  },
  {
    option: 'idle',
    seconds: ({ seconds = IDLE.seconds }) => idleSeconds(seconds),
    measure: async (directory, { seconds = IDLE.seconds }) => {
      await using installation = await startInstallation(directory);
      return await idleShares(installation, seconds);
    },
  },
  {
    option: 'rehearsal',
    seconds: ({ pairs = REHEARSAL.pairs, seconds = REHEARSAL.seconds }) => pairs * (seconds + 2),
    measure: (_directory, { pairs = REHEARSAL.pairs, seconds = REHEARSAL.seconds }) =>
      rehearsalOverhead(pairs, seconds),
  },
  {
    option: 'baskets',
    seconds: ({ pairs = SLICES.pairs, seconds = SLICES.seconds }) => pairs * 8 * seconds + OVERHEAD_SECONDS,
    measure: (_directory, { pairs = SLICES.pairs, seconds = SLICES.seconds }, servers) =>
      basketRatios(servers, pairs, seconds),
  },
  {
    option: 'waiting',
    seconds: ({ pairs = WAITING.pairs, rows = WAITING.rows }) =>
      pairs * (rows / WAITING.perSecond) + OVERHEAD_SECONDS,
    measure: (_directory, { pairs = WAITING.pairs, rows = WAITING.rows }, servers) =>
      waitingRates(servers, { rounds: pairs, entries: rows }),
  },
  {
    option: 'abandoned',
    seconds: ({ rows = ABANDONED.rows }) => rows / ABANDONED.perSecond + OVERHEAD_SECONDS,
    measure: (_directory, { rows = ABANDONED.rows }, servers) => sellAbandoned(servers, rows),
  },
  {
    option: 'door',
    seconds: ({ pairs = DOOR.pairs }) => pairs * DOOR.perRound + OVERHEAD_SECONDS,
    measure: (_directory, { pairs = DOOR.pairs, seconds = DOOR.seconds, rows = DOOR.rows }, servers) =>
      doorFigures(servers, { rounds: pairs, seconds, scans: rows }),
  },
];
