import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { checkHistory } from './check-history.ts';
import { parseHistory, type Call, type FinalSeat, type FirstTicket } from './history-file.ts';

const TICKET = 7;

type Differing = Partial<Call>;

const call = (name: string, start: number, end: number | null, more: Differing): Call => ({
  call: name,
  partner: 1,
  start,
  end,
  answer: end === null ? null : '00',
  seats: [],
  ...more,
});

/** A registration that was granted the seat of this pass. */
const granted = (pass: string, start: number, end: number, more: Differing = {}) =>
  call('register', start, end, { seats: [{ ticket: TICKET, id: `id-${pass}`, pass }], ...more });

/** A registration whose outcome is unknown. */
const unknown = (pass: string, start: number) =>
  call('register', start, null, { seats: [{ ticket: TICKET, id: `id-${pass}` }] });

const soldOut = (id: string, start: number, end: number) =>
  call('register', start, end, { answer: '32', seats: [{ ticket: TICKET, id }] });

const basket = (start: number, end: number, ...passes: string[]) =>
  call('hold', start, end, {
    all: true,
    seats: passes.map((pass) => ({ ticket: TICKET, id: `id-${pass}`, pass })),
  });

const about = (name: string, pass: string, start: number, end: number | null, more: Differing = {}) =>
  call(name, start, end, { seats: [{ ticket: TICKET, pass }], ...more });
const cancelled = (pass: string, start: number, end: number | null) => about('cancel', pass, start, end);

const replaced = (old: string, pass: string, start: number, end: number | null) =>
  call('replace', start, end, { seats: [{ ticket: TICKET, id: `id-${pass}`, pass, old }] });

const seat = (pass: string, more: Partial<FinalSeat> = {}): FinalSeat => ({
  ticket: TICKET,
  id: `id-${pass}`,
  pass,
  released: false,
  replaced: false,
  ...more,
});
const gone = (pass: string) => seat(pass, { released: true });

interface Forged {
  capacity: number;
  calls: Call[];
  seats: FinalSeat[];
  /** By default, the seats that are not released. */
  taken?: number;
  ticket?: Partial<FirstTicket>;
}

function check({ capacity, calls, seats, taken, ticket }: Forged) {
  const left = seats.filter(({ released }) => !released).length;
  const lines = [
    { tickets: [{ ticket: TICKET, capacity, ...ticket }] },
    ...calls,
    { final: { tickets: [{ ticket: TICKET, capacity, taken: taken ?? left }], seats } },
  ];
  return checkHistory(parseHistory(lines.map((line) => JSON.stringify(line)).join('\n')));
}

/** The first line is that of the tickets. */
const FIRST_CALL = 2;

