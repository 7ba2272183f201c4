// What this site takes part in at all, whoever agrees: how much a party may bring.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { SettingValues } from '../../../../kernel/settings/settings.ts'
import type { settings } from '../../settings.ts'
import type { ExchangeAgreement } from './agreement.ts'

type ExchangeSetLimits = Pick<SettingValues<typeof settings>, 'exchange_records' | 'exchange_mb'>

/** Why the agreement allows more than this site ever takes; undefined when it does not. */
export function checkSetLimits(
  { exchange_records, exchange_mb }: ExchangeSetLimits,
  { privacy, max_set_size, max_set_bytes }: Pick<ExchangeAgreement, 'privacy' | 'max_set_size' | 'max_set_bytes'>,
): Refusal | undefined {
  if (max_set_size > exchange_records)
    return refuse('over_budget', `max_set_size is ${max_set_size}, and this site takes at most ${exchange_records}`)
  const most = exchange_mb * 1_048_576
  if (privacy !== 'none' || max_set_bytes <= most) return undefined
  return refuse('over_budget', `max_set_bytes is ${max_set_bytes}, and this site takes at most ${most}`)
}
