import { expect, test } from 'vitest';
import { referencePages } from './reference.ts';

test.each(referencePages())(
  '$name holds what the schemas say (npm run docs:reference writes it)',
  ({ written, wanted }) => {
    expect(written).toBe(wanted);
  },
);
