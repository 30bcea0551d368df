import { Type, type Static } from '@sinclair/typebox';
import { PassReference } from './answers.ts';
import { closed, nullableTimestamp, oneOf, Text, Timestamp } from './fields.ts';

const Admission = closed('Admission', {
  gate: Text('Name of the gate.', 'Main entrance'),
  device: Text('Name of the device that scanned the pass.', 'Scanner 3'),
  state: oneOf(
    ['admitted', 'again', 'undone'],
    'admitted: the person was let in. again: the person was let in although the pass was admitted before, by a device without ' +
      'network. undone: the scan was taken back.',
    'admitted',
  ),
  dateAdmitted: Timestamp('Time of the admission.'),
  dateLeft: nullableTimestamp('Time at which the person left. null: not known to have left.'),
});

/** The admissions of a registration. */
export const AdmissionList = closed('AdmissionList', {
  passReference: PassReference,
  admissions: Type.Array(Admission, { description: 'The admissions, oldest first.' }),
});
export type AdmissionList = Static<typeof AdmissionList>;
