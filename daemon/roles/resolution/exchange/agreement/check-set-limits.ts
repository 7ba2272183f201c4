// Enforces the largest sets that this site accepts in an exchange, with or without a person's agreement.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { SettingValues } from '../../../../kernel/settings/settings.ts'
import type { settings } from '../../settings.ts'
import type { ExchangeAgreement } from './agreement.ts'

type ExchangeSetLimits = Pick<SettingValues<typeof settings>, 'exchange_records' | 'exchange_mb'>

/** Refuses an agreement that allows larger sets than the settings of this site. */
export function checkSetLimits(
  { exchange_records, exchange_mb }: ExchangeSetLimits,
  { privacy, max_set_size, max_set_bytes }: Pick<ExchangeAgreement, 'privacy' | 'max_set_size' | 'max_set_bytes'>,
): Refusal | undefined {
  if (max_set_size > exchange_records)
    return refuse(
      'over_budget',
      `max_set_size is ${max_set_size}, and this site allows at most ${exchange_records} (resolution.exchange_records): propose fewer records`,
    )
  const max_bytes = exchange_mb * 1_048_576
  if (privacy !== 'none' || max_set_bytes <= max_bytes) return undefined
  return refuse(
    'over_budget',
    `max_set_bytes is ${max_set_bytes}, and this site allows at most ${max_bytes} (resolution.exchange_mb): propose fewer bytes`,
  )
}
