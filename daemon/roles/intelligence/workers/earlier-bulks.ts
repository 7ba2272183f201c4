// Hands bulk dispositions that an earlier version left open to the jobs, which end them: no principal was stored for them.
import { announceJob } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { adoptEarlierBulk, bulks, type StoredBulk } from '../bulk/model.ts'

export const earlierBulks: Worker = { name: 'earlier-bulks', when: { every_ms: 60_000 }, run }

async function run(call: Call): Promise<void> {
  // An open bulk disposition of this version is always due, now or at its next retry.
  const filter = { state: { in: ['running', 'cancelling'] }, job_due_ts: { exists: false } }
  for await (const { id } of iterateDocuments(call.store(bulks), { filter, fresh: true, page_size: 100 })) {
    if (call.signal.aborted) return
    const { doc } = await call.store(bulks).update(id, ({ value }) => {
      const next = adoptEarlierBulk(value) as StoredBulk
      // Another process may have handed it over, and begun to end it.
      if (next.job.principal || next.job.state !== 'queued') return { answer: undefined }
      const event = call.audited('intelligence.bulk.settled', id, {}, value.label)
      return { next, answer: undefined, audit: [{ ...event, tenant_id: value.tenant_id }] }
    })
    announceJob(call, bulks, doc)
  }
}
