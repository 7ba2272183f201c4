// Moves a signal on by a person’s decision, or many by one.
import type { Answered, Client } from '../../client/client.ts'
import { command, type Exit, Failure } from '../../command.ts'
import { requireConsent } from '../../consent.ts'
import { fields, show } from '../../output.ts'
import { choice, flag, needed, rest, text } from '../../params.ts'
import { service } from '../../service.ts'
import { bulkText, followedBulk } from '../../signal-bulk.ts'
import { changeOptions, createOptions, extrasOf, filterOf, filterOptions } from '../../signal-options.ts'
import { signalText } from '../../signal-text.ts'
import type { Terminal } from '../../terminal.ts'

export const definition = command({
  words: 'signal dispose',
  summary: 'set the disposition of a signal, or of many, named or filtered',
  notes:
    'Many are one bulk disposition: each signal is decided by the rules of one and has its answer. --dry-run counts and does nothing; what a filter takes is counted and asked for first. Interrupted, it goes on: see signal bulk.',
  takes: { ids: rest('SIGNAL', 'signals; none where a filter says which') },
  options: {
    to: needed(choice('STATUS', 'what they become', ['acknowledged', 'investigating', 'resolved', 'dismissed'])),
    rationale: text('TEXT', 'why; part of each history'),
    dryRun: flag('count what would be done, and do nothing'),
    yes: flag('do not ask before a filter is taken at its word'),
    ...filterOptions,
    ...createOptions,
    ...changeOptions,
  },
  example: 'platform signal dispose sig_… --to dismissed --rationale "a buoy"',
  async run({ ids, to: disposition, rationale, dryRun, yes, ...given }, terminal) {
    const filter = filterOf(given)
    const selection = selectionOf(ids, filter)
    const api = await service(given, terminal)
    if (dryRun) return planned(api, { ...selection, disposition }, given.json, terminal)
    if (rationale === undefined) throw new Failure(2, 'it needs a --rationale')
    const [uid, ...others] = ids
    if (uid !== undefined && others.length === 0 && given.idempotencyKey === undefined) {
      const input = { uid, disposition, rationale }
      const changed = await api.call('intelligence.signal.set-disposition', input, extrasOf(given))
      show(terminal, given.json, changed, () => signalText(terminal, changed))
      return 0
    }
    if (given.ifVersion !== undefined) throw new Failure(2, '--if-version speaks of one signal')
    const expect = yes || ids.length > 0 ? undefined : await agreed(api, { ...selection, disposition }, terminal)
    const begun = await api.call(
      'intelligence.bulk.create',
      { ...selection, disposition, rationale, expect },
      extrasOf(given),
    )
    const over = await followedBulk(api, begun, terminal)
    show(terminal, given.json, over, () => bulkText(terminal, over))
    return over.done === over.total ? 0 : 3
  },
})

function selectionOf(ids: readonly string[], filter: Answered): Answered {
  const hasFilter = Object.keys(filter).length > 0
  if (hasFilter === ids.length > 0) throw new Failure(2, 'name signals, or say by a filter which: one of them')
  return hasFilter ? { filter } : { signal_ids: ids }
}

async function planned(api: Client, input: Answered, json: boolean, terminal: Terminal): Promise<Exit> {
  const plan = await api.call('intelligence.bulk.plan', input)
  show(terminal, json, plan, () => fields(terminal, plan))
  return 0
}

/** How many the person has agreed to: no others are taken. */
async function agreed(api: Client, input: Answered, terminal: Terminal): Promise<number> {
  const { matches, would_be_done } = await api.call('intelligence.bulk.plan', input)
  await requireConsent(
    terminal,
    false,
    `${matches} signals match, ${would_be_done} of them may become ${input.disposition}. Go on?`,
  )
  return Number(matches)
}
