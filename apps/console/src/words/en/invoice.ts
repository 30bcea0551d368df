/** The invoice of a partner, as a file. */
export const invoice = {
  invoice: 'Invoice',
  event: 'Event',
  when: 'When',
  period: 'Sold and cancelled',
  made: 'Made',
  total: 'Total',
};
