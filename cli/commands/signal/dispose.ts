// Sets the disposition of one signal, or of many as one bulk disposition.
import type { ApiObject, ServiceClient } from '../../client/client.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { formatSignal } from '../../format/signal.ts'
import { formatBulk, waitForBulk } from '../../format/signal-bulk.ts'
import { connectService } from '../../options/service-options.ts'
import {
  buildSignalFilter,
  changeOptions,
  createOptions,
  filterOptions,
  toRequestOptions,
} from '../../options/signal-options.ts'
import { type CommandExitCode, CommandFailure, command } from '../../program/command.ts'
import { choice, flag, required, rest, text } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'signal dispose',
  summary: 'Set the disposition of one signal, or of many by id or filter',
  notes:
    'Several signals become one bulk disposition, which applies the rules to each signal and stores an outcome for each. --dry-run only counts. A filter asks for confirmation of the count, unless --yes. An interrupted command does not stop the disposition: see signal bulk.',
  positionals: { ids: rest('SIGNAL', 'IDs of the signals; leave out to select by filter') },
  options: {
    to: required(choice('STATUS', 'New status', ['acknowledged', 'investigating', 'resolved', 'dismissed'])),
    rationale: text('TEXT', 'Reason, stored in the history of each signal'),
    dryRun: flag('Count the signals that would change, and change nothing'),
    yes: flag('Do not ask for confirmation of a filter'),
    ...filterOptions,
    ...createOptions,
    ...changeOptions,
  },
  example: 'platform signal dispose sig_… --to dismissed --rationale "a buoy"',
  async run({ ids, to: disposition, rationale, dryRun, yes, ...params }, terminal) {
    const filter = buildSignalFilter(params)
    const selection = buildSelection(ids, filter)
    const api = await connectService(params, terminal)
    if (dryRun) return printPlan(api, { ...selection, disposition }, params.json, terminal)
    if (rationale === undefined)
      throw new CommandFailure(2, '--rationale is missing: give the reason for the disposition')
    const [uid, ...otherIds] = ids
    if (uid !== undefined && otherIds.length === 0 && params.idempotencyKey === undefined) {
      const input = { uid, disposition, rationale }
      const changed = await api.call('intelligence.signal.set-disposition', input, toRequestOptions(params))
      printResult(terminal, params.json, changed, () => formatSignal(terminal, changed))
      return 0
    }
    if (params.ifVersion !== undefined)
      throw new CommandFailure(2, '--if-version works for a single signal only: leave it out, or name one signal')
    const expect =
      yes || ids.length > 0 ? undefined : await confirmMatchCount(api, { ...selection, disposition }, terminal)
    const bulk = await api.call(
      'intelligence.bulk.create',
      { ...selection, disposition, rationale, expect },
      toRequestOptions(params),
    )
    const finished = await waitForBulk(api, bulk, terminal)
    printResult(terminal, params.json, finished, () => formatBulk(terminal, finished))
    return finished.done === finished.total ? 0 : 3
  },
})

function buildSelection(ids: readonly string[], filter: ApiObject): ApiObject {
  const hasFilter = Object.keys(filter).length > 0
  if (hasFilter === ids.length > 0) throw new CommandFailure(2, 'name signals or give filter options, and not both')
  return hasFilter ? { filter } : { signal_ids: ids }
}

async function printPlan(
  api: ServiceClient,
  input: ApiObject,
  json: boolean,
  terminal: Terminal,
): Promise<CommandExitCode> {
  const plan = await api.call('intelligence.bulk.plan', input)
  printResult(terminal, json, plan, () => formatFields(terminal, plan))
  return 0
}

/** Asks for consent to the number of matching signals, and returns it: the service refuses if the number has changed by then. */
async function confirmMatchCount(api: ServiceClient, input: ApiObject, terminal: Terminal): Promise<number> {
  const { matches, would_be_done } = await api.call('intelligence.bulk.plan', input)
  await requireConsent(
    terminal,
    false,
    `${matches} signals match, ${would_be_done} of them may become ${input.disposition}. Continue?`,
  )
  return Number(matches)
}
