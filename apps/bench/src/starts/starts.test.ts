import { expect, test } from 'vitest';
import { summarizeTrace } from './starts.ts';

const line = (gc: string, pause: number, freedPercent: number) =>
  `[1:0x1:0]       56 ms: GC: ${JSON.stringify({
    gc,
    pause,
    start_object_size: 300,
    end_object_size: 300 - freedPercent,
    allocated: 100,
  })}`;

test('scavenges and mark-compacts of a start are told apart; the first scavenge keeps the connections', () => {
  const trace = [
    line('s', 9, 10),
    line('s', 2, 99),
    line('mc', 30, 80),
    line('s', 8, 60),
    line('s', 3, 98),
  ].join('\n');
  expect(summarizeTrace(trace)).toEqual({
    freedShare: { median: 0.98, worst: 0.6 },
    scavenges: 3,
    scavengeMs: 3,
    markCompacts: 1,
  });
});

test('a start with hardly a scavenge shows nothing', () => {
  expect(() => summarizeTrace([line('s', 9, 10), line('mc', 30, 80)].join('\n'))).toThrow(
    'the load is too short',
  );
});
