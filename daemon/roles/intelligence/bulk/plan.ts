// Counts the signals that a bulk disposition would change, without changing them.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPaths } from '../object-paths.ts'
import { settings } from '../settings.ts'
import { signalStatus } from '../signal/model.ts'
import { bulkDecision, bulkSelection } from './model.ts'
import { countAllowed } from './rules.ts'
import { checkSelection, countStatuses } from './selection.ts'

const count = z.int().min(0)

export const plan = operation({
  ...objectPaths('signal-bulk-plan'),
  summary: 'Count the signals that a bulk disposition would change, without changing them',
  method: 'POST',
  tool: 'signal_bulk_plan',
  input: z.strictObject({ ...bulkSelection, ...bulkDecision }),
  output: z
    .strictObject({
      matches: count,
      most: count.meta({ description: 'Maximum number of signals of one bulk disposition' }),
      would_be_done: count,
      would_be_refused: count,
      by_status: z.partialRecord(signalStatus, count),
    })
    .meta({ id: 'BulkPlan' }),
  errors: [],
  allow: 'intelligence:read',
  reads: true,

  async run(call, { disposition, ...selection }) {
    const refusal = checkSelection(selection)
    if (refusal) return refusal
    const { all, unmerged } = await countStatuses(call, selection)
    const matches = [...all.values()].reduce((sum, each) => sum + each, 0)
    const would_be_done = countAllowed(unmerged, disposition)
    return {
      ...{ matches, most: call.settings(settings).bulk_signals },
      ...{ would_be_done, would_be_refused: matches - would_be_done, by_status: Object.fromEntries(all) },
    }
  },
})
