// Starts a run over the records of this site and of another one: proposes the exchange whose run it is.
import * as z from 'zod'
import { type FieldError, isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { TaskDataset } from '../../../shared/task-dataset/task-dataset.ts'
import { exchangeTerms } from '../exchange/agreement/agreement.ts'
import { runIdOfExchange } from '../exchange/model.ts'
import { openExchangeRun } from '../exchange/progress/exchange-run.ts'
import { peerField, proposeExchange } from '../exchange/propose.ts'
import { findLens } from '../lens/find-lens.ts'
import { fusionRuns, type StoredRun } from './model.ts'
import type { NodeData } from './node-data.ts'
import type { RunInput } from './open-run.ts'

const { privacy: _privacy, seed: _seed, threshold: _threshold, ...terms } = exchangeTerms

/** The peer and the terms; the other terms are those of the run. */
export const exchangeOfRun = z.strictObject({ ...peerField, ...terms }).meta({
  id: 'RunExchange',
  description:
    'The other site of the run, and the terms that it must agree to; `privacy` decides what leaves the sites',
})

/** Whether the run needs another site. */
export function isOfTwoSites({ privacy, exchange }: Pick<RunInput, 'privacy' | 'exchange'>): boolean {
  return privacy !== 'none' || exchange !== undefined
}

/**
 * Returns the run, which waits for the agreement of the other site. It follows the exchange from then on: its status is
 * the progress, and cancelling it ends the exchange.
 */
export async function startExchangeRun(call: Call, input: RunInput): Promise<Doc<StoredRun> | Refusal> {
  const faults = findExchangeFaults(input)
  const { exchange, node_data, lens_id, lens_version, threshold, privacy, seed, classification } = input
  const [data] = Object.values(node_data)
  if (faults.length > 0 || !exchange || !data || isTaskDataset(data))
    return refuse('invalid', 'the run cannot be started', faults)
  const shared = { lens_id, lens_version, threshold, privacy, seed, classification }
  const proposed = await proposeExchange(call, { ...exchange, ...shared, data })
  if (isRefusal(proposed)) return proposed
  const { lens, lens_version: version } = proposed.value.agreement
  const found = await findLens(call, lens, version)
  if (isRefusal(found)) return found
  const refused = await openExchangeRun(call, proposed, found, 'pending')
  return refused ?? (await call.store(fusionRuns).get(runIdOfExchange(proposed.id)))
}

function isTaskDataset(data: NodeData[string]): data is TaskDataset {
  return 'task' in data
}

function findExchangeFaults(input: RunInput): FieldError[] {
  const faults: FieldError[] = []
  const fault = (path: string, message: string) => faults.push({ path, message })
  if (!input.exchange) fault('exchange', `is required with privacy ${input.privacy}: name the other site and the terms`)
  if (Object.keys(input.node_data).length !== 1)
    fault('node_data', 'must have one node, the records of this site: the other site has its own')
  if (Object.values(input.node_data).some(isTaskDataset))
    fault('node_data', 'must have records or a data file: an exchange takes no dataset of a pipeline')
  for (const name of ['null_penalty', 'id_field', 'consensus', 'accept_poor'] as const)
    if (input[name] !== undefined) fault(name, 'is for runs of this site alone: an exchange keeps to the lens')
  return faults
}
