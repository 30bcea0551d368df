export * from './circuit-breaker.ts';
export * from './deliveries.ts';
export * from './outcome.ts';
export * from './queue-deliveries.ts';
export * from './send-loop.ts';
export * from './sending-rate.ts';
export type { Ended } from './record-loop.ts';
