/** The waiting list of a ticket. */
export const waitingList = {
  title: (ticket: string) => `Waiting list: ${ticket}`,
  about:
    'In the order in which they joined. Free seats are offered to the first ones that they are enough for.',
  none: 'Nobody is in this list.',
  place: 'Place',
  seats: 'Seats',
  state: 'State',
  reference: 'Order',
  joined: 'Joined',
  expires: 'Offer ends',
  skipped: 'Skipped',
  states: {
    waiting: 'Waiting',
    offered: 'Offered',
    confirmed: 'Confirmed',
    expired: 'Offer ended',
    left: 'Left',
  },
};
