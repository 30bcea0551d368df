import { perform } from '@floodgate/audit';
import {
  changePasswordAction,
  checkPassword,
  findOperator,
  OwnPassword,
  readPasswordHash,
} from '@floodgate/operators';
import type { OperatorPrincipal } from '@floodgate/operators';
import { InvalidInput } from '@floodgate/service';
import { assertFields } from '@floodgate/service/load-config';
import type { Static } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import type { ConsoleContext } from './operations.ts';
import { problemOf, Refusal, requireOperator } from './principals.ts';
import { DEVICE_SECONDS } from './sign-in.ts';
import { eventLink, namesOfEvents } from './pages/access-pages.ts';
import { roleText } from './pages/subjects.ts';
import { LANGUAGES } from './view/format.ts';
import { alertHtml, card, facts, Html, rows, type Texts } from './view/html.ts';
import { sendPage } from './view/page.ts';
import type { Viewer } from './view/viewer.ts';
import { ruleWords, type Words } from './words/index.ts';

const MOST_BYTES = 4_096;
const WRONG = 'The old password is wrong, or there were too many attempts. Wait for a minute.';

/** Adds the page on which an operator changes its own password. The operator API has the same. */
export function addAccount(app: FastifyInstance, context: ConsoleContext) {
  app.get('/account', (request, reply) => showAccount(context, reply, personOf(request)));
  app.post('/account', { bodyLimit: MOST_BYTES }, async (request, reply) => {
    const person = personOf(request);
    const { words, format } = request.viewer;
    try {
      const { endedSessions } = await changeOwnPassword(context, request, reply, person);
      const done = words.account.changed(format.number(endedSessions));
      return await showAccount(context, reply, person, {}, done);
    } catch (error) {
      const { status, title, detail = title, invalid } = problemOf(error, request, context.log);
      if (status >= 500) throw error;
      const note = detail === WRONG ? words.account.wrong : ruleWords(words, detail);
      return showAccount(context, reply.code(status), person, invalid ? { invalid } : { note });
    }
  });
}

/** Adds the same to the operator API, for a session. */
export function addAccountApi(api: FastifyInstance, context: ConsoleContext, documented: object) {
  api.post('/account/password', { bodyLimit: MOST_BYTES, schema: documented }, async (request, reply) => {
    const person = personOf(request);
    const { endedSessions } = await changeOwnPassword(context, request, reply, person);
    return { endedSessions };
  });
}

/** A person who is signed in. */
type Person = OperatorPrincipal & { operatorId: number };

function personOf(request: FastifyRequest): Person {
  const operator = requireOperator(request);
  const { operatorId } = operator;
  if (operatorId === null) throw new Refusal(403, 'A token has no account');
  return { ...operator, operatorId };
}

/**
 * Changes the password of the session's operator, and ends its other sessions. Wrong old passwords count as
 * those of the sign-in do.
 */
async function changeOwnPassword(
  { db, signIn, cookies }: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  person: Person,
) {
  const given: unknown = { ...Object(request.body) };
  assertFields(OwnPassword, given);
  const { oldPassword, newPassword } = given;
  assertOther(person.name, given);
  const storedHash = await readPasswordHash(db, person.operatorId);
  const signedIn = await signIn({
    name: person.name,
    password: oldPassword,
    address: request.ip,
    device: cookies.read(request, 'floodgate_device'),
    isWanted: () => !request.socket.destroyed,
  });
  if (!storedHash || signedIn?.operatorId !== person.operatorId)
    throw new Refusal(409, 'Not possible', WRONG);
  const changed = await perform(db, changePasswordAction(person, storedHash), { newPassword }, person.name);
  // The browser was known by the old password.
  cookies.set(reply, 'floodgate_device', changed.device, DEVICE_SECONDS);
  return changed;
}

function assertOther(name: string, { oldPassword, newPassword }: Static<typeof OwnPassword>) {
  const rules = checkPassword(name, oldPassword, newPassword);
  if (Object.keys(rules).length > 0) throw new InvalidInput(rules);
}

