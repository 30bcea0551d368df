export { readEventDocument, readRevocations, type Revocations } from './documents.ts';
export { createPassSigner, jwkSetOf, type PassSigner } from './keys.ts';
export { qrPng } from './qr-code.ts';
export { parsePass, recognizePass, signPass, verifyPass } from './token.ts';
