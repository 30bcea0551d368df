import type { FormDefinitions } from './definitions.ts';

export const passForms = {
  passVerify: { about: (page) => Promise.resolve([page.words.about.passVerify]) },
  passRotate: { about: (page) => Promise.resolve([page.words.about.passRotate]) },
  passWithdraw: {
    isDangerous: true,
    about: (page, { keyId }) => Promise.resolve([page.words.about.passWithdraw(keyId ?? '')]),
  },
} satisfies FormDefinitions;
