/** The list of events. */
export const eventList = {
  add: 'Add event',
  lists: { upcoming: 'Upcoming', running: 'Running', past: 'Past', archived: 'Archived', test: 'Test' },
  filter: 'Name or place',
  show: 'Show',
  showAll: 'Show all',
  none: 'There are no events in this list.',
  noMatch: 'No event in this list has this name or place. Look at the numbers of the other lists.',
  event: 'Event',
  when: 'When',
  taken: 'Taken',
  seats: 'Seats',
  state: 'State',
  ofCapacity: (taken: string, capacity: string) => `${taken} of ${capacity}`,
  nextOpening: 'Next opening:',
  inTime: (time: string) => `in ${time}`,
  pageOf: (number: string, last: string) => `Page ${number} of ${last}`,
};
