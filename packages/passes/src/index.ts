export * from './documents.ts';
export * from './pass-keys.ts';
export * from './qr-code.ts';
export * from './sign-document.ts';
export * from './token.ts';
