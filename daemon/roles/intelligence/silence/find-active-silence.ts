// Finds the silence that applies to a new signal.

import { joinLabels } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
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
  const query = { filter, order, fresh: true, page_size: max_silences }
  for await (const { id, value } of iterateDocuments(call.store(silences), query)) {
    if (!isSilencing(value, signal, call.site.labels)) continue
    const { silence_label } = value
    return { silence_id: id, silence_label: joinLabels(silence_label, signal.label, call.site.labels) ?? silence_label }
  }
  return {}
}