const REFUSED: Record<string, { history: Forged; call: number; problem: RegExp }> = {
  'a grant that is lost': {
    history: { capacity: 2, calls: [granted('A', 0, 10), granted('B', 20, 30)], seats: [seat('A')] },
    call: 1,
    problem: /granted seat B, which is not stored/,
  },
  'a seat that two are granted': {
    history: {
      capacity: 2,
      calls: [
        granted('A', 0, 10),
        granted('A', 5, 20, { seats: [{ ticket: TICKET, id: 'other', pass: 'A' }] }),
      ],
      seats: [seat('A')],
    },
    call: 1,
    problem: /granted seat A, which line 2 was granted/,
  },
  'a grant beyond the capacity': {
    history: {
      capacity: 1,
      calls: [granted('A', 0, 10), granted('B', 20, 30)],
      seats: [seat('A'), seat('B')],
      taken: 1,
    },
    call: 1,
    problem: /granted 1, but at no instant/,
  },
  'a grant after "sold out", though no seat was released': {
    history: {
      capacity: 2,
      calls: [basket(0, 10, 'A', 'B'), soldOut('x', 20, 30), granted('C', 40, 50)],
      seats: [seat('A'), seat('B'), seat('C')],
      taken: 2,
    },
    call: 2,
    problem: /granted 1, but at no instant/,
  },
  '"sold out" while a seat was free': {
    history: { capacity: 2, calls: [granted('A', 0, 10), soldOut('x', 20, 30)], seats: [seat('A')] },
    call: 1,
    problem: /answered "sold out", but at no instant of the call more than 1 seats can have been taken/,
  },
  '"sold out" that was read before the last seat was granted': {
    history: { capacity: 1, calls: [soldOut('x', 0, 10), granted('A', 20, 30)], seats: [seat('A')] },
    call: 0,
    problem: /answered "sold out"/,
  },
  '"sold out" twice, though only one of two instants can have been full': {
    // The cancellation ends before the second answer begins, and the grant of B begins after the first answer.
    history: {
      capacity: 2,
      calls: [
        basket(0, 10, 'A', 'B'),
        soldOut('x', 20, 30),
        cancelled('A', 40, 50),
        soldOut('y', 60, 70),
        granted('C', 80, 90),
      ],
      seats: [gone('A'), seat('B'), seat('C')],
    },
    call: 3,
    problem: /answered "sold out"/,
  },
  'a grant that ended before its seat can have been released': {
    history: {
      capacity: 1,
      calls: [granted('A', 0, 10), granted('B', 20, 30), cancelled('A', 40, 50)],
      seats: [gone('A'), seat('B')],
    },
    call: 1,
    problem: /granted 1, but at no instant/,
  },
  'a release of a seat that nobody was granted': {
    history: { capacity: 1, calls: [cancelled('A', 0, 10)], seats: [] },
    call: 0,
    problem: /released seat A, which nobody was granted/,
  },
  'a release before its grant: the counter would be negative': {
    history: { capacity: 1, calls: [cancelled('A', 0, 10), granted('A', 20, 30)], seats: [gone('A')] },
    call: 0,
    problem: /released seat A before it was granted/,
  },
  'a counter below 0 at the end': {
    history: {
      capacity: 1,
      calls: [granted('A', 0, 10), cancelled('A', 20, 30)],
      seats: [gone('A')],
      taken: -1,
    },
    call: 2,
    problem: /ends with -1 of 1 seats taken/,
  },
  'a cancellation that did not release its seat': {
    history: { capacity: 1, calls: [granted('A', 0, 10), cancelled('A', 20, 30)], seats: [seat('A')] },
    call: 1,
    problem: /released seat A, which is taken/,
  },
  'a counter that does not count a released seat': {
    history: {
      capacity: 1,
      calls: [granted('A', 0, 10), cancelled('A', 20, 30)],
      seats: [gone('A')],
      taken: 1,
    },
    call: 2,
    problem: /ends with 1 seats taken, and its calls leave 0/,
  },
  'a seat that is released, though no call released it': {
    history: { capacity: 1, calls: [granted('A', 0, 10)], seats: [gone('A')] },
    call: 0,
    problem: /is released, though no call released it/,
  },
  'a confirmed seat that expired': {
    history: {
      capacity: 1,
      calls: [granted('A', 0, 10), about('confirm', 'A', 20, 30), about('expire', 'A', 25, null)],
      seats: [gone('A')],
    },
    call: 1,
    problem: /was confirmed, and is released/,
  },
  'an unknown call that must have happened, and leaves no seat for a grant': {
    history: {
      capacity: 1,
      calls: [unknown('A', 0), granted('B', 20, 30), cancelled('A', 10, 15)],
      seats: [gone('A'), seat('B'), seat('C')],
      taken: 2,
    },
    call: -2,
    problem: /nobody asked for C/,
  },
  'an unknown call that happened after a grant of the last seat': {
    history: {
      capacity: 1,
      calls: [granted('B', 0, 5), unknown('A', 20)],
      seats: [seat('A'), seat('B')],
      taken: 1,
    },
    call: 1,
    problem: /granted 1, but at no instant/,
  },
  'a seat for a call that was refused': {
    history: { capacity: 1, calls: [soldOut('id-A', 0, 10)], seats: [seat('A')] },
    call: 0,
    problem: /was answered 32, and has seat A/,
  },
  'a seat that two others took over': {
    history: {
      capacity: 2,
      calls: [granted('A', 0, 10), replaced('A', 'B', 20, 30), replaced('A', 'C', 20, 30)],
      seats: [seat('A', { released: true, replaced: true }), seat('B'), seat('C')],
    },
    call: 2,
    problem: /took over seat A, which B has taken over/,
  },
  'a basket that got more than the free seats': {
    history: {
      capacity: 3,
      calls: [basket(0, 10, 'A', 'B'), basket(20, 30, 'C', 'D'), cancelled('A', 40, 50)],
      seats: [gone('A'), seat('B'), seat('C'), seat('D')],
    },
    call: 1,
    problem: /granted 2, but at no instant/,
  },
};

for (const [what, { history, call: index, problem }] of Object.entries(REFUSED))
  test(`refuses ${what}`, () => {
    const { refusals } = check(history);
    expect(refusals.map((refusal) => refusal.problem).join('\n')).toMatch(problem);
    const found = refusals.find((refusal) => problem.test(refusal.problem));
    expect(found!.line).toBe(index + FIRST_CALL);
  });

