// Causes: events on the site itself that are worth a signal.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import { requiredText } from '../../../../kernel/operation/required-text.ts'
import { instant, shortText } from '../../fields.ts'
import { subject } from '../../signal/model.ts'

const causeKind = z.enum(['conflict', 'peer_decision', 'quarantine', 'stale_channel', 'failed_pipeline'])

/**
 * `key`: identifies one occurrence: constant while it lasts, and new when the event occurs again. `label`: label of
 * the object concerned, where it has one.
 */
export const cause = z
  .strictObject({
    kind: causeKind,
    key: requiredText(1_000),
    tenant_id: shortText,
    label: label.optional(),
    subject,
    title: requiredText(512),
    description: z.string().max(4_096).optional(),
    detected_at: instant.optional(),
  })
  .meta({ id: 'Cause', description: 'An event on the site that is worth a signal' })
export type SiteCause = z.infer<typeof cause>
