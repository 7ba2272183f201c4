// Reports an event on the site that is worth a signal to the role that raises signals.
import * as z from 'zod'
import type { ErrorCode, Refusal } from '../../kernel/error/errors.ts'
import { label } from '../../kernel/label/label.ts'
import { operationContract, type RoleClients } from '../../kernel/operation/operation-contract.ts'
import { requiredText } from '../../kernel/operation/required-text.ts'
import { severity, subject } from './signal-subject.ts'

const causeKind = z.enum(['conflict', 'peer_decision', 'quarantine', 'stale_channel', 'failed_pipeline', 'notice'])

/**
 * `key`: identifies one occurrence: constant while it lasts, and new when the event occurs again. `label`: label of
 * the object concerned, where it has one. `severity`: of a notice, in place of that of the profile.
 */
const siteCause = z
  .strictObject({
    kind: causeKind,
    key: requiredText(1_000),
    tenant_id: requiredText(256),
    label: label.optional(),
    subject,
    title: requiredText(512),
    description: z.string().max(4_096).optional(),
    detected_at: z.iso.datetime().optional(),
    severity: severity.optional().meta({ description: 'Of a notice; the profile grades every other kind' }),
  })
  .refine(({ kind, severity: own }) => kind === 'notice' || own === undefined, {
    path: ['severity'],
    message: 'only a notice has a severity of its own',
  })
  .meta({ id: 'Cause', description: 'An event on the site that is worth a signal' })
export type SiteCause = z.infer<typeof siteCause>

/** `raised`: false where the profile turns signals of this kind off. */
const causeTaken = z
  .strictObject({ raised: z.boolean(), uid: z.string().min(1).max(128).optional() })
  .meta({ id: 'CauseTaken' })

export const causeReport = operationContract({
  address: 'intelligence.signal-intake.cause',
  input: siteCause,
  output: causeTaken,
})

/** A repetition finds the signal that the first report raised. Throws `Refusal('unavailable')` while the role does not answer. */
export async function reportCause(
  { roles }: { readonly roles: RoleClients },
  cause: SiteCause,
): Promise<z.output<typeof causeTaken> | Refusal> {
  return await roles.request(causeReport, cause)
}

const final_codes: ReadonlySet<ErrorCode> = new Set(['label_denied', 'not_your_tenant', 'invalid'])

/** Whether the same report would be refused each time. Other refusals come of a defect, a lost right or another version of the role, and pass. */
export function isReportRefused({ code }: Refusal): boolean {
  return final_codes.has(code)
}
