import { expect, test } from 'vitest';
import { csvLine } from './export-registrations.ts';

test.for([
  [['Ada', 7, null], 'Ada,7,\r\n'],
  [['a,b', 'say "hi"', 'two\nlines'], '"a,b","say ""hi""","two\nlines"\r\n'],
  [['=1+1', '+49 30', '-x', '@cmd', '\tx', '\rx'], "'=1+1,'+49 30,'-x,'@cmd,'\tx,\"'\rx\"\r\n"],
  [[-5, new Date('2026-11-25T10:00:00Z')], '-5,2026-11-25T10:00:00.000Z\r\n'],
] as const)('%j is a line of CSV', ([cells, line]) => {
  expect(csvLine(cells)).toBe(line);
});
