import { Type } from '@sinclair/typebox';

/** Read by the API and the delivery process. */
export const allowPrivateSetting = {
  WEBHOOK_ALLOW_PRIVATE: Type.Union([Type.Literal('true'), Type.Literal('false')], {
    default: 'false',
    description:
      'true or false; only for development: webhooks may use http and reach private addresses and this machine',
  }),
};
