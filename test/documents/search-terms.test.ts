import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../apps/docs');

/** A heading of a page. */
interface Heading {
  /** Such as `guide/baskets`. */
  page: string;
  /** As it is written. */
  text: string;
  /** Its words, after those of the title of its page. */
  words: string[];
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? [];

function headingsOf(page: string): Heading[] {
  const text = readFileSync(path.join(root, `${page}.md`), 'utf8').replaceAll(/^```.*?^```/gms, '');
  const [title = '', ...others] = text.match(/(?<=^#{1,3} ).+$/gm) ?? [];
  const heading = (own: string, all: string) => ({ page, text: own, words: wordsOf(all) });
  return [heading(title, title), ...others.map((own) => heading(own, `${title} ${own}`))];
}

const FOLDERS = 'guide,operate,reference,contribute,reliability,security,how-it-works';
const headings = globSync(`{${FOLDERS}}/*.md`, { cwd: root }).flatMap((file) =>
  headingsOf(file.slice(0, -3)),
);

/**
 * The search of the site ranks headings first. Returns the pages with a heading that has every word of the
 * query, or a word that begins with it. Short headings come first.
 */
function search(query: string): string[] {
  const wanted = wordsOf(query);
  const found = headings.filter(({ words }) =>
    wanted.every((one) => words.some((word) => word.startsWith(one))),
  );
  return [...new Set(found.toSorted((a, b) => a.words.length - b.words.length).map(({ page }) => page))];
}

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
  const texts = headings
    .filter(({ page }) => /^(?:guide|operate|reference)\//.test(page))
    .map(({ text }) => text);
  expect(texts.join('\n')).toMatch(new RegExp(term, 'i'));
});

describe('a question is answered by one search: the page is among the first three', () => {
  test.for([
    // A partner.
    ['How do I keep seats while my customer pays?', 'hold payment', 'guide/baskets'],
    ['Four friends come together or not at all. How?', 'group all seats', 'guide/baskets'],
    ['The answer got lost. May I send the request again?', 'retries', 'guide/answers'],
    ['What does code 32 ask of me?', 'code 32', 'reference/response-codes'],
    ['How large may a call be?', 'limits sizes', 'guide/limits'],
    ['My bulk call is larger than my rate limit. What now?', 'larger rate limit', 'guide/limits'],
    ['Where can I try all that without real guests?', 'sandbox', 'guide/test-mode'],
    ['Is there an SDK?', 'SDK', 'guide/client'],
    ['How do I read all registrations, page by page?', 'pagination', 'guide/registrations'],
    ['What does order 4711 have?', 'order number', 'guide/registrations'],
    ['A customer gives a ticket to another person.', 'transfer', 'guide/change-or-cancel'],
    ['How do I know that a webhook is genuine?', 'verify signature', 'guide/webhooks'],
    ['A ticket is sold out. Can my customer wait?', 'waiting sold out', 'guide/waiting-list'],
    ['Why is this name refused?', 'names', 'guide/people'],
    // An operator.
    ['How do I restore a backup?', 'restore', 'operate/backup'],
    ['An alert fires. What now?', 'alerts', 'operate/runbook'],
    ['One server is not enough.', 'scale', 'operate/scale'],
    ['Is the service healthy?', 'health', 'operate/health'],
    ['Who did not get an e-mail?', 'e-mails', 'operate/mail'],
    ['How do people get in at the door?', 'doors scanners', 'operate/doors'],
    ['How do I install it?', 'install', 'operate/install'],
    ['Which environment variable sets the longest hold?', 'environment variables', 'reference/settings'],
    ['Which command limits a partner?', 'partner limit', 'reference/cli'],
    // A maintainer.
    ['How do I add a route?', 'add route', 'contribute/recipes'],
    ['How do I add a table?', 'add table', 'contribute/recipes'],
    ['How do I run the tests?', 'run tests', 'reliability/testing'],
    ['What must never break, and where is it kept?', 'guarantees', 'how-it-works/guarantees'],
    ['How fast does it recover from a fault?', 'time to recover', 'reliability/faults'],
    ['Which risks are known?', 'known risks', 'security/open'],
  ] as const)('%s (%s)', ([, query, page]) => {
    expect(search(query).slice(0, 3)).toContain(page);
  });
});
