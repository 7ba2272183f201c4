// Raises a signal for an event on the site itself, with the severity and classification that the profile sets for its kind.
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { completeLabel, joinLabels, type Label } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { SiteCause } from '../../../../shared/signal-cause/report-cause.ts'
import { countIntake } from '../metrics.ts'
import { raiseSignal } from '../raise-signal.ts'
import { intakeSettings } from '../settings.ts'

/**
 * Raises the signal of a cause and returns its id, also for one that was raised before. Undefined if the profile turns this
 * kind off. Acts for every tenant.
 */
export async function raiseSiteCause(call: Call, cause: SiteCause): Promise<string | undefined | Refusal> {
  const { kind, key, tenant_id, subject, title, description, detected_at } = cause
  const { enabled, severity: configured } = call.settings(intakeSettings)[kind]
  if (!enabled) return undefined
  const label = labelCause(call, cause)
  if (isRefusal(label)) return label
  const result = await raiseSignal(call, {
    ...{ origin: `site:${kind}`, key, tenant_id, label, source: { type: 'internal', name: kind } },
    fields: {
      ...{ signal_type: kind, severity: cause.severity ?? configured, title, subject },
      ...(description === undefined ? {} : { description }),
      ...(detected_at === undefined ? {} : { detected_at }),
      actor: { type: 'service', id: 'site', name: call.site.name },
    },
  })
  if (isRefusal(result)) return result
  countIntake(call, 'site', result.is_new ? 'taken' : 'repeated')
  return result.uid
}

/** The join of the configured classification with the label of the cause. */
function labelCause({ settings, site }: Call, { kind, tenant_id, label }: SiteCause): Label | Refusal {
  const { classification = site.default_level } = settings(intakeSettings)[kind]
  const configured = completeLabel(classification, site.labels, tenant_id)
  const joined = configured && label ? joinLabels(label, configured, site.labels) : configured
  return (
    joined ??
    refuse(
      'label_denied',
      'the label policy of this site has no join of the configured classification and the label of the cause',
    )
  )
}
