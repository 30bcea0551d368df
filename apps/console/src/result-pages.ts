import type { Operation } from '@floodgate/operators';
import { html } from 'ghtml';
import type { PageRequest } from './add-page.ts';
import { shownFacts, shownValue } from './forms/shown.ts';
import type { Operations } from './operations.ts';
import { codeHtml } from './pages/enrolment.ts';
import { chip, link, type Shown } from './view/html.ts';
import { listing, type Column } from './view/listing.ts';
import { fieldWords } from './words/index.ts';

/** Resolves to a result as parts of a page. */
type ResultPage = (page: PageRequest, result: unknown) => Promise<string[]> | string[];

type ResultOf<Id extends keyof Operations> = Awaited<ReturnType<Operations[Id]['run']>>;

const page = <Id extends keyof Operations>(
  id: Id,
  show: (page: PageRequest, result: ResultOf<Id>) => Promise<string[]> | string[],
): [Id, ResultPage] => [id, (of, result) => show(of, result as ResultOf<Id>)];

/** The results that only the page after a form shows. Those with a secret are here or have a page of their own. */
const RESULTS: ReadonlyMap<string, ResultPage> = new Map<string, ResultPage>([
  page('webhookCreate', (of, webhook) =>
    secretPage(of, webhook.secret ?? '', webhook, 'url', 'types', 'publicKey'),
  ),
  page('webhookRotate', (of, webhook) => secretPage(of, webhook.secret ?? '', webhook, 'url', 'publicKey')),
  page('keyIssue', (of, key) => secretPage(of, key.secretKey, key, 'mode', 'expiresAt')),
  page('keyRotate', (of, key) =>
    secretPage(of, key.secretKey, key, 'mode', 'expiresAt', 'previousKeyEndsAt'),
  ),
  page('operatorCreate', (of, one) => secretPage(of, one.password, one, 'name', 'role', 'email')),
  page('operatorResetPassword', (of, one) => secretPage(of, one.password, one, 'name')),
  page('tokenCreate', (of, token) => secretPage(of, token.token, token, 'name', 'scopes', 'expiresAt')),
  page('deviceCreate', (of, device) => [statusHtml(of.words.door.codeOnce), codeHtml(of, device)]),
  page('deviceCode', (of, device) => [statusHtml(of.words.door.codeOnce), codeHtml(of, device)]),
  page('guestAdd', (of, { passReference, isNew }) => [
    statusHtml(isNew ? of.words.results.guestAdded : of.words.results.guestKnown),
    passReference === null ? '' : html`<p>!${passLink(passReference).text}</p>`,
  ]),
  page('guestImport', guestPage),
  page('passVerify', passPage),
  page('attendeeFind', (of, { attendees }) => [
    listingOf(of, attendees, 'fullName', 'emailAddress', 'state', 'passReference'),
  ]),
  page('registrationSearch', (of, { registrations }) => [
    listingOf(of, registrations, 'fullName', 'emailAddress', 'state', 'mail', 'passReference'),
  ]),
  page('registrationCount', (of, { count }) => [statusHtml(of.words.about.matches(of.format.number(count)))]),
]);

/** Returns what shows the result of an operation after its form. Undefined: another page has it. */
export function resultPageOf({ id, secret }: Operation): ResultPage | undefined {
  const known = RESULTS.get(id);
  if (known || secret === undefined) return known;
  // A secret without a page would be lost.
  return (of, result) =>
    secretPage(of, String(new Map(Object.entries(Object(result) as object)).get(secret)), {});
}

const statusHtml = (text: string) => html`<p role="status">${text}</p>`;

const passLink = (passReference: string) =>
  link(`/people/${encodeURIComponent(passReference)}`, passReference);

function secretPage<Thing extends object>(
  of: PageRequest,
  secret: string,
  thing: Thing,
  ...names: (keyof Thing & string)[]
) {
  return [
    html`<div class="card secret" role="status">
      <p><strong>${of.words.forms.keepSecret}</strong></p>
      <p class="code">${secret}</p>
    </div>`,
    names.length > 0 ? html`<div class="card">!${shownFacts(of, thing, ...names)}</div>` : '',
  ];
}

/** Returns how many guests a list registered, and the rows that need a look: those with a reason. */
function guestPage(of: PageRequest, { rows, ...summary }: ResultOf<'guestImport'>) {
  const { words, format } = of;
  const unclear = rows.filter(({ reason }) => reason !== null);
  return [
    statusHtml(summary.dryRun ? words.results.dryRun : words.results.imported),
    html`<div class="card">
      !${shownFacts(of, summary, 'registered', 'alreadyRegistered', 'duplicates', 'refused', 'ignoredColumns')}
    </div>`,
    listing({
      caption: words.results.rowsToLookAt,
      isTitled: true,
      things: unclear,
      empty: words.shell.none,
      format,
      columns: [
        { head: words.results.line, cell: ({ line }) => line },
        { head: words.results.outcome, cell: ({ outcome }) => shownValue(of, outcome) },
        { head: words.results.reason, cell: ({ reason }) => shownValue(of, reason) },
      ],
    }),
  ];
}

function passPage(of: PageRequest, check: ResultOf<'passVerify'>) {
  const { results } = of.words;
  const verdict = check.valid ? chip('ok', results.passValid) : chip('bad', results.passInvalid);
  const { pass, ...facts } = check;
  const told = pass ? { ...pass, ...facts } : { ...facts, fullName: null };
  return [
    html`<p role="status">
      !${verdict.text}
      ${check.problem === null ? '' : (of.words.values[`pass.${check.problem}`] ?? check.problem)}
    </p>`,
    html`<div class="card">!${shownFacts(of, told, 'mode', 'validFrom', 'validUntil')}</div>`,
  ];
}

/** Returns a table of things with these fields. A pass reference is a link to the person. */
function listingOf<Thing extends object>(
  of: PageRequest,
  things: readonly Thing[],
  ...names: (keyof Thing & string)[]
) {
  const cell = (thing: Thing, name: keyof Thing & string): Shown => {
    const value = thing[name];
    return name === 'passReference' && typeof value === 'string'
      ? passLink(value)
      : shownValue(of, value, name);
  };
  const columns = names.map((name): Column<Thing> => ({
    head: fieldWords(of.words, name).label,
    cell: (thing) => cell(thing, name),
  }));
  return listing({
    caption: of.words.results.found,
    things,
    columns,
    empty: of.words.shell.none,
    format: of.format,
  });
}
