export * from './delivery-rows.ts';
export * from './outcomes.ts';
export * from './queues.ts';
export * from './send-loop.ts';
