// Moves a signal on by a person’s decision, or many by one.
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
  summary: 'set the disposition of a signal, or of many, named or filtered',
  notes:
    'Many are one bulk disposition: each signal is decided by the rules of one and has its answer. --dry-run counts and does nothing; what a filter takes is counted and asked for first. Interrupted, it goes on: see signal bulk.',
  positionals: { ids: rest('SIGNAL', 'signals; none where a filter says which') },
  options: {
    to: required(choice('STATUS', 'what they become', ['acknowledged', 'investigating', 'resolved', 'dismissed'])),
    rationale: text('TEXT', 'why; part of each history'),
    dryRun: flag('count what would be done, and do nothing'),
    yes: flag('do not ask before a filter is taken at its word'),
    ...filterOptions,
    ...createOptions,
    ...changeOptions,
  },
  example: 'platform signal dispose sig_… --to dismissed --rationale "a buoy"',
  async run({ ids, to: disposition, rationale, dryRun, yes, ...given }, terminal) {
    const filter = buildSignalFilter(given)
    const selection = buildSelection(ids, filter)
    const api = await connectService(given, terminal)
    if (dryRun) return printPlan(api, { ...selection, disposition }, given.json, terminal)
    if (rationale === undefined) throw new CommandFailure(2, 'it needs a --rationale')
    const [uid, ...others] = ids
    if (uid !== undefined && others.length === 0 && given.idempotencyKey === undefined) {
      const input = { uid, disposition, rationale }
      const changed = await api.call('intelligence.signal.set-disposition', input, toRequestOptions(given))
      printResult(terminal, given.json, changed, () => formatSignal(terminal, changed))
      return 0
    }
    if (given.ifVersion !== undefined) throw new CommandFailure(2, '--if-version speaks of one signal')
    const expect =
      yes || ids.length > 0 ? undefined : await confirmMatchCount(api, { ...selection, disposition }, terminal)
    const begun = await api.call(
      'intelligence.bulk.create',
      { ...selection, disposition, rationale, expect },
      toRequestOptions(given),
    )
    const over = await waitForBulk(api, begun, terminal)
    printResult(terminal, given.json, over, () => formatBulk(terminal, over))
    return over.done === over.total ? 0 : 3
  },
})

function buildSelection(ids: readonly string[], filter: ApiObject): ApiObject {
  const hasFilter = Object.keys(filter).length > 0
  if (hasFilter === ids.length > 0) throw new CommandFailure(2, 'name signals, or say by a filter which: one of them')
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

/** How many the person has agreed to: no others are taken. */
async function confirmMatchCount(api: ServiceClient, input: ApiObject, terminal: Terminal): Promise<number> {
  const { matches, would_be_done } = await api.call('intelligence.bulk.plan', input)
  await requireConsent(
    terminal,
    false,
    `${matches} signals match, ${would_be_done} of them may become ${input.disposition}. Go on?`,
  )
  return Number(matches)
}
