// Finds the silence that applies to a new signal.

import { joinLabels } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { StoredSignal } from '../signal/model.ts'
import { max_silences, silences } from './model.ts'
import { isSilencing } from './rules.ts'

type SilenceCandidate = Pick<StoredSignal, 'tenant_id' | 'label' | 'signal_type' | 'severity' | 'subject' | 'source'>

/** The fields that the oldest active, matching silence adds to the signal. */
export async function findActiveSilence(
  call: Call,
  signal: SilenceCandidate,
): Promise<Pick<StoredSignal, 'silence_id' | 'silence_label'>> {
  const now = call.now()
  const filter = { tenant_id: signal.tenant_id, starts_ts: { lte: now }, until_ts: { gt: now } }
  const order = { field: 'created_at', direction: 'asc' } as const
  const { docs } = await call.store(silences).list({ filter, order, limit: max_silences, fresh: true })
  const silence = docs.find(({ value }) => isSilencing(value, signal, call.site.labels))
  if (!silence) return {}
  const { silence_label } = silence.value
  return {
    silence_id: silence.id,
    silence_label: joinLabels(silence_label, signal.label, call.site.labels) ?? silence_label,
  }
}
