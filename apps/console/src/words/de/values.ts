import { peopleValues } from './people-forms.ts';

/** Words that stand for states and choices. */
export const values: Record<string, string> = { true: 'ja', false: 'nein', none: 'keine Angabe', ...peopleValues };
