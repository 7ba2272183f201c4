// Everything that a running site holds, as one value to compare before and after requests that must change nothing.

import type { OperationFixture } from './operation-fixture.ts'
import { readAuditRecords } from './read-audit-records.ts'

/** Documents of every collection with their versions, and every audit record but those of refusals. */
export async function readStoredState(stage: OperationFixture): Promise<string[]> {
  const documents: string[] = []
  for (const { role, context } of stage.site.running.services) {
    for (const collection of role.collections) {
      let cursor: string | undefined
      do {
        const page = await context.store.list(collection, { limit: 500, ...(cursor ? { cursor } : {}) })
        documents.push(...page.docs.map(({ id, version }) => `${collection.name} ${id} ${version}`))
        cursor = page.next_cursor
      } while (cursor)
    }
  }
  const records = (await readAuditRecords(stage)).filter(({ outcome }) => outcome !== 'refused')
  // The site anchors its own chains from time to time, a job that has ended gives its lease back, callers and attachments are counted later.
  const made = documents.filter(
    (line) => !/^(checkpoint [a-z]+@alpha:|job_lease |call_usage |guide_lineage_event )/.test(line),
  )
  return [...made.sort(), ...records.map(({ role, seq, action }) => `audit ${role} ${seq} ${action}`)]
}
