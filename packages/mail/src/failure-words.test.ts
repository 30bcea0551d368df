import { expect, test } from 'vitest';
import { remedyOf, whyOf, type Undelivered } from './failure-words.ts';

const PASS = 'GALA-1001-7-4829137450';
const failure = (differing: Partial<Undelivered>): Undelivered => ({
  kind: 'confirmation',
  state: 'undeliverable',
  reason: '550 5.1.1',
  passReference: PASS,
  ...differing,
});

test.for([
  ['550 5.1.1', 'the address does not exist'],
  ['550 5.1.2', 'the domain of the address does not exist or accepts no e-mails'],
  ['550 5.1.10', 'the domain of the address does not exist or accepts no e-mails'],
  ['553 5.1.8', 'the address of the sender was refused'],
  ['552 5.2.2', 'the mailbox is full'],
  ['452 4.2.2', 'the mailbox is full'],
  ['550 5.2.1', 'the mailbox is disabled or does not accept e-mails'],
  ['451 4.7.1', 'the server refused the e-mail by its policy'],
  ['451 4.3.0', 'a mail server or the way to it is overloaded or out of order'],
  ['550', 'the server refused the address'],
  ['554', 'the server refused the e-mail'],
  ['ECONNECTION', 'the SMTP server cannot be used'],
  ['process died', 'the delivery process died in each attempt'],
] as const)('%s in words: %s', ([reason, words]) => {
  expect(whyOf(reason)).toBe(words);
});

test('nothing is said without a reason', () => {
  expect(whyOf(null)).toBeNull();
});

const CORRECT = `correct the address with "floodgate registration correct ${PASS} --email-address <address>"`;
const AGAIN = `send it again with "floodgate mail resend ${PASS}"`;
const suppression = { digest: 'ab12', at: new Date('2026-11-01T10:00:00Z'), reason: '550 5.1.1' };
const LIFT = 'suppressed since 2026-11-01 (550 5.1.1): lift with "floodgate mail suppressions remove ab12"';

test.for([
  ['an unknown address', { suppression }, `${CORRECT}, then ${AGAIN}`],
  ['a full mailbox', { reason: '552 5.2.2' }, `wait until the cause is gone, then ${AGAIN}`],
  [
    'a full mailbox that is suppressed',
    { reason: '552 5.2.2', suppression },
    `wait until the cause is gone, then ${LIFT}, then ${AGAIN}`,
  ],
  ['a policy', { reason: '550 5.7.1' }, `ask the provider of the SMTP server why, then ${AGAIN}`],
  ['a crash', { reason: 'process died' }, `read the log of the delivery process, then ${AGAIN}`],
  [
    'a suppressed address',
    { state: 'suppressed', reason: 'suppressed', suppression },
    `${LIFT}, then ${AGAIN}`,
  ],
  [
    'one that was lifted',
    { state: 'suppressed', reason: 'suppressed' },
    `the suppression was lifted: ${AGAIN}`,
  ],
  ['a reserved address', { state: 'suppressed', reason: 'reserved address' }, `${CORRECT}, then ${AGAIN}`],
  ['a test event', { state: 'suppressed', reason: 'test event' }, 'nothing to do'],
  [
    'one that waits',
    { state: 'waiting', reason: '450 4.2.1' },
    'it is tried again automatically; if the cause stays, correct that',
  ],
  [
    'a cancellation',
    { kind: 'cancellation', reason: '552 5.2.2' },
    `wait until the cause is gone, then send it again with "floodgate mail resend ${PASS} --kind cancellation"`,
  ],
  [
    'an offer',
    { kind: 'waiting-offer', passReference: null },
    'ask the partner for another address, then tell the partner about the offer',
  ],
] satisfies [string, Partial<Undelivered>, string][])('the remedy of %s', ([, differing, remedy]) => {
  expect(remedyOf(failure(differing))).toBe(remedy);
});
