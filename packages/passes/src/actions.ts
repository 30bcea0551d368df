import { Type } from '@sinclair/typebox';
import { defineAction, whole } from '@floodgate/audit';
import { rotatePassKey, withdrawPassKey, type PassKey } from './keys.ts';

export { perform } from '@floodgate/audit';

const stateOf = ({ retiredAt, withdrawnAt }: PassKey) => ({ retiredAt, withdrawnAt });

/** Makes a new signing key. Passes signed by earlier keys stay valid. */
export const rotatePassKeyAction = defineAction({
  name: 'pass.rotate',
  input: Type.Object({}),
  run: async (transaction, _input, note) => {
    const key = await rotatePassKey(transaction);
    note(`pass-key:${key.id}`, { after: stateOf(key) });
    return key;
  },
});

/** Makes all passes of a retired key invalid. */
export const withdrawPassKeyAction = defineAction({
  name: 'pass.withdraw',
  input: Type.Object({ keyId: whole(1, 65_535) }),
  run: async (transaction, { keyId }, note) => {
    const { before, after } = await withdrawPassKey(transaction, keyId);
    if (before !== after) note(`pass-key:${keyId}`, { before: stateOf(before), after: stateOf(after) });
    return after;
  },
});
