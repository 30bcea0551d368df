import type { FastifyInstance } from 'fastify';
import { adder } from '../add-page.ts';
import type { ConsoleContext } from '../operations.ts';
import { address } from '../view/html.ts';
import { addAttendeeFile } from './attendee-file.ts';
import { showAttendees } from './attendees.ts';
import { eventPage } from './event-page.ts';
import { personPath } from './names.ts';
import { showPeople } from './people-search.ts';
import { showPerson } from './person.ts';

/** Adds the search for people, the page of one registration, and the attendees of an event. */
export function addPeoplePages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context);
  add('/people', ['registrations:read'], showPeople);
  add('/people/:passReference', ['registrations:read'], showPerson);
  add('/events/:eventId/attendees', ['attendees:read'], eventPage('attendees', showAttendees));
  addAttendeeFile(app, context);
  // Addresses of earlier releases, which people have kept.
  add('/attendees', ['registrations:read'], ({ query }) =>
    Promise.resolve({ redirectTo: query['eventId'] ? `/events/${query['eventId']}/attendees` : '/people' }),
  );
  add('/registrations', ['registrations:read'], ({ query: { passReference } }) =>
    Promise.resolve({ redirectTo: passReference ? personPath(passReference) : address('/people') }),
  );
}
