// Raises a signal for something that happens on the site itself, as the profile says of its kind.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { completeLabel, joinLabels, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uid } from '../fields.ts'
import { countIntake } from './metrics.ts'
import { checkTenantAndLabel, raiseSignal } from './raise.ts'
import { intakeSettings } from './settings.ts'
import { cause, type SiteCause } from './site-cause/model.ts'

export const raiseCause = operation({
  summary: 'Tell of something on the site that is worth a signal, as a failed pipeline',
  method: 'POST',
  path: '/api/v1/signal-intake/cause',
  input: cause,
  output: z.strictObject({ raised: z.boolean(), uid: uid.optional() }).meta({ id: 'CauseTaken' }),
  errors: ['not_your_tenant', 'label_denied'],
  allow: 'intelligence:raise',

  async run(call, given) {
    const refused = checkTenantAndLabel(call, given)
    if (refused) return refused
    const { caller } = call
    const key = caller.tenant_id === '*' ? given.key : `${caller.subject}/${given.key}`
    const done = await raiseSiteCause(call, { ...given, key })
    if (isRefusal(done)) return done
    return done === undefined ? { raised: false } : { raised: true, uid: done }
  },
})

/** The id of its signal, new or not; undefined where the profile has this kind off. Acts for every tenant. */
export async function raiseSiteCause(call: Call, given: SiteCause): Promise<string | undefined | Refusal> {
  const { kind, key, tenant_id, subject, title, description, detected_at } = given
  const { enabled, severity } = call.settings(intakeSettings)[kind]
  if (!enabled) return undefined
  const label = labelCause(call, given)
  if (isRefusal(label)) return label
  const done = await raiseSignal(call, {
    ...{ origin: `site:${kind}`, key, tenant_id, label, source: { type: 'internal', name: kind } },
    fields: {
      ...{ signal_type: kind, severity, title, subject },
      ...(description === undefined ? {} : { description }),
      ...(detected_at === undefined ? {} : { detected_at }),
      actor: { type: 'service', id: 'site', name: call.site.name },
    },
  })
  if (isRefusal(done)) return done
  countIntake(call, kind, done.is_new ? 'taken' : 'repeated')
  return done.uid
}

/** The join of what the profile says with the label of what it is about. */
function labelCause({ settings, site }: Call, { kind, tenant_id, label }: SiteCause): Label | Refusal {
  const { classification = site.default_level } = settings(intakeSettings)[kind]
  const own = completeLabel(classification, site.labels, tenant_id)
  const joined = own && label ? joinLabels(label, own, site.labels) : own
  return joined ?? refuse('label_denied', 'there is no label of this site’s policy that holds both')
}
