// The final report of the demo for scripts, gathered from the sites themselves.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { offline } from '../../daemon/offline/offline.ts'
import type { ApiObject } from '../client/client.ts'
import { CommandFailure } from '../program/command.ts'
import type { DemoSite } from './demo-site.ts'

export type FiledropCounts = { sent: number; received: number; duplicates: number; quarantined: number }

/** `id, state, decision, score, evidence_block` of a session, as the demo's document names them. */
export function summarizeSession({ id, state, decision, result, evidence_block_id }: ApiObject) {
  const score = (result as { score?: number | null } | undefined)?.score ?? null
  return { id, state, decision: decision ?? null, score, evidence_block: evidence_block_id ?? null }
}

export async function countMessages(site: DemoSite): Promise<FiledropCounts> {
  const { items } = await site.operator.call('site.channel.list', {})
  const counts: FiledropCounts = { sent: 0, received: 0, duplicates: 0, quarantined: 0 }
  for (const channel of items as FiledropCounts[]) {
    for (const name of ['sent', 'received', 'duplicates', 'quarantined'] as const) counts[name] += channel[name]
  }
  return counts
}

/** Fetches the block from each site and verifies it with nothing but the home site's exported public keys. */
export async function fetchVerifiedEvidence(
  dir: string,
  keysText: string,
  sites: readonly DemoSite[],
  block_id: string,
): Promise<string[]> {
  const { verifyEvidence } = await offline.evidence()
  const { parseJwks } = await offline.keys()
  const files: string[] = []
  for (const site of sites) {
    const text = JSON.stringify(await site.analyst.call('consensus.evidence.get', { block_id }), undefined, 2)
    const file = join(dir, `evidence-${block_id.slice(0, 8)}-at-${site.name}.json`)
    writeFileSync(file, `${text}\n`, { mode: 0o600 })
    const verdict = await verifyEvidence(text, [{ name: undefined, keys: parseJwks(keysText) }])
    if (!verdict.valid)
      throw new CommandFailure(5, `the evidence at ${site.name} is not valid: ${verdict.faults.join('; ')}`)
    files.push(file)
  }
  return files
}

export async function fetchDissent(site: DemoSite, session_id: string): Promise<{ record: ApiObject; text: string }> {
  const { items } = await site.analyst.call('consensus.dissent.by-session', { session_id })
  const [record] = items as ApiObject[]
  if (!record) throw new CommandFailure(1, 'the session in conflict has no dissent record')
  return { record, text: await site.analyst.text('consensus.dissent.explain', { id: record.id }, 'text/plain') }
}
