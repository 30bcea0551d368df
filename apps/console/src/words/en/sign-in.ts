/** The page to sign in. */
export const signIn = {
  name: 'Name',
  password: 'Password',
  wrong: 'The name or the password is wrong, or there were too many attempts. Wait for a minute.',
  at: (host: string) => `Sign in at ${host}`,
};
