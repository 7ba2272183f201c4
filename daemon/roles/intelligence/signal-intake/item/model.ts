// The form of every item of intake: the fields of one signal, and its origin.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import { requiredText } from '../../../../kernel/operation/required-text.ts'
import { subject } from '../../../../shared/signal-cause/signal-subject.ts'
import { shortText } from '../../fields.ts'
import { actor, freeFields, signalInputFields, source } from '../../signal/model.ts'

const { signal_type, severity, title, description, detected_at, expires_at, confidence } = signalInputFields

/** Fields of a signal that a source can set. */
export const itemFields = z.strictObject({
  ...{ signal_type, severity, title, subject, description, expires_at, confidence },
  detected_at: detected_at.optional(),
  reference: source.shape.reference,
  actor: actor.optional(),
  metadata: freeFields.optional(),
})
export type ItemFields = z.infer<typeof itemFields>

/** One signal to raise once. `key`: its id at its origin. */
export const raiseInput = z
  .strictObject({
    origin: z.string().min(1).max(128).meta({ description: 'Such as source:siem, peer:bravo, site:conflict' }),
    key: requiredText(1_024),
    digest: z
      .string()
      .max(128)
      .optional()
      .meta({ description: 'Digest of the content; if present, other content under the same key is refused' }),
    tenant_id: shortText,
    label,
    source,
    fields: itemFields,
  })
  .meta({ id: 'Raising' })
export type RaiseSignalInput = z.infer<typeof raiseInput>
