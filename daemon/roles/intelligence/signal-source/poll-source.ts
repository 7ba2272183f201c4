// Polls one source and raises its new items; an interruption at any point neither loses nor duplicates one.

import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { formatFieldErrors } from '../../../kernel/error/parsing.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { shortenText } from '../../../kernel/text/shorten-text.ts'
import type {
  PolledBatch,
  PolledDocumentFault,
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

/** Maximum number of responses or files in one poll; the next poll continues. */
const max_rounds = 50

/** Refuses if the poll failed; the next poll requests the same again. */
export async function pollSource(
  call: Call,
  source: HttpSource | FolderSource,
  polled: PolledSource,
): Promise<Refusal | undefined> {
  const identity = resolveSource(call, source)
  if (isRefusal(identity)) return identity
  for (let round = 0; round < max_rounds && !call.signal.aborted; round++) {
    const before = (await call.store(signalSources).find(identity.name))?.value.cursor
    const pollResult = await polled.poll(before, call.signal)
    if (isRefusal(pollResult)) return pollResult
    const unreadRefusal = await takeInPoll(call, source, identity, pollResult)
    if (pollResult.cursor !== before) await storeCursor(call, identity.name, pollResult.cursor)
    if (unreadRefusal) return unreadRefusal
    call.part(sourceTallyPart).recordSuccess(identity.name, { taken: 0, repeated: 0 }, call.nowIso())
    if (!pollResult.has_more) return undefined
  }
  return undefined
}

/** The refusal of a response that could not be read at all and that the source will send again. */
async function takeInPoll(
  call: Call,
  source: HttpSource | FolderSource,
  identity: SourceIdentity,
  pollResult: PollResult,
): Promise<Refusal | undefined> {
  const faults = new Map<number, readonly PolledDocumentFault[]>()
  let unreadRefusal: Refusal | undefined
  for (const [number, set] of pollResult.sets.entries()) {
    const outcome = set.is_whole
      ? await takeInWholeSet(call, source, identity, set)
      : await takeInItemByItem(call, source, identity, set)
    if (isRefusal(outcome)) unreadRefusal = outcome
    else if (outcome.length > 0) faults.set(number, outcome)
  }
  await pollResult.acknowledge(faults)
  return unreadRefusal
}

async function takeInWholeSet(
  call: Call,
  { mapping }: FolderSource | HttpSource,
  source: SourceIdentity,
  set: PolledBatch,
): Promise<PolledDocumentFault[]> {
  const faults: PolledDocumentFault[] = []
  const all: { readonly items: readonly MappedItem[]; readonly known: string }[] = []
  for (const [at, document] of set.documents.entries()) {
    const items = isRefusal(document) ? document : mapDocument(mapping, document)
    const refusal = isRefusal(items) ? items : checkItemTimes(call, items)
    if (refusal) faults.push({ at, detail: describeRefusal(refusal) })
    else if (!isRefusal(items)) all.push({ items, known: `${set.set_id}/${at}` })
  }
  if (faults.length === 0)
    for (const { items, known } of all) faults.push(...(await raiseItems(call, source, items, known)))
  if (faults.length > 0) await recordRefusedSet(call, source, set, faults)
  return faults
}

async function takeInItemByItem(
  call: Call,
  { mapping }: FolderSource | HttpSource,
  source: SourceIdentity,
  set: PolledBatch,
): Promise<PolledDocumentFault[] | Refusal> {
  for (const [at, document] of set.documents.entries()) {
    const items = isRefusal(document) ? document : selectItems(mapping, document)
    if (isRefusal(items)) return items
    for (const [number, item] of items.entries()) {
      const mapped = mapItem(mapping, item)
      const known = `${set.set_id}/${at}/${number}`
      const [fault] = isRefusal(mapped)
        ? [{ at, detail: describeRefusal(mapped) }]
        : await raiseItems(call, source, [mapped], known)
      if (fault) await storeRefusedItem(call, source, { item, detail: fault.detail, known })
    }
  }
  return []
}

/** Raises the items. Returns the refusals of the role, such as a time in the future. */
async function raiseItems(
  call: Call,
  source: SourceIdentity,
  items: readonly MappedItem[],
  known: string,
): Promise<PolledDocumentFault[]> {
  const faults: PolledDocumentFault[] = []
  const at = Number(known.split('/').at(-1))
  for (const raising of buildRaiseInputs(source, items, known)) {
    if (call.signal.aborted) throw refuse('unavailable', 'the service is stopping')
    const raised = await raiseSignal(call, raising)
    if (isRefusal(raised)) {
      if (raised.row.retryable) throw raised
      faults.push({ at, detail: describeRefusal(raised) })
      continue
    }
    const outcome = raised.is_new ? 'taken' : 'repeated'
    call.part(sourceTallyPart).count(source.name, outcome)
    countIntake(call, 'polling', outcome)
  }
  return faults
}

async function recordRefusedSet(
  call: Call,
  source: SourceIdentity,
  { set_id, documents }: PolledBatch,
  faults: readonly PolledDocumentFault[],
) {
  const [first] = faults
  const detail = { known: set_id, documents: documents.length, faults: faults.length, first: first?.detail ?? '' }
  await call.record([{ ...buildRefusalEvent(call, source, detail), outcome: 'refused' }])
  countRefusal(
    call,
    source,
    `${faults.length} of ${documents.length} lines are not signals; line ${(first?.at ?? 0) + 1}: ${first?.detail}`,
  )
}

/** Stores an equal item once: a source without a cursor returns it at each poll. */
async function storeRefusedItem(
  call: Call,
  source: SourceIdentity,
  refusedContent: { item: unknown; detail: string; known: string },
): Promise<void> {
  const item = JSON.stringify(refusedContent.item).slice(0, 65_536)
  const { tenant_id, label, name } = source
  const detail = shortenText(refusedContent.detail, 1_024)
  const stored = { tenant_id, label, source: name, known: refusedContent.known, at: call.nowIso(), detail, item }
  const event = {
    ...buildRefusalEvent(call, source, { known: refusedContent.known, detail }),
    outcome: 'refused' as const,
  }
  const outcome = await call.store(refusedItems).create(`${name}:${sha256(item)}`, stored, [event])
  if (outcome !== 'exists') countRefusal(call, source, detail)
}

function countRefusal(call: Call, { name }: SourceIdentity, message: string): void {
  call.part(sourceTallyPart).recordFailure(name, 'refused', { code: 'invalid', message }, call.nowIso())
  countIntake(call, 'polling', 'refused')
}

function buildRefusalEvent(
  call: Call,
  { name, tenant_id, label }: SourceIdentity,
  detail: Readonly<Record<string, unknown>>,
) {
  return { ...call.audited('intelligence.intake.refused', name, detail, label), tenant_id }
}

function describeRefusal({ message, errors }: Refusal): string {
  return shortenText(errors.length > 0 ? formatFieldErrors(errors) : message, 1_024)
}
