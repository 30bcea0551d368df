import type { DescribedTicket } from '@floodgate/tickets/console';
import type { PageRequest } from '../add-page.ts';
import { link, type Shown } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { Operations } from '../operations.ts';
import { ticketPath } from './ticket-table.ts';

type Allocation = Awaited<ReturnType<Operations['ticketAllocations']>>[number];

/** Returns a partner by its name, with a link to its page if the operator may open it. */
export function partnerShown(
  { operator, words }: Pick<PageRequest, 'operator' | 'words'>,
  partnerId: number,
  names: ReadonlyMap<number, string>,
): Shown {
  const name = names.get(partnerId) ?? words.sellers.partnerOf(String(partnerId));
  return operator.scopes.includes('partners:read') ? link(`/partners/${partnerId}`, name) : name;
}

interface AllocationsOptions {
  allocations: readonly Allocation[];
  names: ReadonlyMap<number, string>;
  /** The tickets, if the allocations are those of several. */
  tickets?: readonly DescribedTicket[];
}

/** Returns the allocations of tickets as a table. */
export function allocationsHtml(page: PageRequest, { allocations, names, tickets = [] }: AllocationsOptions) {
  const { words, format, action, operations } = page;
  const { sellers } = words;
  const titles = new Map(tickets.map(({ id, title }) => [id, title]));
  const links = new Map(tickets.map((ticket) => [ticket.id, link(ticketPath(ticket), ticket.title)]));
  return listing({
    caption: words.tickets.allocations,
    things: allocations,
    empty: sellers.noAllocations,
    format,
    columns: [
      links.size > 0 && { head: words.tickets.ticket, cell: ({ ticketId }) => links.get(ticketId) },
      { head: sellers.partner, cell: ({ partnerId }) => partnerShown(page, partnerId, names) },
      { head: sellers.reserved, cell: ({ reserved }) => reserved },
      { head: sellers.cap, cell: ({ cap }) => cap ?? sellers.noCap, isNumber: true },
      { head: sellers.taken, cell: ({ taken }) => taken },
      { head: sellers.unsold, cell: ({ unsold }) => unsold },
      { head: sellers.releases, cell: ({ releasesAt }) => format.time(releasesAt) ?? sellers.neverReleased },
      {
        head: '',
        cell: ({ ticketId, partnerId }) =>
          action(operations.ticketAllocate, { ticketId, partnerId }, words.tickets.change, {
            of: [titles.get(ticketId), names.get(partnerId)].filter(Boolean).join(', '),
          }),
      },
    ],
  });
}
