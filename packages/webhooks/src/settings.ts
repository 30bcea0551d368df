import { flag } from '@floodgate/service/load-config';

/** Read by the API and the delivery process. */
export const allowPrivateSetting = {
  WEBHOOK_ALLOW_PRIVATE: flag(
    'true or false; only for development: webhooks may use http and reach private addresses and this machine',
  ),
};
