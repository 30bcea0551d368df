export {
  readEventDocument,
  signDocument,
  validityOf,
  type EventDocument,
  type Revocations,
} from './documents.ts';
export { jwkSetOf, type PassKey, type SigningKeys } from './keys.ts';
export { qrPng, qrSvg } from './qr-code.ts';
export { createPassSigner, type PassSigner } from './signer.ts';
export { parsePass, signPass, verifyPass, type Pass, type PassProblem, type PassSubject } from './token.ts';
