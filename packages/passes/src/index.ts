export { jwkSetOf, type PassKey, type SigningKeys } from './keys.ts';
export { qrPng, qrSvg } from './qr-code.ts';
export type { Revocations } from './revocations.ts';
export { createPassSigner, signPassFor, validityOf, type PassSigner, type PassSubject } from './signer.ts';
export { parsePass, signPass, verifyPass, type Pass, type PassProblem } from './token.ts';
