import { writeFileSync } from 'node:fs';
import { referencePages } from './reference.ts';

// Writes what the schemas say below the introduction of each page of the reference.
for (const { file, wanted } of referencePages()) writeFileSync(file, wanted);
