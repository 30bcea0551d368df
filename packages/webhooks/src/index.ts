export * from './addresses.ts';
export * from './checked-agent.ts';
export * from './delivery.ts';
export * from './endpoints.ts';
export * from './messages.ts';
export * from './post-message.ts';
export * from './schedule.ts';
export * from './signatures.ts';
