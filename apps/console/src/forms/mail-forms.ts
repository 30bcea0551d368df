import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';
import { aboutSeat } from './registration-forms.ts';
import { eventName, mailOf, sentTo } from './subjects.ts';

/** The kind of the e-mail with the pass. */
const PASS = 'confirmation';

/** Returns what says which event it is, and what happens to e-mails that wait, or that were sent. */
const aboutWith =
  (follows: (about: PageRequest['words']['about'], waiting: string, sent: string) => string) =>
  async (page: PageRequest, given: Texts) => {
    const mail = await mailOf(page, given);
    const [waiting, sent] = [(mail?.queued ?? 0) + (mail?.retry ?? 0), mail?.sent ?? 0];
    const { format, words } = page;
    return [await eventName(page, given), follows(words.about, format.number(waiting), format.number(sent))];
  };

export const mailForms = {
  mailEnable: { about: aboutWith((about) => about.mailEnable) },
  mailDisable: { isDangerous: true, about: aboutWith((about, waiting) => about.mailDisable(waiting)) },
  mailPause: { about: aboutWith((about, waiting) => about.mailPause(waiting)) },
  mailResume: { about: aboutWith((about, waiting) => about.mailResume(waiting)) },
  mailResend: {
    texts: ({ kind = PASS }) => (kind === PASS ? 'mailResend' : 'mailResend/other'),
    about: aboutSeat(({ words }, { name, address }, { kind = PASS }) => {
      const { about, messages } = words;
      const kinds: Partial<Record<string, string>> = messages.kinds;
      if (kind !== PASS) return [about.resendsOther(kinds[kind] ?? kind)];
      return [name && address ? about.resends(name, address) : about.resendsPass];
    }),
  },
  mailResendAll: {
    isDangerous: true,
    concerns: sentTo,
    about: aboutWith((about, _waiting, sent) => about.mailResendAll(sent)),
  },
  mailTest: { about: (page) => Promise.resolve([page.words.about.mailTest]) },
  mailUnsuppress: { about: (page) => Promise.resolve([page.words.about.mailUnsuppress]) },
} satisfies FormDefinitions;
