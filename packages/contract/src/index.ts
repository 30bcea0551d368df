export * from './envelope.ts';
export * from './headers.ts';
export * from './pass-reference.ts';
export * from './registration-request.ts';
export * from './registration-status.ts';
export * from './response-codes.ts';
export * from './ticket.ts';
