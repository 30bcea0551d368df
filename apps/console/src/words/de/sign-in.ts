import type { signIn as en } from '../en/sign-in.ts';

export const signIn: typeof en = {
  name: 'Name',
  password: 'Passwort',
  wrong: 'Der Name oder das Passwort ist falsch, oder es gab zu viele Versuche. Warten Sie eine Minute.',
  at: (host) => `Bei ${host} anmelden`,
};
