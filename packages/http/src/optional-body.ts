import type { FastifyRequest } from 'fastify';

type Hook = (request: FastifyRequest, reply: unknown, next: () => void) => void;

// A type without a body is no error here: clients often send the header with every request.
const forgetType: Hook = ({ headers }, _reply, next) => {
  const isEmpty = Number(headers['content-length'] ?? 0) === 0 && headers['transfer-encoding'] === undefined;
  if (isEmpty) {
    delete headers['content-type'];
    delete headers['content-length'];
  }
  next();
};

const assumeObject: Hook = (request, _reply, next) => {
  request.body ??= {};
  next();
};

/** Options of a route whose fields are all optional: an empty body is read as an object without fields. */
export const optionalBody = { onRequest: forgetType, preValidation: assumeObject };
