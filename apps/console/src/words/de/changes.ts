import type { changes as en } from '../en/changes.ts';

export const changes: typeof en = {
  none: 'Noch wurde nichts geändert.',
  nothing: 'keine Angabe',
  fromTo: (field, was, is) => `${field} von ${was} auf ${is}`,
};
