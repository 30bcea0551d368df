export * from './answers.ts';
export * from './bulk-request.ts';
export * from './envelope.ts';
export * from './field-rule.ts';
export * from './formats.ts';
export * from './headers.ts';
export * from './registration-request.ts';
export * from './response-codes.ts';
