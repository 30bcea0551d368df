/** Changes in the audit log. The arguments are HTML. */
export const latestChanges = {
  none: 'Nothing was changed yet.',
  nothing: 'none',
  fromTo: (field: string, was: string, is: string) => `${field} from ${was} to ${is}`,
};
