/** The documents as pages of the console. */
export const help = {
  title: 'Help',
  operate: 'For people who run events',
  guide: 'For partners',
  reference: 'Reference',
  /** In a language that the documents have, there is nothing to say. */
  language: '',
};
