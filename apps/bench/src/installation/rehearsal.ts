import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { figuresOf } from '@floodgate/rehearsal/objectives';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { registrationFor } from '@floodgate/rehearsal/rehearse';
import type { Figure } from '../results.ts';

const PER_SECOND = 20_000;
const CONNECTIONS = 1_000;

/** Measures the generator of `floodgate rehearse` with a server that only answers: its rate, its CPU and its punctuality. */
export async function rehearsalOverhead(rounds: number, seconds: number): Promise<Figure[]> {
  const server = fork(new URL('answering-main.ts', import.meta.url), { execArgv: [] });
  const [{ port }] = (await once(server, 'message')) as [AddressInfo];
  const request = registrationFor({ secretKey: 'fg_test_none', eventRef: 'none' }, 1);
  const found: Record<'rate' | 'cores' | 'late' | 'sentLate', number[]> = {
    rate: [],
    cores: [],
    late: [],
    sentLate: [],
  };
  for (let round = 0; round < rounds; round += 1) {
    const { log, lateMs, cpuMicros } = await generateLoad({
      baseUrl: `http://127.0.0.1:${port}`,
      requests: [request],
      connections: CONNECTIONS,
      seconds,
      arrivalsPerSecond: PER_SECOND,
      logged: true,
    });
    const { offered, codes, soldTwice } = figuresOf(log!, lateMs);
    if (codes['00'] !== offered || soldTwice > 0)
      throw new Error(`answers are missing: ${JSON.stringify(codes)}`);
    const waits = log!.sentAt.map((at, number) => at - log!.dueAt[number]!).sort();
    found.rate.push(offered / seconds);
    found.cores.push(cpuMicros / 1e6 / seconds);
    found.late.push(lateMs);
    found.sentLate.push(waits[Math.floor(waits.length * 0.99)]!);
  }
  server.disconnect();
  return [
    {
      name: 'rehearsal: requests offered per second',
      unit: '',
      rounds: found.rate,
      atLeast: PER_SECOND * 0.99,
    },
    { name: 'rehearsal: cores of the generator', unit: '', rounds: found.cores, atMost: 1 },
    { name: 'rehearsal: generator behind its schedule, p99', unit: 'ms', rounds: found.late, atMost: 10 },
    { name: 'rehearsal: sent after the arrival, p99', unit: 'ms', rounds: found.sentLate, atMost: 10 },
  ];
}
