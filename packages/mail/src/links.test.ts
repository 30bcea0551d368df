import { expect, test } from 'vitest';
import { looksLikeLink } from './links.ts';

test.for([
  'S.Kumar',
  's.kumar',
  'Ma.Teresa Cruz',
  'J.R.R.Tolkien',
  'St.John Smythe',
  'Mohd.Faisal',
  'Dr.h.c.Müller',
  'А.С.Пушкин',
  'א.כהן',
  'எஸ்.குமார்',
  'Smith J.R.',
  'Kim.J',
  'Jane Doe, M.D.',
  'John Paul II.',
  'O.\u2019Neil',
  'a...b',
  '李.小龍',
])('%o is a name', (name) => {
  expect(looksLikeLink(name)).toBe(false);
});

test.for([
  'https://prizes.example/now',
  'hxxp://x',
  'www.floodgate-tests',
  'floodgate-tests.org',
  'Floodgate-Tests.Org',
  'x.com',
  'X.Com',
  't.co/abc',
  'T.Co',
  'g.page',
  'win\u3002com',
  'win\uFF0Ecom',
  'ｗｉｎ．ｃｏｍ',
  'x.c\u200Bom',
  'x\u2060.com',
  'a.b.shop',
  'я.рф',
  'xn--e1afmkfd.xn--p1ai',
  'a.xn--p1ai',
  'S.Kumar:8080',
  'S.Kumar/path',
  's.kumar?x',
  'Ask s@kumar',
  'win.example',
  'winner.example',
  'prize-office.newdomain',
  'S.Kumar see x.com',
])('%o can be shown as a link', (name) => {
  expect(looksLikeLink(name)).toBe(true);
});
