import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { requestOf, type PageRequest } from '../add-page.ts';
import type { ConsoleContext } from '../operations.ts';
import { Refusal } from '../principals.ts';
import { LANGUAGES, type Language } from '../view/format.ts';
import { address, card, type Texts } from '../view/html.ts';
import type { Words } from '../words/index.ts';
import type { EventPageRequest } from './event-page.ts';

const SCOPES = ['mail:read'] as const;

type MailKind = keyof Words['messages']['kinds'];

/** The flag of the preview of each kind. The pass needs none. */
const FLAGS = {
  confirmation: {},
  'event-updated': { updated: true },
  cancellation: { cancelled: true },
  'waiting-offer': { offer: true },
} satisfies Record<MailKind, object>;

const KINDS = Object.keys(FLAGS) as MailKind[];

/**
 * The e-mail alone in a frame: its styles are inside, its picture too. It runs nothing and sends nothing, and only
 * pages of the console show it.
 */
const FRAME_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'self'; sandbox";

/** Returns links to the preview of each kind in each language. */
export function previewLinks({ event, words }: EventPageRequest) {
  const { messages } = words;
  const items = KINDS.map((kind) => {
    const links = LANGUAGES.map(
      (language) =>
        html`<a
          href="${previewPath(event.id, kind, language)}"
          aria-label="${messages.preview(messages.kinds[kind])}, ${messages.languages[language]}"
          >${messages.languages[language]}</a
        >`,
    );
    return html`<li>${messages.kinds[kind]}: !${links.join(' · ')}</li>`;
  });
  return html`<p class="soft">${messages.previewAbout}</p>
    <ul class="rows">
      !${items}
    </ul>`;
}

const previewPath = (eventId: number, kind: MailKind, language: Language) =>
  address(`/events/${eventId}/messages/preview`, { kind, language });

/** Returns the kind and the language that a query names: without them, the pass in the language of the event. */
function chosenOf({ kind, language }: Texts, eventLanguage: Language) {
  return {
    kind: KINDS.find((one) => one === kind) ?? 'confirmation',
    language: LANGUAGES.find((one) => one === language) ?? eventLanguage,
  };
}

const previewOf = (
  { read, operations }: PageRequest,
  eventId: number,
  chosen: { kind: MailKind; language: Language },
) => read(operations.mailPreview, { eventId, language: chosen.language, ...FLAGS[chosen.kind] });

/** Shows an e-mail of an event as its recipient sees it, and as text. */
export async function showPreview(page: EventPageRequest) {
  const { event, query, words } = page;
  const { messages } = words;
  const chosen = chosenOf(query, event.language);
  const preview = (await previewOf(page, event.id, chosen))!;
  const current = (isCurrent: boolean) => (isCurrent ? 'aria-current="page"' : '');
  const kinds = KINDS.map(
    (kind) =>
      html`<a !${current(kind === chosen.kind)} href="${previewPath(event.id, kind, chosen.language)}"
        >${messages.kinds[kind]}</a
      >`,
  );
  const languages = LANGUAGES.map(
    (language) =>
      html`<a !${current(language === chosen.language)} href="${previewPath(event.id, chosen.kind, language)}"
        >${messages.languages[language]}</a
      >`,
  );
  const source = address(`/events/${event.id}/messages/preview/mail`, chosen);
  return {
    parts: [
      html`<p><a href="/events/${event.id}/messages">← ${words.event.tabs.messages}</a></p>`,
      html`<h2>${messages.preview(messages.kinds[chosen.kind])}</h2>
        <p class="soft">${messages.previewAbout}</p>
        <nav class="choices" aria-label="${messages.kind}">!${kinds}</nav>
        <nav class="choices" aria-label="${messages.language}">!${languages}</nav>
        <iframe class="mail" src="${source}" sandbox="" title="${messages.previewFrame}"></iframe>`,
      card(messages.asText, html`<pre class="mail-text" lang="${chosen.language}">${preview.text}</pre>`),
    ],
    help: 'operate/mail',
  };
}

/** Adds the e-mail itself, for the frame of its preview. */
export function addPreviewFrame(app: FastifyInstance, context: ConsoleContext) {
  app.get<{ Params: { eventId: string }; Querystring: Texts }>(
    '/events/:eventId/messages/preview/mail',
    async (request, reply) => {
      const page = await requestOf(request, { scopes: SCOPES, isList: false }, context);
      const preview = await previewOf(page, Number(request.params.eventId), chosenOf(request.query, 'en'));
      if (!preview) throw new Refusal(403, 'You may not do this');
      return reply
        .header('content-security-policy', FRAME_POLICY)
        .type('text/html; charset=utf-8')
        .send(preview.html);
    },
  );
}
