import { eventsWith } from '@floodgate/operators';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder, type PageRequest, type Show } from '../add-page.ts';
import { eventChoices, type Choice } from '../forms/choices.ts';
import type { ConsoleContext } from '../operations.ts';
import { address, buttonLink, card, shownHtml, type Texts } from '../view/html.ts';
import type { Sentence, Words } from '../words/index.ts';
import { changesHtml } from './changes.ts';
import { knownPartners } from './names.ts';
import { namesIn, subjectHtml } from './subjects.ts';

/** Changes on one page. */
const PER_PAGE = 50;

/** The limits of the list, by the fields of the form and of links. */
const FILTERS = ['eventId', 'actor', 'action', 'subject'] as const;

/** Adds the page of what was changed. */
export function addAuditPages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context)('/audit', ['audit:read'], showAudit);
}

const showAudit: Show = async (page) => {
  const { words, operations, query, read } = page;
  const { audit } = words;
  const given: Texts = {};
  for (const name of FILTERS) if (query[name]) given[name] = query[name];
  const after = query['after'];
  const found = (await read(operations.auditList, { ...given, after, limit: PER_PAGE + 1 })) ?? [];
  const entries = found.slice(0, PER_PAGE);
  const names = await namesIn(page, entries);
  // Of another person's changes, a newer one can be missing here.
  const withUndo = !after && !given['actor'];
  const links = [
    after ? buttonLink(address('/audit', given), audit.newest).text : '',
    found.length > PER_PAGE
      ? buttonLink(address('/audit', { ...given, after: entries.at(-1)!.cursor }), audit.older).text
      : '',
  ].filter(Boolean);
  const subject =
    given['subject'] &&
    html`<p class="sub">${audit.subject}: !${shownHtml(subjectHtml(given['subject'], names, words))}</p>`;
  return {
    title: audit.title,
    about: audit.about,
    parts: [
      await filterHtml(page, given),
      card(
        '',
        (subject ?? '') + (await changesHtml(page, entries, names, { withUndo, empty: words.audit.none })),
      ),
      links.length > 0 ? html`<p class="actions">!${links.join(' ')}</p>` : '',
    ],
  };
};

/** Resolves to the names of operators that an operator may know: all, or those with a role for its events. */
async function knownOperators({ read, operations, operator }: PageRequest) {
  const all = await read(operations.operatorList, {});
  if (all) return all.map(({ name }) => name);
  const own = eventsWith(operator, operations.eventOperators.scope) ?? [];
  const found = await Promise.all(own.map((eventId) => read(operations.eventOperators, { eventId })));
  return [...new Set(found.flatMap((some) => some ?? []).map(({ name }) => name))].toSorted();
}

async function filterHtml(page: PageRequest, given: Texts) {
  const { words } = page;
  const { audit } = words;
  const [events, people, partners] = await Promise.all([
    eventChoices(page),
    knownOperators(page),
    knownPartners(page),
  ]);
  const actors: Choice[] = [
    ...people.map((name) => ({ value: name, name })),
    ...partners.map(({ id, name }) => ({
      value: `partner:${id}`,
      name: `${words.partnerPages.partner} ${name}`,
    })),
  ];
  const select = (name: string, label: string, choices: readonly Choice[]) => {
    const asked = given[name] ?? '';
    // The value of a link stays, even if it cannot be chosen.
    const all =
      asked && !choices.some(({ value }) => value === asked)
        ? [{ value: asked, name: asked }, ...choices]
        : choices;
    return html`<div class="field">
      <label for="${name}">${label}</label>
      <select id="${name}" name="${name}">
        <option value="">${audit.any}</option>
        !${all.map(
          (one) =>
            html`<option value="${one.value}" !${one.value === asked ? 'selected' : ''}>${one.name}</option>`,
        )}
      </select>
    </div>`;
  };
  return html`<form
    class="card filter"
    method="get"
    action="/audit"
    role="search"
    aria-label="${audit.filter}"
  >
    !${select('eventId', audit.event, events)} !${select('actor', audit.actor, actors)}
    !${select('action', audit.action, actionChoices(words))}
    !${given['subject'] ? html`<input type="hidden" name="subject" value="${given['subject']}" />` : ''}
    <p class="buttons">
      <button class="primary">${audit.show}</button>
      !${Object.keys(given).length > 0 ? html`<a class="button" href="/audit">${audit.clear}</a>` : ''}
    </p>
  </form>`;
}

/** Returns the actions, each as its sentence without names. */
function actionChoices(words: Words): Choice[] {
  const { actions, nothing, kinds } = words.audit;
  const nameOf = (action: string, sentence: Sentence) => {
    const text = typeof sentence === 'string' ? sentence : (sentence[''] ?? '');
    const [kind] = action.split('.');
    const whole = text === '{changes}' ? nothing.replace('{what}', kinds[kind as keyof typeof kinds]) : text;
    return whole
      .replace(/^\{who\}/, '')
      .replaceAll(/\{[^}]+\}/g, '…')
      .trim();
  };
  return Object.entries(actions)
    .map(([value, sentence]) => ({ value, name: nameOf(value, sentence) }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}
