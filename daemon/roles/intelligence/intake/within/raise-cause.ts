// Raises a signal for something that happens on the site itself, as the profile says of its kind.
import * as z from 'zod'
import type { Call } from '../../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../../kernel/errors.ts'
import { join, type Label, labelOf } from '../../../../kernel/label.ts'
import { operation } from '../../../../kernel/operation.ts'
import { uid } from '../../fields.ts'
import { counted } from '../metrics.ts'
import { beyond, raised } from '../raise.ts'
import { intakeSettings } from '../settings.ts'
import { type Cause, cause } from './model.ts'

export const raiseCause = operation({
  summary: 'Tell of something on the site that is worth a signal, as a failed pipeline',
  method: 'POST',
  path: '/api/v1/signal-intake/cause',
  input: cause,
  output: z.strictObject({ raised: z.boolean(), uid: uid.optional() }).meta({ id: 'CauseTaken' }),
  errors: ['not_your_tenant', 'label_denied'],
  allow: 'intelligence:raise',

  async run(call, given) {
    const refused = beyond(call, given)
    if (refused) return refused
    const { caller } = call
    const key = caller.tenant_id === '*' ? given.key : `${caller.subject}/${given.key}`
    const done = await causeRaised(call, { ...given, key })
    if (isRefused(done)) return done
    return done === undefined ? { raised: false } : { raised: true, uid: done }
  },
})

/** The id of its signal, new or not; undefined where the profile has this kind off. Acts for every tenant. */
export async function causeRaised(call: Call, given: Cause): Promise<string | undefined | Refused> {
  const { kind, key, tenant_id, subject, title, description, detected_at } = given
  const { enabled, severity } = call.settings(intakeSettings)[kind]
  if (!enabled) return undefined
  const label = labelled(call, given)
  if (isRefused(label)) return label
  const done = await raised(call, {
    ...{ origin: `site:${kind}`, key, tenant_id, label, source: { type: 'internal', name: kind } },
    fields: {
      ...{ signal_type: kind, severity, title, subject },
      ...(description === undefined ? {} : { description }),
      ...(detected_at === undefined ? {} : { detected_at }),
      actor: { type: 'service', id: 'site', name: call.site.name },
    },
  })
  if (isRefused(done)) return done
  counted(call, kind, done.is_new ? 'taken' : 'repeated')
  return done.uid
}

/** The join of what the profile says with the label of what it is about. */
function labelled({ settings, site }: Call, { kind, tenant_id, label }: Cause): Label | Refused {
  const { classification = site.default_level } = settings(intakeSettings)[kind]
  const own = labelOf(classification, site.labels, tenant_id)
  const joined = own && label ? join(label, own, site.labels) : own
  return joined ?? refuse('label_denied', 'there is no label of this site’s policy that holds both')
}
