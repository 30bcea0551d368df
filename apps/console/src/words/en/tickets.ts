/** Tickets and their sale. */
export const tickets = {
  taken: (title: string, taken: string, capacity: string) => `${title}: ${taken} of ${capacity} seats are taken.`,
};
