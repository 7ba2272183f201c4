// The silence that a new signal comes under.
import type { Call } from '../../../kernel/call.ts'
import { join } from '../../../kernel/label.ts'
import type { StoredSignal } from '../signal/model.ts'
import { most_silences, silences } from './model.ts'
import { isOver } from './rules.ts'

type New = Pick<StoredSignal, 'tenant_id' | 'label' | 'signal_type' | 'severity' | 'subject' | 'source'>

/** The oldest of those that hold now; what it adds to the signal. */
export async function silenceOver(
  call: Call,
  signal: New,
): Promise<Pick<StoredSignal, 'silence_id' | 'silence_label'>> {
  const now = call.now()
  const filter = { tenant_id: signal.tenant_id, starts_ts: { lte: now }, until_ts: { gt: now } }
  const order = { field: 'created_at', direction: 'asc' } as const
  const { docs } = await call.store(silences).list({ filter, order, limit: most_silences, fresh: true })
  const over = docs.find(({ value }) => isOver(value, signal, call.site.labels))
  if (!over) return {}
  const { silence_label } = over.value
  return { silence_id: over.id, silence_label: join(silence_label, signal.label, call.site.labels) ?? silence_label }
}
