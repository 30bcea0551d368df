import { event } from './event.ts';
import { fields } from './fields.ts';
import { forms } from './forms.ts';
import { operations } from './operations.ts';
import { rules } from './rules.ts';
import { shell } from './shell.ts';
import { signIn } from './sign-in.ts';
import { tickets } from './tickets.ts';
import { eventList } from './event-list.ts';
import { overview } from './overview.ts';
import { latestChanges } from './latest-changes.ts';
import { sellers } from './sellers.ts';
import { settings } from './settings.ts';
import { newEvent } from './new-event.ts';
import { waitingList } from './waiting-list.ts';
import { values } from './values.ts';

/** All texts of the console in English. Each subject has a file. */
export const en = { shell, signIn, forms, fields, operations, rules, values, event, tickets, eventList, overview, latestChanges, sellers, settings, newEvent, waitingList };
