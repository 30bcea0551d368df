import { atLeast, atMost, type Bound } from '../report/results.ts';

/** What Floodgate aims at, by the table, the row and the column of the report. */
export const TARGETS: Record<string, Record<string, Record<string, Bound>>> = {
  'hot ticket': {
    floodgate: {
      'CPU µs': atMost(45),
      'finalized p99 ms': atMost(1_000),
      'API + worker MiB': atMost(300),
    },
    naive: { 'floodgate ÷ it': atLeast(25) },
    bullmq: { 'floodgate ÷ it': atLeast(14) },
    'empty route': { 'floodgate ÷ it': atLeast(0.55) },
  },
  'hot ticket, 512 connections': { 'empty route': { 'floodgate ÷ it': atLeast(0.65) } },
  'Get Tickets': { 'empty route': { 'floodgate ÷ it': atLeast(0.9) } },
  '50/s': { bullmq: { 'p50 of floodgate ÷ it': atMost(1) } },
  '5000/s': { floodgate: { 'p50 ms': atMost(3), 'p99 ms': atMost(15) } },
  bulk: {
    'bulk calls': { 'CPU µs': atMost(16) },
    'single calls': { 'bulk calls ÷ it': atLeast(4.5) },
    'inserts without HTTP': { 'bulk calls ÷ it': atLeast(0.6) },
  },
  client: { client: { 'per second': atLeast(20_000) } },
  growth: {
    'registrations stored': { 'floodgate ÷ it': atMost(1.1) },
    '1,000 events stored': { 'floodgate ÷ it': atMost(1.1) },
  },
};
