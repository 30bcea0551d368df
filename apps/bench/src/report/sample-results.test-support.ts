import type { BenchResults, Comparison, Run } from '../results.ts';

/** Invented results with the size and shape of a run on a small machine. */
export function sampleResults(): BenchResults {
  return {
    startedAt: '2026-11-21T09:15:00.000Z',
    command: 'npm run bench',
    commit: '4f2c9d1a7be0-dirty',
    machine: { cpu: 'AMD EPYC 7763', cores: 2, memoryGiB: 7.8, os: 'Linux 6.8' },
    versions: { node: '26.10.0', postgres: '18.1', redis: '8.4.0', bullmq: '6.7.1' },
    contenders: [
      { name: 'floodgate', description: 'This service, as it is shipped: one API, one worker.' },
      { name: 'peer-a', description: 'A transaction and a BullMQ job per request.' },
      { name: 'peer-b', description: 'A transaction per request, the job in the same transaction.' },
      { name: 'empty-route', description: 'A Fastify route that validates and stores nothing: the ceiling.' },
    ],
    workloads: [
      {
        name: 'hot ticket',
        description: 'Everyone wants the same ticket, as fast as answers come.',
        paced: false,
      },
      { name: '100 tickets', description: '100 tickets of one event, evenly.', paced: false },
      {
        name: '400/s',
        description: '400 requests a second, sent on schedule whatever comes back.',
        paced: true,
      },
      {
        name: '50/s',
        description: '50 requests a second, sent on schedule: every one of them is alone.',
        paced: true,
      },
    ],
    runs: [...hotTicket(), ...manyTickets(), ...openLoop(), ...lowLoad()],
    comparisons: [
      { ...comparison('peer-b', 128, { median: 7.5, min: 7.42, max: 7.58 }), workload: '100 tickets' },
      comparison('peer-a', 128, { median: 9.31, min: 8.72, max: 9.83 }),
      comparison('peer-a', 512, { median: 12.9, min: 12.1, max: 13.4 }),
      comparison('peer-b', 128, { median: 15.2, min: 13.9, max: 16.6 }),
      comparison('empty-route', 128, { median: 0.38, min: 0.32, max: 0.43 }),
      comparison('empty-route', 512, { median: 0.58, min: 0.56, max: 0.63 }),
    ],
    soak: {
      description: '1,000 registrations a second for ten minutes',
      samples: Array.from({ length: 21 }, (_, index) => ({
        second: index * 30,
        residentMiB: { api: 120 + 48 * (1 - 0.7 ** index), worker: 90 + 18 * (1 - 0.6 ** index), redis: 14 },
      })),
    },
    targets: [
      { name: 'Floodgate ÷ peer-a, hot ticket', wanted: '≥ 8', measured: 9.31, unit: '×', met: true },
      { name: 'API and worker, resident memory', wanted: '≤ 300', measured: 276, unit: 'MiB', met: true },
      { name: 'Floodgate ÷ empty route', wanted: '≥ 0.5', measured: 0.38, unit: '×', met: false },
    ],
  };
}

/** A run that must not count: it lost registrations, and its rate would change every median. */
export const DISCARDED = { round: 3, reason: '3 registrations lost', rate: 99_999 };

function hotTicket(): Run[] {
  const floodgate = {
    contender: 'floodgate',
    cpuMicros: { api: 61, worker: 4.2, postgres: 48, redis: 2.1, total: 115.3 },
    residentMiB: { api: 168, worker: 108, postgres: 310, redis: 14 },
  };
  const peerA = {
    contender: 'peer-a',
    cpuMicros: { api: 410, worker: 380, postgres: 720, redis: 160, total: 1670 },
    residentMiB: { api: 205, worker: 190, postgres: 298, redis: 66 },
  };
  const peerB = {
    contender: 'peer-b',
    cpuMicros: { api: 350, worker: 290, postgres: 1840, total: 2480 },
    residentMiB: { api: 142, worker: 121, postgres: 402 },
  };
  const emptyRoute = {
    contender: 'empty-route',
    cpuMicros: { api: 33, total: 33 },
    residentMiB: { api: 121 },
  };
  return [
    ...rounds('hot ticket', 128, [9800, 10_300, 10_010, 10_120, 9_950], { ...floodgate, p50: 12.1 }),
    ...rounds('hot ticket', 512, [12_000, 13_000, 12_650], { ...floodgate, p50: 39 }),
    ...rounds('hot ticket', 128, [1048, 1120, 1075, 1102, 1061], { ...peerA, p50: 117 }),
    ...rounds('hot ticket', 512, [940, 1010, 985], { ...peerA, p50: 502 }),
    ...rounds('hot ticket', 128, [655, 702, DISCARDED.rate], { ...peerB, p50: 182 }).map((run) =>
      run.round === DISCARDED.round ? { ...run, discarded: DISCARDED.reason } : run,
    ),
    ...rounds('hot ticket', 128, [26_100, 27_400, 25_800], { ...emptyRoute, p50: 4.7 }),
    ...rounds('hot ticket', 512, [21_900, 22_300, 21_100], { ...emptyRoute, p50: 23 }),
  ];
}

function manyTickets(): Run[] {
  return [
    ...rounds('100 tickets', 128, [8900, 9100], { contender: 'floodgate', p50: 13 }),
    ...rounds('100 tickets', 128, [1210, 1190], { contender: 'peer-b', p50: 104 }),
  ];
}

function openLoop(): Run[] {
  return [
    ...rounds('400/s', 64, [400, 400, 400], { contender: 'floodgate', p50: 2.6 }),
    ...rounds('400/s', 64, [398, 399, 396], { contender: 'peer-a', p50: 14 }),
    ...rounds('400/s', 64, [371, 380, 377], { contender: 'peer-b', p50: 210 }).map((run) => ({
      ...run,
      refused: { '503': 412, cut: 3 },
    })),
  ];
}

function lowLoad(): Run[] {
  return [
    ...rounds('50/s', 64, [50, 50, 50], { contender: 'floodgate', p50: 2.03 }),
    ...rounds('50/s', 64, [50, 50, 50], { contender: 'peer-a', p50: 5.1 }),
    ...rounds('50/s', 64, [50, 50, 50], { contender: 'peer-b', p50: 4.02 }),
    ...rounds('50/s', 64, [50, 50, 50], { contender: 'empty-route', p50: 0.33 }),
  ];
}

type Sketch = Pick<Run, 'contender' | 'cpuMicros' | 'residentMiB'> & { p50: number };

function rounds(workload: string, connections: number, rates: number[], sketch: Sketch): Run[] {
  const { p50, ...given } = sketch;
  const registers = given.contender !== 'empty-route';
  return rates.map((rate, index) => ({
    ...given,
    workload,
    connections,
    round: index + 1,
    seconds: 10,
    accepted: Math.round(rate * 10.2),
    refused: {},
    acceptedPerSecond: rate * 1.02,
    ...(registers && {
      finalizedPerSecond: rate,
      drainSeconds: 0.2,
      waitMs: { p50: p50 * 1.5, p99: p50 * 6 },
    }),
    latencyMs: { p50, p90: p50 * 1.6, p99: p50 * (3 + index / 10), max: p50 * 9 },
    generatorCpuMicros: 21,
  }));
}

function comparison(contender: string, connections: number, ratio: Comparison['ratio']): Comparison {
  return { workload: 'hot ticket', connections, contender, pairs: 4, ratio };
}
