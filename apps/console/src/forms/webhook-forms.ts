import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';
import { eventName, partnerName, webhookOf } from './subjects.ts';

/** Returns what says which webhook it is, and then what follows. */
const aboutWith =
  (follows: (about: PageRequest['words']['about']) => string | false) =>
  async (page: PageRequest, given: Texts) => {
    const webhook = await webhookOf(page, given);
    if (!webhook) return [];
    const name = await partnerName(page, webhook.partnerId);
    const event = await eventName(page, { eventId: String(webhook.eventId) });
    return [page.words.about.webhook(webhook.url, name, event), follows(page.words.about)];
  };

export const webhookForms = {
  webhookCreate: {
    fields: ['url', 'description', 'types', 'include', 'entriesPerMessage', 'from', 'paused'],
    about: async (page, given) => [await eventName(page, given), page.words.about.secretOnce],
  },
  webhookUpdate: { current: webhookOf, about: aboutWith(() => false) },
  webhookTest: { about: aboutWith((about) => about.webhookTest) },
  webhookReplay: { about: aboutWith((about) => about.webhookReplay) },
  webhookRotate: { about: aboutWith((about) => about.secretOnce) },
  webhookPause: { about: aboutWith((about) => about.webhookPause) },
  webhookResume: { about: aboutWith((about) => about.webhookResume) },
  webhookDelete: {
    isDangerous: true,
    about: aboutWith((about) => about.webhookDelete),
    next: ({ eventId }) => `/events/${eventId}/partners`,
  },
} satisfies FormDefinitions;
