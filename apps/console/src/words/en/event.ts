/** Events and the parts of their pages. */
export const event = {
  tabs: {
    overview: 'Overview',
    tickets: 'Tickets',
    attendees: 'Attendees',
    partners: 'Partners',
    messages: 'Messages',
    door: 'Door',
    reports: 'Reports',
    settings: 'Settings',
  },
  watch: 'Watch live',
  stopSale: 'Stop all sales',
  noTime: 'no time yet',
  noPlace: 'no place yet',
  live: 'live',
  test: 'test',
  states: {
    calledOff: 'Called off',
    archived: 'Archived',
    onSale: 'On sale',
    offSale: 'Off sale',
    soldOut: 'Sold out',
    opens: (time: string) => `Opens ${time}`,
    ended: 'Sale ended',
    noTickets: 'No tickets',
  },
};
