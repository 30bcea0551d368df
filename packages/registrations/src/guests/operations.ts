import { defineChange, operationsOn } from '@floodgate/operators';
import { addGuestAction, GuestImport, importGuestsAction } from './actions.ts';
import { importGuests, type GuestRow } from './import-guests.ts';

const { actionOperation } = operationsOn('attendees');

/** The largest body: a list whose every character is escaped once. */
const BODY_BYTES = 5 * 1024 * 1024;

export const guestOperations = {
  guestAdd: actionOperation(
    'POST /events/{eventId}/guests',
    'Register a guest of the operator',
    addGuestAction,
  ),
  guestImport: defineChange(
    {
      method: 'POST',
      path: '/events/{eventId}/guests/import',
      id: 'guestImport',
      scope: 'attendees:write',
      summary: 'Register the guests of a list, each once, or say what would become of them',
      action: importGuestsAction.name,
      input: GuestImport,
      bodyLimitBytes: BODY_BYTES,
    },
    async (db, given, { name }) => {
      const rows: GuestRow[] = [];
      const summary = await importGuests(db, given, name, (progress) => rows.push(...progress.rows));
      return { ...summary, rows };
    },
  ),
};
