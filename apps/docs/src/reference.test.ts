import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readReferenceScript, REFERENCE_SCRIPT, referencePages } from './reference.ts';

test.each(referencePages())(
  '$name holds what the schemas say (npm run docs:reference writes it)',
  ({ written, wanted }) => {
    expect(written).toBe(wanted);
  },
);

test("the script of the API's page is the one of its package (npm run docs:reference copies it)", () => {
  expect(gunzipSync(readFileSync(REFERENCE_SCRIPT)).equals(readReferenceScript())).toBe(true);
});
