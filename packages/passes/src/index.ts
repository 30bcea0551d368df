export { readEventDocument, readRevocations, type Revocations } from './documents.ts';
export {
  createPassSigner,
  jwkSetOf,
  parsePass,
  qrPng,
  recognizePass,
  signPass,
  verifyPass,
  type PassSigner,
} from './pass.ts';