/** The faults of a form that was sent. */
interface Problem {
  note?: string;
  /** The fields that break their rule. */
  invalid?: Texts;
}

function passwordField(
  name: keyof Static<typeof OwnPassword>,
  autocomplete: string,
  words: Words,
  invalid: Texts,
) {
  const isInvalid = Object.hasOwn(invalid, name);
  const mark = isInvalid ? html`<strong>${words.forms.notValid}:</strong> ` : '';
  return html`<div class="field">
    <label for="${name}">${words.account[name]}</label>
    <input
      id="${name}"
      name="${name}"
      type="password"
      autocomplete="${autocomplete}"
      required
      aria-describedby="${name}-hint"
      !${isInvalid ? 'aria-invalid="true"' : ''}
    />
    <p class="hint" id="${name}-hint">!${mark}${words.account.rules[name]}</p>
  </div>`;
}

async function showAccount(
  { db, cookies }: ConsoleContext,
  reply: FastifyReply,
  person: Person,
  problem: Problem = {},
  done = '',
) {
  const { viewer } = reply.request;
  const { words } = viewer;
  const { account } = words;
  const { role, eventRoles } = await findOperator(db, person.name);
  const events = await namesOfEvents(
    { db },
    eventRoles.map(({ eventId }) => eventId),
  );
  const ofEvents = eventRoles.map(
    (one) =>
      new Html(
        html`${words.access.roleOf(roleText(one.role, words))} !${eventLink(one.eventId, events).text}`,
      ),
  );
  const parts = [
    done && html`<p class="done" role="status">${done}</p>`,
    alertHtml(problem.note ?? ''),
    card(
      '',
      facts(
        [words.access.name, person.name],
        [account.role, role === null ? words.access.noRole : roleText(role, words)],
        [account.ofEvents, ofEvents.length === 0 ? null : new Html(rows(...ofEvents))],
      ),
    ),
    preferencesHtml(viewer, cookies.read(reply.request, 'floodgate_zone') !== undefined),
    passwordHtml(words, problem.invalid ?? {}),
  ];
  return sendPage(reply, { title: account.title, parts });
}

function preferencesHtml({ language, format, words }: Viewer, isZoneChosen: boolean) {
  const { account } = words;
  const zones = Intl.supportedValuesOf('timeZone').map((zone) => html`<option value="${zone}"></option>`);
  return html`<form class="card fields" method="post" action="/preferences">
    <h2>${account.view}</h2>
    <p class="hint">${account.viewAbout}</p>
    <input type="hidden" name="back" value="/account" />
    <div class="field">
      <label for="language">${account.language}</label>
      <select id="language" name="language">
        !${LANGUAGES.map(
          (one) =>
            html`<option lang="${one}" value="${one}" !${one === language ? 'selected' : ''}>
              ${account.languages[one]}
            </option>`,
        )}
      </select>
    </div>
    <div class="field">
      <label for="zone">${account.zone}</label>
      <input
        id="zone"
        name="zone"
        value="${format.zone}"
        list="zones"
        autocomplete="off"
        aria-describedby="zone-hint"
        !${isZoneChosen ? '' : 'data-propose-zone'}
      />
      <datalist id="zones">!${zones}</datalist>
      <p class="hint" id="zone-hint">${account.zoneHint}</p>
    </div>
    <p><button class="primary">${account.save}</button></p>
  </form>`;
}

const passwordHtml = (words: Words, invalid: Texts) =>
  html`<form class="card fields" method="post" action="/account">
    <h2>${words.account.password}</h2>
    <p class="hint">${words.account.passwordAbout}</p>
    !${passwordField('oldPassword', 'current-password', words, invalid)}
    !${passwordField('newPassword', 'new-password', words, invalid)}
    <p><button class="primary">${words.account.change}</button></p>
  </form>`;