const ACCEPTED: Record<string, Forged> = {
  'grants, cancellations and "sold out" one after the other': {
    capacity: 1,
    calls: [
      granted('A', 0, 10),
      soldOut('x', 20, 30),
      cancelled('A', 40, 50),
      granted('B', 60, 70),
      soldOut('y', 80, 90),
    ],
    seats: [gone('A'), seat('B')],
  },
  '"sold out" at the same time as the last grant': {
    capacity: 1,
    calls: [granted('A', 0, 10), soldOut('x', 5, 8)],
    seats: [seat('A')],
  },
  '"sold out" between two calls that overlap': {
    // A full instant needs the grant of B before the release of A.
    capacity: 2,
    calls: [granted('A', 0, 10), cancelled('A', 20, 40), granted('B', 20, 40), soldOut('x', 25, 60)],
    seats: [gone('A'), seat('B')],
  },
  'a grant during the cancellation that makes room': {
    capacity: 1,
    calls: [granted('A', 0, 10), cancelled('A', 20, 40), granted('B', 25, 30)],
    seats: [gone('A'), seat('B')],
  },
  'unknown calls that happened, or did not': {
    capacity: 2,
    calls: [unknown('A', 0), unknown('B', 0), soldOut('x', 50, 60), granted('C', 40, 45)],
    seats: [seat('A'), seat('C')],
  },
  'an unknown cancellation that makes room later': {
    capacity: 1,
    calls: [granted('A', 0, 10), cancelled('A', 20, null), soldOut('x', 30, 40), granted('B', 100, 110)],
    seats: [gone('A'), seat('B')],
  },
  'a call with a key that was repeated until it was answered': {
    capacity: 1,
    calls: [unknown('A', 0), granted('A', 50, 60), soldOut('x', 30, 40)],
    seats: [seat('A')],
  },
  'a repeated answer "sold out" whose first attempt was unknown': {
    capacity: 1,
    calls: [
      granted('A', 0, 10),
      call('register', 12, null, { seats: [{ ticket: TICKET, id: 'x' }] }),
      cancelled('A', 20, 30),
      soldOut('x', 40, 50),
    ],
    seats: [gone('A')],
  },
  'an expired hold that somebody else gets': {
    capacity: 2,
    calls: [basket(0, 10, 'A', 'B'), about('expire', 'A', 20, null), granted('C', 30, 40)],
    seats: [gone('A'), seat('B'), seat('C')],
  },
  'a changed attendee, whose seat stays taken': {
    capacity: 1,
    calls: [granted('A', 0, 10), replaced('A', 'B', 20, 30), soldOut('x', 22, 25), cancelled('B', 40, 50)],
    seats: [seat('A', { released: true, replaced: true }), gone('B')],
  },
  'seats that are reserved for another partner': {
    capacity: 3,
    calls: [granted('A', 0, 10), soldOut('x', 20, 30)],
    seats: [seat('A')],
    ticket: { allocations: [{ partner: 2, reserved: 2, cap: null }] },
  },
  'a partner that has reached its cap': {
    capacity: 3,
    calls: [granted('A', 0, 10), soldOut('x', 20, 30)],
    seats: [seat('A')],
    ticket: { allocations: [{ partner: 1, reserved: 0, cap: 1 }] },
  },
  'a raised capacity': {
    capacity: 2,
    calls: [
      basket(0, 10, 'A', 'B'),
      call('capacity', 20, 30, { seats: [{ ticket: TICKET, n: 1 }] }),
      granted('C', 25, 28),
    ],
    seats: [seat('A'), seat('B'), seat('C')],
  },
};

for (const [what, history] of Object.entries(ACCEPTED))
  test(`accepts ${what}`, () => {
    const capacity = what === 'a raised capacity' ? 3 : history.capacity;
    const checked = check({
      ...history,
      capacity,
      ticket: { capacity: history.capacity, ...history.ticket },
    });
    expect(checked).toMatchObject({ refusals: [], undecided: [] });
  });

test('thousands of calls, many of them unknown, are decided', () => {
  const CAPACITY = 100;
  const calls: Call[] = [];
  const seats: FinalSeat[] = [];
  // Each round sells the released seats again, and asks for one more while all are taken.
  for (let index = 0; index < 3_000; index += 1) {
    const [pass, old, at] = [`P${index}`, `P${index - CAPACITY}`, index * 10];
    if (index >= CAPACITY) calls.push(cancelled(old, at - 5, index % 100 === 0 ? null : at + 40));
    calls.push(granted(pass, at, at + 60));
    if (index >= CAPACITY && index % 3 === 0) calls.push(soldOut(`x${index}`, at, at + 100));
    seats.push(index < 3_000 - CAPACITY ? gone(pass) : seat(pass));
  }
  expect(check({ capacity: CAPACITY, calls, seats })).toMatchObject({ refusals: [], undecided: [] });
  const oneLess = check({ capacity: CAPACITY - 8, calls, seats, taken: CAPACITY - 8 });
  expect(oneLess.refusals.map(({ problem }) => problem).join()).toMatch('granted 1, but at no instant');
});

test('imports nothing but Node.js and the files of its folder', () => {
  const files = globSync('*.ts', { cwd: import.meta.dirname, exclude: ['*.test.ts'] });
  const imported = files.flatMap((file) =>
    Array.from(
      readFileSync(path.join(import.meta.dirname, file), 'utf8').matchAll(/ from '([^']+)'/g),
      ([, name]) => name!,
    ),
  );
  expect(imported.filter((name) => !name.startsWith('node:') && !name.startsWith('./'))).toEqual([]);
});
