// Polls one source and raises its new items; an interruption at any point neither loses nor duplicates one.

import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { formatFieldErrors } from '../../../kernel/error/parsing.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type {
  PolledDocumentFault,
  PolledSet,
  PolledSource,
  PollResult,
} from '../../../shared/polled-source/polled-source.ts'
import { buildRaiseInputs, type SourceIdentity } from '../signal-intake/item/rules.ts'
import { type MappedItem, mapDocument, mapItem, selectItems } from '../signal-intake/mapping/rules.ts'
import { countIntake } from '../signal-intake/metrics.ts'
import { sourceTallyPart } from '../signal-intake/parts.ts'
import { checkItemTimes, raiseSignal } from '../signal-intake/raise-signal.ts'
import type { FolderSource, HttpSource } from '../signal-intake/settings.ts'
import { refusedItems, signalSources } from './model.ts'
import { resolveSource } from './resolve-source.ts'
import { storeCursor } from './store-source.ts'

/** Maximum number of responses or files in one poll; the rest follows in the next. */
const max_rounds = 50

/** Refuses if the poll failed; the next poll requests the same again. */
export async function pollSource(
  call: Call,
  source: HttpSource | FolderSource,
  polled: PolledSource,
): Promise<Refusal | undefined> {
  const of = resolveSource(call, source)
  if (isRefusal(of)) return of
  for (let round = 0; round < max_rounds && !call.signal.aborted; round++) {
    const before = (await call.store(signalSources).find(of.name))?.value.cursor
    const pollResult = await polled.poll(before, call.signal)
    if (isRefusal(pollResult)) return pollResult
    const isUnread = await takeInPoll(call, source, of, pollResult)
    if (pollResult.cursor !== before) await storeCursor(call, of.name, pollResult.cursor)
    if (isUnread) return isUnread
    call.part(sourceTallyPart).recordSuccess(of.name, { taken: 0, repeated: 0 }, call.nowIso())
    if (!pollResult.has_more) return undefined
  }
  return undefined
}

/** The refusal of a response that could not be read at all and that the source will send again. */
async function takeInPoll(
  call: Call,
  source: HttpSource | FolderSource,
  of: SourceIdentity,
  pollResult: PollResult,
): Promise<Refusal | undefined> {
  const faults = new Map<number, readonly PolledDocumentFault[]>()
  let unread: Refusal | undefined
  for (const [number, set] of pollResult.sets.entries()) {
    const found = set.is_whole
      ? await takeInWholeSet(call, source, of, set)
      : await takeInItemByItem(call, source, of, set)
    if (isRefusal(found)) unread = found
    else if (found.length > 0) faults.set(number, found)
  }
  await pollResult.acknowledge(faults)
  return unread
}

async function takeInWholeSet(
  call: Call,
  { mapping }: FolderSource | HttpSource,
  of: SourceIdentity,
  set: PolledSet,
): Promise<PolledDocumentFault[]> {
  const faults: PolledDocumentFault[] = []
  const all: { readonly items: readonly MappedItem[]; readonly known: string }[] = []
  for (const [at, document] of set.documents.entries()) {
    const items = isRefusal(document) ? document : mapDocument(mapping, document)
    const refused = isRefusal(items) ? items : checkItemTimes(call, items)
    if (refused) faults.push({ at, detail: describeRefusal(refused) })
    else if (!isRefusal(items)) all.push({ items, known: `${set.set_id}/${at}` })
  }
  if (faults.length === 0)
    for (const { items, known } of all) faults.push(...(await raiseItems(call, of, items, known)))
  if (faults.length > 0) await recordRefusedSet(call, of, set, faults)
  return faults
}

async function takeInItemByItem(
  call: Call,
  { mapping }: FolderSource | HttpSource,
  of: SourceIdentity,
  set: PolledSet,
): Promise<PolledDocumentFault[] | Refusal> {
  for (const [at, document] of set.documents.entries()) {
    const items = isRefusal(document) ? document : selectItems(mapping, document)
    if (isRefusal(items)) return items
    for (const [number, item] of items.entries()) {
      const mapped = mapItem(mapping, item)
      const known = `${set.set_id}/${at}/${number}`
      const [fault] = isRefusal(mapped)
        ? [{ at, detail: describeRefusal(mapped) }]
        : await raiseItems(call, of, [mapped], known)
      if (fault) await storeRefusedItem(call, of, { item, detail: fault.detail, known })
    }
  }
  return []
}

/** Raises the items. Returns the refusals of the role, such as a time in the future. */
async function raiseItems(
  call: Call,
  of: SourceIdentity,
  items: readonly MappedItem[],
  known: string,
): Promise<PolledDocumentFault[]> {
  const faults: PolledDocumentFault[] = []
  const at = Number(known.split('/').at(-1))
  for (const raising of buildRaiseInputs(of, items, known)) {
    if (call.signal.aborted) throw refuse('unavailable', 'the service is stopping')
    const done = await raiseSignal(call, raising)
    if (isRefusal(done)) {
      if (done.row.retryable) throw done
      faults.push({ at, detail: describeRefusal(done) })
      continue
    }
    const outcome = done.is_new ? 'taken' : 'repeated'
    call.part(sourceTallyPart).count(of.name, outcome)
    countIntake(call, of.name, outcome)
  }
  return faults
}

async function recordRefusedSet(
  call: Call,
  of: SourceIdentity,
  { set_id, documents }: PolledSet,
  faults: readonly PolledDocumentFault[],
) {
  const [first] = faults
  const detail = { known: set_id, documents: documents.length, faults: faults.length, first: first?.detail ?? '' }
  await call.record([{ ...buildRefusalEvent(call, of, detail), outcome: 'refused' }])
  countRefusal(
    call,
    of,
    `${faults.length} of ${documents.length} lines are not signals; line ${(first?.at ?? 0) + 1}: ${first?.detail}`,
  )
}

/** Stores an equal item once: a source without a cursor returns it at each poll. */
async function storeRefusedItem(
  call: Call,
  of: SourceIdentity,
  what: { item: unknown; detail: string; known: string },
): Promise<void> {
  const item = JSON.stringify(what.item).slice(0, 65_536)
  const { tenant_id, label, name } = of
  const detail = what.detail.slice(0, 1_024)
  const stored = { tenant_id, label, source: name, known: what.known, at: call.nowIso(), detail, item }
  const event = { ...buildRefusalEvent(call, of, { known: what.known, detail }), outcome: 'refused' as const }
  const made = await call.store(refusedItems).create(`${name}:${sha256(item)}`, stored, [event])
  if (made !== 'exists') countRefusal(call, of, detail)
}

function countRefusal(call: Call, { name }: SourceIdentity, message: string): void {
  call.part(sourceTallyPart).recordFailure(name, 'refused', { code: 'invalid', message }, call.nowIso())
  countIntake(call, name, 'refused')
}

function buildRefusalEvent(
  call: Call,
  { name, tenant_id, label }: SourceIdentity,
  detail: Readonly<Record<string, unknown>>,
) {
  return { ...call.audited('intelligence.intake.refused', name, detail, label), tenant_id }
}

function describeRefusal({ message, errors }: Refusal): string {
  return (errors.length > 0 ? formatFieldErrors(errors) : message).slice(0, 1_024)
}
