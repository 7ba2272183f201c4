// Brings the records that a run did not have into the present form of texts, so that none holds up the registry for ever.
import { isCoveredBy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { isOfOtherForm } from '../engine/text/text-form.ts'
import { entityRecords, isWithdrawn, type StoredRecord } from '../entity-record/model.ts'
import { markRegistryFormed, readRegistryForm, writeNumbered } from '../entity-record/write-numbered.ts'
import type { LeftOut } from '../fields.ts'
import type { StoredRun } from '../fusion-run/model.ts'
import type { Lens } from '../lens/model.ts'
import { requestReform } from '../matching-thread/request-reform.ts'
import { writeConcurrently } from '../upsert-documents.ts'

/** Records of one write. */
const batch_size = 100

/**
 * Call it after a run has written its records. Reads the registry once for each form of texts, and changes nothing of its entities.
 * Reports the records that everybody may know of who may see the run; a repeat after a crash reports those that were left.
 */
export async function reformRecords(
  call: Call,
  { value: run }: Doc<StoredRun>,
  lens: Lens,
  signal: AbortSignal,
): Promise<LeftOut[]> {
  if (await readRegistryForm(call, run)) return []
  const { tenant_id, lens: name, label } = run
  let count = 0
  let stale: Doc<StoredRecord>[] = []
  const write = async () => {
    signal.throwIfAborted()
    if (stale.length > 0) await writeReformed(call, run, lens, stale)
    count += stale.filter(({ value }) => isCoveredBy(value.label, label, call.site.labels)).length
    stale = []
  }
  for await (const doc of iterateDocuments(call.store(entityRecords), {
    filter: { tenant_id, lens: name },
    fresh: true,
  })) {
    if (isStale(doc.value)) stale.push(doc)
    if (stale.length >= batch_size) await write()
  }
  await write()
  await markRegistryFormed(call, run)
  return count > 0 ? [{ what: 'reformed_records', count, limit: 0 }] : []
}

function isStale(record: StoredRecord): boolean {
  return !isWithdrawn(record) && isOfOtherForm(record)
}

async function writeReformed(
  call: Call,
  run: StoredRun,
  lens: Lens,
  docs: readonly Doc<StoredRecord>[],
): Promise<void> {
  const reformed = await requestReform(
    call,
    lens,
    docs.map(({ value }) => value),
  )
  const formedOf = new Map(docs.map(({ id }, at) => [id, reformed[at]]))
  await writeNumbered(call, run, (written) =>
    writeConcurrently(docs, ({ id }) =>
      call.store(entityRecords).update(id, ({ value }) => {
        const formed = formedOf.get(id)
        // Whoever wrote it meanwhile has brought it into the form.
        if (!formed || !isStale(value)) return { answer: undefined }
        const { text_form: _form, ...rest } = value
        return { next: { ...rest, ...formed, written, updated_at: call.nowIso() }, answer: undefined }
      }),
    ),
  )
}
