// The ceiling: a Fastify route that validates the same body and answers the same envelope, and does nothing else.
import { isEmailAddress, RegistrationRequest, success, SuccessEnvelope } from '@floodgate/contract';
import { Type } from '@sinclair/typebox';
import Fastify from 'fastify';

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
const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`Server listening at ${address}\n`);
