import { event } from './event.ts';
import { fields } from './fields.ts';
import { forms } from './forms.ts';
import { jobs } from './jobs.ts';
import { messages } from './messages.ts';
import { operations } from './operations.ts';
import { people } from './people.ts';
import { rules } from './rules.ts';
import { shell } from './shell.ts';
import { signIn } from './sign-in.ts';
import { tickets } from './tickets.ts';
import { values } from './values.ts';

/** All texts of the console in English. Each subject has a file. */
export const en = { shell, signIn, forms, fields, operations, rules, values, event, tickets, people, messages, jobs };
