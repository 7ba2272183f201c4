// Writes the vectors of docs/: documents of each kind that hold, and some that do not, with the reason.
import { buildJwks } from '../../adapters/keys/jose/jwks.ts'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { writeAudit } from './audit-vectors.ts'
import { writeEvidence } from './evidence-vectors.ts'
import { writeBadMessages, writeEpoch, writeMedium } from './message-vectors.ts'
import { writeKeySets, writeNotes } from './note-vectors.ts'
import { writeRegistry } from './registry-vectors.ts'
import { vectorKeys } from './vector-keys.ts'
import { type Vector, type VectorWriter, writeText } from './vector-writer.ts'

const { ed25519, es384, mldsa87, ended, revoked, root, second_root, bravo, ann } = vectorKeys

/** Writes all of them into the folder, with the list VECTORS.json, and gives the list. */
export async function makeVectors(dir: string): Promise<Vector[]> {
  const writer: VectorWriter = { dir, vectors: [] }
  writeKeys(writer)
  await writeMedium(writer)
  await writeEpoch(writer)
  await writeBadMessages(writer)
  await writeKeySets(writer)
  await writeNotes(writer)
  await writeEvidence(writer)
  await writeAudit(writer)
  await writeRegistry(writer)
  writeText(writer, 'VECTORS.json', `${JSON.stringify(writer.vectors, undefined, 1)}\n`)
  return writer.vectors
}

function writeKeys(writer: VectorWriter): void {
  const write = (name: string, keys: readonly StoredKey[]) => {
    const { keys: rows } = buildJwks(keys.map(({ public_key }) => ({ ...public_key, status: 'active' })))
    const states = new Map(keys.map(({ public_key: { kid, status } }) => [kid, status]))
    const stated = rows.map((row) => ({ ...row, platform_status: states.get(String(row.kid)) }))
    writeText(writer, `keys/${name}.json`, `${JSON.stringify({ keys: stated }, undefined, 1)}\n`)
  }
  write('alpha', [ed25519, es384, mldsa87, ended, revoked, root, second_root])
  write('bravo', [bravo])
  write('ann', [ann])
}
