import { perform } from '@floodgate/audit';
import { changePasswordAction, checkPassword, OwnPassword, readPasswordHash } from '@floodgate/operators';
import type { OperatorPrincipal } from '@floodgate/operators';
import { InvalidInput } from '@floodgate/service';
import { assertFields } from '@floodgate/service/load-config';
import type { Static } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import type { ConsoleContext } from './operations.ts';
import { problemOf, Refusal, requireOperator } from './principals.ts';
import { DEVICE_SECONDS } from './sign-in.ts';
import { alertHtml, fields, inputField, type Texts } from './view.ts';
import { sendPage } from './view/page.ts';

const MOST_BYTES = 4_096;
const WRONG = 'The old password is wrong, or there were too many attempts. Wait for a minute.';
const TITLE = 'Your account';

/** Adds the page on which an operator changes its own password. The operator API has the same. */
export function addAccount(app: FastifyInstance, context: ConsoleContext) {
  app.get('/account', (request, reply) => showAccount(reply, personOf(request)));
  app.post('/account', { bodyLimit: MOST_BYTES }, async (request, reply) => {
    const person = personOf(request);
    try {
      const { endedSessions } = await changeOwnPassword(context, request, reply, person);
      const done = `Done: the password is changed. Other sessions that ended: ${endedSessions}`;
      return await showAccount(reply, person, html`<p role="status">${done}</p>`);
    } catch (error) {
      const { status, title, detail = title, invalid } = problemOf(error, request, context.log);
      if (status >= 500) throw error;
      return showAccount(reply.code(status), person, alertHtml(invalid ? '' : detail), invalid);
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

const passwordField = (name: keyof Static<typeof OwnPassword>, autocomplete: string, invalid: Texts) => {
  const rule = OwnPassword.properties[name].description!;
  const isInvalid = Object.hasOwn(invalid, name);
  const attributes = html`type="password" autocomplete="${autocomplete}" required
  aria-describedby="${name}-hint" !${isInvalid ? 'aria-invalid="true"' : ''}`;
  const mark = isInvalid ? '<strong>Not valid:</strong> ' : '';
  return html`!${inputField(name, attributes)}
    <p class="hint" id="${name}-hint">!${mark}${rule}</p>`;
};

function showAccount(reply: FastifyReply, person: Person, note = '', invalid: Texts = {}) {
  const { name, role, eventScopes } = person;
  const parts = [
    note,
    fields({
      name,
      'role for all events': role,
      'events with a role': [...eventScopes.keys()].join(', ') || null,
    }),
    html`<h2>Change the password</h2>
      <form class="fields" method="post" action="/account">
        !${passwordField('oldPassword', 'current-password', invalid)}
        !${passwordField('newPassword', 'new-password', invalid)}
        <p><button>Change the password</button></p>
      </form>
      <p>Your other sessions end.</p>`,
  ];
  return sendPage(reply, { title: TITLE, parts });
}
