import { Type } from '@sinclair/typebox';
import { defineAction, whole } from '@floodgate/audit';
import { rotatePassKey, withdrawPassKey, type PassKey } from './keys.ts';

export { perform } from '@floodgate/audit';

const stateOf = ({ retiredAt, withdrawnAt }: PassKey) => ({ retiredAt, withdrawnAt });

/** Makes the key that signs passes from now on. What the others signed stays valid. */
export const rotatePassKeyAction = defineAction({
  name: 'pass.rotate',
  input: Type.Object({}),
  run: async (transaction, _input, note) => {
    const key = await rotatePassKey(transaction);
    note(`pass-key:${key.id}`, { after: stateOf(key) });
    return key;
  },
});

/** Makes the passes that a retired key signed invalid. */
export const withdrawPassKeyAction = defineAction({
  name: 'pass.withdraw',
  input: Type.Object({ keyId: whole(1, 65_535) }),
  run: async (transaction, { keyId }, note) => {
    const { before, after } = await withdrawPassKey(transaction, keyId);
    if (before !== after) note(`pass-key:${keyId}`, { before: stateOf(before), after: stateOf(after) });
    return after;
  },
});
