import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';

/** Resolves to the ticket that a form is about. */
async function ticketOf({ read, operations }: PageRequest, { ticketId = '' }: Texts) {
  return (await read(operations.ticketShow, { ticketId }))!;
}

export const ticketForms = {
  ticketUpdate: {
    parts: {
      capacity: ['capacity'],
      price: ['price'],
      sale: ['saleStartsAt', 'saleEndsAt'],
      texts: ['title', 'benefits'],
      waiting: ['offerHours', 'waitingClosesAt'],
      // The link to it says whether the sale stops or resumes.
      switch: ['withHolds'],
      resume: [],
    },
    current: ticketOf,
    about: async (page, given) => {
      const { title, taken, capacity } = await ticketOf(page, given);
      return html`<p class="sub">${page.words.tickets.taken(title, page.format.number(taken), page.format.number(capacity))}</p>`;
    },
  },
} satisfies FormDefinitions;
