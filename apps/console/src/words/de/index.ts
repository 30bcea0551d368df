import type { Words } from '../index.ts';
import { about } from './about.ts';
import { access, account } from './access.ts';
import { audit } from './audit.ts';
import { deliveries } from './deliveries.ts';
import { door } from './door.ts';
import { eventList } from './event-list.ts';
import { event } from './event.ts';
import { fields } from './fields.ts';
import { forms } from './forms.ts';
import { health } from './health.ts';
import { help } from './help.ts';
import { invoice } from './invoice.ts';
import { jobs } from './jobs.ts';
import { live } from './live.ts';
import { messages } from './messages.ts';
import { newEvent } from './new-event.ts';
import { operations } from './operations.ts';
import { overview } from './overview.ts';
import { partnerPages } from './partner-pages.ts';
import { people } from './people.ts';
import { refusals } from './refusals.ts';
import { reports } from './reports.ts';
import { results } from './results.ts';
import { rulePatterns, rules } from './rules.ts';
import { sellers } from './sellers.ts';
import { settings } from './settings.ts';
import { shell } from './shell.ts';
import { signIn } from './sign-in.ts';
import { tickets } from './tickets.ts';
import { values } from './values.ts';
import { waitingList } from './waiting-list.ts';
import { webhooks } from './webhooks.ts';

/** All texts of the console in German. The compiler finds one that is missing. */
export const de: Words = {
  about,
  reports,
  invoice,
  live,
  shell,
  signIn,
  forms,
  fields,
  operations,
  results,
  rules,
  rulePatterns,
  values,
  event,
  tickets,
  partnerPages,
  refusals,
  webhooks,
  deliveries,
  access,
  account,
  audit,
  help,
  door,
  health,
  eventList,
  overview,
  sellers,
  settings,
  newEvent,
  waitingList,
  people,
  messages,
  jobs,
};
