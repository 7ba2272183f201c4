// What the demo ends with: the document for scripts, gathered from the sites themselves.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { offline } from '../../daemon/boot/offline.ts'
import type { Answered } from '../client/client.ts'
import { Failure } from '../command.ts'
import type { DemoSite } from './demo-site.ts'

export type FiledropCounts = { sent: number; received: number; duplicates: number; quarantined: number }

/** `id, state, decision, score, evidence_block` of a session, as the demo's document names them. */
export function inShort({ id, state, decision, result, evidence_block_id }: Answered) {
  const score = (result as { score?: number | null } | undefined)?.score ?? null
  return { id, state, decision: decision ?? null, score, evidence_block: evidence_block_id ?? null }
}

export async function countsOf(site: DemoSite): Promise<FiledropCounts> {
  const { items } = await site.operator.call('site.channel.list', {})
  const counts: FiledropCounts = { sent: 0, received: 0, duplicates: 0, quarantined: 0 }
  for (const channel of items as FiledropCounts[]) {
    for (const name of ['sent', 'received', 'duplicates', 'quarantined'] as const) counts[name] += channel[name]
  }
  return counts
}

/** Fetches the block from each site and verifies it with nothing but the home site's exported public keys. */
export async function verifiedEvidence(
  dir: string,
  keysText: string,
  sites: readonly DemoSite[],
  block_id: string,
): Promise<string[]> {
  const { verifyEvidence } = await offline.evidence()
  const { keysIn } = await offline.keys()
  const files: string[] = []
  for (const site of sites) {
    const text = JSON.stringify(await site.analyst.call('consensus.evidence.get', { block_id }), undefined, 2)
    const file = join(dir, `evidence-${block_id.slice(0, 8)}-at-${site.name}.json`)
    writeFileSync(file, `${text}\n`, { mode: 0o600 })
    const verdict = await verifyEvidence(text, keysIn(keysText))
    if (!verdict.valid) throw new Failure(5, `the evidence at ${site.name} does not hold: ${verdict.faults.join('; ')}`)
    files.push(file)
  }
  return files
}

export async function dissentOf(site: DemoSite, session_id: string): Promise<{ record: Answered; text: string }> {
  const { items } = await site.analyst.call('consensus.dissent.by-session', { session_id })
  const [record] = items as Answered[]
  if (!record) throw new Failure(1, 'the session in conflict has no dissent record')
  return { record, text: await site.analyst.text('consensus.dissent.explain', { id: record.id }, 'text/plain') }
}
