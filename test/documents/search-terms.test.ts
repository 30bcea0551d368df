import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../apps/docs');
const headings = globSync('{guide,operate,reference}/*.md', { cwd: root })
  .flatMap((file) => readFileSync(path.join(root, file), 'utf8').match(/^#{1,3} .+$/gm) ?? [])
  .join('\n');

// The search of the site ranks headings first.
test.for([
  'hold',
  'basket',
  'payment',
  'order number',
  'transfer',
  'duplicate',
  'bulk',
  'group',
  'cancel',
  'refund',
  'check-in',
  'GDPR',
  'erasure',
  'restore',
  'currency',
  'waiting list',
  'idempotency-key',
  'webhook',
  'rate limit',
  'test event',
  'response code',
])('a heading of the guide or of the operators\u2019 pages has the term "%s"', (term) => {
  expect(headings).toMatch(new RegExp(term, 'i'));
});
