import type { latestChanges as en } from '../en/latest-changes.ts';

export const latestChanges: typeof en = {
  none: 'Noch wurde nichts geändert.',
  nothing: 'keine Angabe',
  fromTo: (field, was, is) => `${field} von ${was} auf ${is}`,
};
