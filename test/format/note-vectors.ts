// Vectors of key sets, gap receipts, releases and checkpoints.

import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { canonicalJson, sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { keySet, sampleCheckpoint, sampleReceipt, vectorLabel, zeros } from './sample-content.ts'
import { type JsonMembers, signContent } from './signed-documents.ts'
import { created, vectorKeys } from './vector-keys.ts'
import { type Vector, type VectorWriter, writeDocument } from './vector-writer.ts'

const { ed25519, root, next_root, ann, stranger } = vectorKeys

export async function writeKeySets(writer: VectorWriter): Promise<void> {
  const first = keySet(1, zeros)
  const second = keySet(2, sha384(canonicalJson(first)))
  const sign = (set: JsonMembers, by: readonly StoredKey[]) => signContent('keyset', set, by)
  const sets = [await sign(first, [root]), await sign(second, [root, next_root])]
  const write = (name: string, chain: readonly unknown[], vector: Partial<Vector> = {}) =>
    writeDocument(writer, name, JSON.stringify({ v: 1, type: 'platform.keyset-file', sets: chain }), vector)
  write('keysets/first.json', sets.slice(0, 1))
  write('keysets/both.json', sets)
  write('bad/keyset-of-a-message-key.json', [await signContent('keyset', first, [ed25519])], { reason: 'REFUSED' })
  write('bad/keyset-without-its-own-root.json', [await sign(second, [root])], { reason: 'REFUSED' })
  const text = JSON.stringify({ ...first, v: 1 })
  write('bad/keyset-not-canonical.json', [await signContent('keyset', text, [root])], { reason: 'REFUSED' })
}

export async function writeNotes(writer: VectorWriter): Promise<void> {
  const sign = async (content: JsonMembers, by: readonly StoredKey[] = [ed25519]) =>
    JSON.stringify(await signContent('gap-receipt', content, by))
  writeDocument(writer, 'receipts/receipt.json', await sign(sampleReceipt))
  const overlapping = {
    ...sampleReceipt,
    missing: [
      { first: 4, last: 6 },
      { first: 6, last: 8 },
    ],
  }
  writeDocument(writer, 'bad/receipt-with-overlapping-runs.json', await sign(overlapping), { reason: 'REFUSED' })
  writeDocument(writer, 'bad/receipt-of-a-stranger.json', await sign(sampleReceipt, [stranger]), { reason: 'REFUSED' })
  const release = {
    ...{
      v: 1,
      type: 'platform.release',
      step: 'request',
      site: 'bravo',
      item: 'alpha/00000001-0000000000000001-00000000',
    },
    ...{
      digests: [sha384('body'), sha384('env')],
      waiver: 'EXPIRED',
      reason: 'late by agreement',
      subject: 'ann',
      created,
    },
  }
  const request = await signContent('release', release, [ann])
  writeDocument(writer, 'releases/request.json', JSON.stringify(request), { keys: 'keys/ann.json' })
  const bad = (name: string, note: unknown) =>
    writeDocument(writer, `bad/${name}.json`, JSON.stringify(note), { keys: 'keys/ann.json', reason: 'REFUSED' })
  bad('release-with-a-needless-label', await signContent('release', { ...release, label: vectorLabel }, [ann]))
  bad('release-not-canonical', await signContent('release', JSON.stringify(release), [ann]))
  bad('release-signed-twice', { ...request, signatures: [...request.signatures, ...request.signatures] })
  const approval = { ...release, step: 'approval', request: sha384(canonicalJson(release)) }
  const approved = await signContent('release', approval, [ann])
  writeDocument(writer, 'releases/approval.json', JSON.stringify(approved), { keys: 'keys/ann.json' })
  const checkpoint = await sampleCheckpoint('consensus@alpha', 3)
  writeDocument(writer, 'checkpoints/checkpoint.json', JSON.stringify(checkpoint))
  writeDocument(writer, 'bad/checkpoint-of-another-head.json', JSON.stringify({ ...checkpoint, seq: 4 }), {
    reason: 'BAD_SIG',
  })
}
