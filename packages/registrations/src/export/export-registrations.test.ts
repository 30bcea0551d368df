import { expect, test } from 'vitest';
import { csvLines } from './export-registrations.ts';

const line = csvLines(',');

test.for([
  [['Ada', 7, null], '"Ada",7,\r\n'],
  [['a,b', 'say "hi"', 'two\nlines'], '"a,b","say ""hi""","two\nlines"\r\n'],
  [[-5, new Date('2026-11-25T10:00:00Z')], '-5,2026-11-25T10:00:00.000Z\r\n'],
] as const)('%j is a line of CSV', ([cells, wanted]) => {
  expect(line(cells)).toBe(wanted);
});

test.for([
  ['=1+1', "'=1+1"],
  ['+49 30', "'+49 30"],
  ['-x', "'-x"],
  ['@cmd', "'@cmd"],
  ['＝2+3', "'＝2+3"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠x', "'＠x"],
  ['\u200b=2+3', "'\u200b=2+3"],
  ['\ufeff=2+3', "'\ufeff=2+3"],
  ['\u202e=2+3', "'\u202e=2+3"],
  [' =2+3', "' =2+3"],
  ['\u00a0=2+3', "'\u00a0=2+3"],
  ['\t=2+3', "'\t=2+3"],
  ['Jane;=2+3', "Jane;'=2+3"],
  ['Jane; ＝2+3', "Jane;' ＝2+3"],
  ['Jane,=2+3', "Jane,'=2+3"],
  ['Jane\t@x', "Jane\t'@x"],
  ['Jane|=2', "Jane|'=2"],
  ['Jane\n=2+3', "Jane\n'=2+3"],
  ['Jane";=2+3', 'Jane"";\'=2+3'],
  ['Jane=2', 'Jane=2'],
  ['Anne-Marie', 'Anne-Marie'],
  ['jane@example.com', 'jane@example.com'],
  ['Jane; Doe', 'Jane; Doe'],
])('the text %j is written as %j, whatever separates the cells', ([text, wanted]) => {
  for (const separator of [',', ';', '\t'])
    expect(csvLines(separator)([text!, 1])).toBe(`"${wanted!}"${separator}1\r\n`);
});
