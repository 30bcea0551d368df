import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { REFERENCE_SCRIPT, readReferenceScript, referencePages } from './reference.ts';

// Writes what the schemas say below the introduction of each page of the reference, and the script of the
// API's own page.
for (const { file, wanted } of referencePages()) writeFileSync(file, wanted);
writeFileSync(REFERENCE_SCRIPT, gzipSync(readReferenceScript(), { level: 9 }));
