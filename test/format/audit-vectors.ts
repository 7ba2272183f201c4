// Vectors of audit exports.

import { genesis_hash, hashRecord } from '../../daemon/kernel/audit/audit-chain.ts'
import { canonicalDigest } from '../../daemon/kernel/encoding/canonical-json.ts'
import { type JsonMembers, signContent } from './signed-documents.ts'
import { created, vectorKeys } from './vector-keys.ts'
import { type Vector, type VectorWriter, writeDocument } from './vector-writer.ts'

const { ed25519, stranger } = vectorKeys

export async function writeAudit(writer: VectorWriter): Promise<void> {
  const records: JsonMembers[] = []
  let prev = genesis_hash
  for (const [index, action] of ['site.start', 'consensus.session.create', 'consensus.session.resolve'].entries()) {
    const event = {
      ...{ at: created, action, outcome: 'done', tenant_id: 'tenant-alpha', subject: 'ann', target: `t-${index}` },
      ...{ trace_id: '0'.repeat(32), detail: { index } },
    }
    const event_digest = canonicalDigest(event)
    const hash = hashRecord('consensus@alpha', index + 1, prev, event_digest)
    // The first event has expired: its digest remains.
    records.push({
      writer: 'consensus@alpha',
      seq: index + 1,
      prev,
      event_digest,
      hash,
      ...(index === 0 ? {} : { event }),
    })
    prev = hash
  }
  const head = { writer: 'consensus@alpha', seq: 3, hash: prev, at: created }
  await writeExport(writer, records, head)
}

type ExportStatement = { readonly chains: readonly JsonMembers[]; readonly created: string } & JsonMembers

async function writeExport(writer: VectorWriter, records: readonly JsonMembers[], head: JsonMembers): Promise<void> {
  const signature = await signContent('checkpoint', head, [ed25519])
  const checkpoint = { type: 'platform.checkpoint', v: 1, ...head, signature }
  const chain = {
    ...{ writer: head.writer, first: 1, prev: genesis_hash, last: 3, hash: head.hash },
    expired: [{ first: 1, last: 1 }],
  }
  const statement = { v: 1, type: 'platform.audit-export', site: 'alpha', created, chains: [chain] }
  const sign = async (content: ExportStatement, by = [ed25519]) => ({
    ...{ type: 'platform.audit-export', v: 1, signature: await signContent('audit-export', content, by) },
  })
  const end = await sign(statement)
  const text = (lines: readonly JsonMembers[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const write = (path: string, lines: readonly JsonMembers[], vector: Partial<Vector> = {}) =>
    writeDocument(writer, path, text(lines), vector)
  write('audit/chain.jsonl', [checkpoint, ...records, end])
  const [first, second, third] = records
  if (!first || !second || !third) throw new Error('three records')
  const altered = { ...second, event: { ...(second.event as JsonMembers), subject: 'eve' } }
  write('bad/audit-altered.jsonl', [first, altered, third, end], { reason: 'BODY_DIGEST' })
  write('bad/audit-gap.jsonl', [first, third, end], { reason: 'CHAIN_BREAK' })
  write('bad/audit-cut.jsonl', [first, second, end], { reason: 'CHAIN_BREAK' })
  const { event: _event, ...stripped } = second
  write('bad/audit-stripped.jsonl', [first, stripped, third, end], { reason: 'CHAIN_BREAK' })
  const elsewhere = { ...head, writer: 'resolution@alpha' }
  const unrelated = {
    type: 'platform.checkpoint',
    v: 1,
    ...elsewhere,
    signature: await signContent('checkpoint', elsewhere, [ed25519]),
  }
  write('bad/audit-with-a-checkpoint-of-another-chain.jsonl', [unrelated, ...records, end], { reason: 'CHAIN_BREAK' })
  write('bad/audit-unsigned.jsonl', records, { reason: 'UNSIGNED' })
  write('bad/audit-empty.jsonl', [await sign({ ...statement, chains: [] })], { reason: 'CHAIN_BREAK' })
  write('bad/audit-of-a-stranger.jsonl', [...records, await sign(statement, [stranger])], { reason: 'UNKNOWN_KEY' })
}
