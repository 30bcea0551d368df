// The process of the empty route: validates the same requests by the same schemas and sends Floodgate's
// answers, without other work.
import {
  CallerHeaders,
  isEmailAddress,
  RegistrationRequest,
  success,
  SuccessEnvelope,
} from '@floodgate/contract';
import { Type } from '@sinclair/typebox';
import Fastify from 'fastify';
import { exampleTickets } from './example-tickets.ts';

const app = Fastify({
  ajv: {
    customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false, allErrors: true },
    onCreate: (ajv) => ajv.addFormat('email', isEmailAddress),
  },
});
app.post(
  '/api/v1/events/register',
  { schema: { body: RegistrationRequest, response: { 200: SuccessEnvelope(Type.String()) } } },
  () => Promise.resolve(success('GALA-1001-1-5909379514')),
);
const tickets = JSON.stringify(success(exampleTickets));
app.get('/api/v1/events/tickets', { schema: { headers: CallerHeaders } }, (_request, reply) => {
  void reply.type('application/json; charset=utf-8');
  return Promise.resolve(tickets);
});
process.once('SIGTERM', () => process.exit());
const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`Server listening at ${address}\n`);
