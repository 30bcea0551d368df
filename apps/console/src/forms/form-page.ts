import { inputOf, valueOf } from '@floodgate/audit/input';
import { InvalidInput } from '@floodgate/service';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import type { Operation } from '@floodgate/operators';
import { requestOf, type PageRequest } from '../add-page.ts';
import { callerOf, type ConsoleContext } from '../operations.ts';
import { problemOf, requireScope } from '../principals.ts';
import { resultPageOf } from '../result-pages.ts';
import { buttonLink, type Texts } from '../view/html.ts';
import { pathOf } from '../view/path-of.ts';
import { sendPage } from '../view/page.ts';
import { ruleWords } from '../words/index.ts';
import { askedOf, assertMayOpen, textsOfForm, wordsOfForm, type Asked, type FormParams } from './asked.ts';
import { assertTyped, changedFields, Unchanged } from './changed-fields.ts';
import { formPage, type Problem } from './form-html.ts';
import { SentBody, textsOf, type Sent } from './sent.ts';

/** Returns the page to show after an operation, which then says that it is done. */
function afterwards(back: string, name: string) {
  const url = new URL(back, 'http://console');
  url.searchParams.set('done', name);
  return url.pathname + url.search;
}

/**
 * Adds a page with a form for each operation that is not a GET, and for each part of one. After it, the browser
 * returns to the page in `back`, or gets the result, if no other page has it. Returns a function that answers
 * with the form at an address, filled with what somebody typed before the session ended.
 */
export function addForms(app: FastifyInstance, context: ConsoleContext) {
  const find = askedOf(context.operations);
  const show = showOf(context);
  const submit = submitOf(context, show);
  for (const path of ['/do/:id', '/do/:id/:part']) {
    app.get<{ Params: FormParams; Querystring: Texts }>(path, (request, reply) =>
      show(request, reply, find(request.params), request.query),
    );
    app.post<{ Params: FormParams; Body: Sent }>(path, SentBody, (request, reply) =>
      submit(request, reply, find(request.params)),
    );
  }
  for (const { id, bodyLimitBytes } of Object.values<Operation>(context.operations)) {
    if (bodyLimitBytes === undefined) continue;
    // A form has three bytes for most characters that are neither letters nor digits.
    const options = { ...SentBody, bodyLimit: 2 * bodyLimitBytes };
    app.post<{ Body: Sent }>(`/do/${id}`, options, (request, reply) => submit(request, reply, find({ id })));
  }
  return (request: FastifyRequest, reply: FastifyReply, path: string, typed: Texts) => {
    const [, , id = '', part] = new URL(path, 'http://console').pathname.split('/');
    return show(request, reply, find({ id, ...(part !== undefined && { part }) }), typed);
  };
}

type ShowForm = (
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
  given: Texts,
  problem?: Problem,
) => Promise<FastifyReply>;

/** Returns a function that answers with a form. */
const showOf =
  (context: ConsoleContext): ShowForm =>
  async (request, reply, asked, given, problem) => {
    assertMayOpen(request, asked.operation);
    const page = await pageOf(context, request, asked, given);
    return sendPage(reply, await formPage(page, asked, given, problem));
  };

function pageOf(context: ConsoleContext, request: FastifyRequest, { operation }: Asked, given: Texts) {
  const { jobId, ...named } = given;
  // The form that starts a job carries the id of a job that does not exist yet.
  const isOfJob = jobId && operation.input.required?.includes('jobId');
  const rules = { scopes: [operation.scope], isList: true };
  return requestOf(request, rules, context, isOfJob ? { ...named, jobId } : named);
}

/** Returns a function that does what a form says. If it cannot be done, it answers with the form and the reason. */
const submitOf =
  (context: ConsoleContext, show: ShowForm) =>
  async (request: FastifyRequest<{ Body: Sent }>, reply: FastifyReply, asked: Asked) => {
    requireScope(request, asked.operation.scope);
    const given = textsOf(request.body);
    try {
      const page = await pageOf(context, request, asked, given);
      return await done(context, reply, { page, asked, given });
    } catch (error) {
      const { words } = request.viewer;
      if (error instanceof Unchanged)
        return show(request, reply.code(422), asked, given, { note: words.forms.unchanged, invalid: {} });
      const { status, title, detail = '', invalid } = problemOf(error, request, context.log);
      if (status >= 500 || status === 401 || status === 403) throw error;
      const note =
        error instanceof InvalidInput ? '' : `${ruleWords(words, title)}: ${ruleWords(words, detail)}`;
      return show(request, reply.code(status), asked, given, { note, invalid: invalid ?? {} });
    }
  };

interface Submitted {
  page: PageRequest;
  asked: Asked;
  given: Texts;
}

/** Returns what a form means by its fields and its box. */
function meantBy({ part }: Asked, given: Texts) {
  const box = part?.box;
  return box && given[box.name] === 'true' ? box.apply(given) : given;
}

/** Runs the operation of a form, and answers with what comes next. */
async function done({ db }: ConsoleContext, reply: FastifyReply, { page, asked, given }: Submitted) {
  const { operation, definition } = asked;
  const back = pathOf(given['back']);
  await assertTyped(page, asked, given);
  const changed = changedFields(page, asked, meantBy(asked, given));
  if (definition.previews) {
    const preview = askedOf(page.operations)({ id: definition.previews });
    return sendPage(reply, await formPage(page, preview, { ...given, ...changed }));
  }
  const filled = inputOf(operation.input, (field, rule) => valueOf(rule, changed[field]));
  const result = await operation.run(db, filled, callerOf(page.operator));
  if (result instanceof Response) return reply.send(result);
  const resultPage = resultPageOf(operation);
  const next = definition.next?.(result, given) ?? back;
  if (!resultPage) return reply.redirect(afterwards(next, textsOfForm(asked, given)), 303);
  const { title } = wordsOfForm(page.words, asked, given);
  const onward = html`<p class="buttons">
    !${buttonLink(back, page.words.forms.continue, { kind: 'primary' }).text}
  </p>`;
  const parts = await resultPage(page, result);
  return sendPage(reply, { title, parts: [...parts, onward] });
}
