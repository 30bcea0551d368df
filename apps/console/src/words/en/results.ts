/** The pages after forms that show a result. */
export const results = {
  guestAdded: 'The guest is registered.',
  guestKnown: 'This guest was registered already. Nothing has changed.',
  dryRun: 'This was a dry run: nobody was registered.',
  imported: 'The list is registered.',
  rowsToLookAt: 'Rows to look at',
  line: 'Line',
  outcome: 'Outcome',
  reason: 'Reason',
  found: 'What was found',
  passValid: 'This pass is valid',
  passInvalid: 'This pass is not valid',
  qrOfCode: 'QR code of the code above',
};
