// Asks one source for its news and raises them, so that none is lost or doubled whenever this is cut short.
import type { Call } from '../../../../kernel/call.ts'
import { sha256 } from '../../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../../kernel/errors.ts'
import { inOneLine } from '../../../../kernel/parsing.ts'
import type { Fault, News, PolledSet, PolledSource } from '../../../../kernel/polled.ts'
import { type Of, raisingsOf } from '../item/rules.ts'
import { itemsOf, type MappedItem, mappedAll, mappedItem } from '../mapping/rules.ts'
import { counted } from '../metrics.ts'
import { tallyPart } from '../parts.ts'
import { raised, untimely } from '../raise.ts'
import type { FolderSource, HttpSource } from '../settings.ts'
import { refusedItems, signalSources } from '../source/model.ts'
import { settled } from '../source/settled.ts'
import { cursorWritten } from '../source/written.ts'

/** Answers or files that are taken at one time; the rest is for the next. */
const most_rounds = 50

/** Refused when nothing could be taken, which is then asked for again. */
export async function pollSource(
  call: Call,
  source: HttpSource | FolderSource,
  polled: PolledSource,
): Promise<Refused | undefined> {
  const of = settled(call, source)
  if (isRefused(of)) return of
  for (let round = 0; round < most_rounds && !call.signal.aborted; round++) {
    const before = (await call.store(signalSources).find(of.name))?.value.cursor
    const news = await polled.poll(before, call.signal)
    if (isRefused(news)) return news
    const isUnread = await taken(call, source, of, news)
    if (news.cursor !== before) await cursorWritten(call, of.name, news.cursor)
    if (isUnread) return isUnread
    call.part(tallyPart).succeeded(of.name, { taken: 0, repeated: 0 }, call.nowIso())
    if (!news.has_more) return undefined
  }
  return undefined
}

/** The refusal of an answer that could not be read at all, where it stays with the source to say it again. */
async function taken(call: Call, source: HttpSource | FolderSource, of: Of, news: News): Promise<Refused | undefined> {
  const faults = new Map<number, readonly Fault[]>()
  let unread: Refused | undefined
  for (const [number, set] of news.sets.entries()) {
    const found = set.is_whole ? await takenWhole(call, source, of, set) : await takenInPart(call, source, of, set)
    if (isRefused(found)) unread = found
    else if (found.length > 0) faults.set(number, found)
  }
  await news.settle(faults)
  return unread
}

async function takenWhole(
  call: Call,
  { mapping }: FolderSource | HttpSource,
  of: Of,
  set: PolledSet,
): Promise<Fault[]> {
  const faults: Fault[] = []
  const all: { readonly items: readonly MappedItem[]; readonly known: string }[] = []
  for (const [at, document] of set.documents.entries()) {
    const items = isRefused(document) ? document : timely(call, mappedAll(mapping, document))
    if (isRefused(items)) faults.push({ at, detail: detailOf(items) })
    else all.push({ items, known: `${set.known}/${at}` })
  }
  if (faults.length === 0) for (const { items, known } of all) faults.push(...(await raisedAll(call, of, items, known)))
  if (faults.length > 0) await refusedWhole(call, of, set, faults)
  return faults
}

function timely(call: Call, items: readonly MappedItem[] | Refused): readonly MappedItem[] | Refused {
  if (isRefused(items)) return items
  for (const { fields } of items) {
    const refused = untimely(call, fields)
    if (refused) return refused
  }
  return items
}

async function takenInPart(
  call: Call,
  { mapping }: FolderSource | HttpSource,
  of: Of,
  set: PolledSet,
): Promise<Fault[] | Refused> {
  for (const [at, document] of set.documents.entries()) {
    const items = isRefused(document) ? document : itemsOf(mapping, document)
    if (isRefused(items)) return items
    for (const [number, item] of items.entries()) {
      const mapped = mappedItem(mapping, item)
      const known = `${set.known}/${at}/${number}`
      const [fault] = isRefused(mapped)
        ? [{ at, detail: detailOf(mapped) }]
        : await raisedAll(call, of, [mapped], known)
      if (fault) await kept(call, of, { item, detail: fault.detail, known })
    }
  }
  return []
}

/** What the role itself refuses of an item, such as a time in the future. */
async function raisedAll(call: Call, of: Of, items: readonly MappedItem[], known: string): Promise<Fault[]> {
  const faults: Fault[] = []
  const at = Number(known.split('/').at(-1))
  for (const raising of raisingsOf(of, items, known)) {
    if (call.signal.aborted) throw refuse('unavailable', 'the service is stopping')
    const done = await raised(call, raising)
    if (isRefused(done)) {
      if (done.row.retryable) throw done
      faults.push({ at, detail: detailOf(done) })
      continue
    }
    const outcome = done.is_new ? 'taken' : 'repeated'
    call.part(tallyPart).counted(of.name, outcome)
    counted(call, of.name, outcome)
  }
  return faults
}

async function refusedWhole(call: Call, of: Of, { known, documents }: PolledSet, faults: readonly Fault[]) {
  const [first] = faults
  const detail = { known, documents: documents.length, faults: faults.length, first: first?.detail ?? '' }
  await call.record([{ ...eventOf(call, of, detail), outcome: 'refused' }])
  noted(
    call,
    of,
    `${faults.length} of ${documents.length} lines are no signals; line ${(first?.at ?? 0) + 1}: ${first?.detail}`,
  )
}

/** Once for the same words: a source without a cursor says them at each poll. */
async function kept(call: Call, of: Of, what: { item: unknown; detail: string; known: string }): Promise<void> {
  const item = JSON.stringify(what.item).slice(0, 65_536)
  const { tenant_id, label, name } = of
  const detail = what.detail.slice(0, 1_024)
  const stored = { tenant_id, label, source: name, known: what.known, at: call.nowIso(), detail, item }
  const event = { ...eventOf(call, of, { known: what.known, detail }), outcome: 'refused' as const }
  const made = await call.store(refusedItems).create(`${name}:${sha256(item)}`, stored, [event])
  if (made !== 'exists') noted(call, of, detail)
}

function noted(call: Call, { name }: Of, message: string): void {
  call.part(tallyPart).failed(name, 'refused', { code: 'invalid', message }, call.nowIso())
  counted(call, name, 'refused')
}

function eventOf(call: Call, { name, tenant_id, label }: Of, detail: Readonly<Record<string, unknown>>) {
  return { ...call.audited('intelligence.intake.refused', name, detail, label), tenant_id }
}

function detailOf({ message, errors }: Refused): string {
  return (errors.length > 0 ? inOneLine(errors) : message).slice(0, 1_024)
}
