// A courier's medium as a real site makes it, with messages and an inventory under keys of every algorithm.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { exportJwks } from '../../adapters/keys/jose/jwks.ts'
import { readKeyFiles } from '../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { signWithKeys } from '../../adapters/keys/jose/signatures.ts'
import type { KeyAlgorithm, Signatures } from '../../daemon/kernel/cryptography/signatures.ts'
import { createMedium, exportFromAlpha } from '../support/filedrop/courier-fixture.ts'
import { createFiledropSites, restartSite, sendFromAlpha } from '../support/filedrop/filedrop-sites.ts'

const day_ms = 86_400_000

/**
 * Writes KEYS.json and one folder with MANIFEST.json into `dir`: messages 1 to 3 signed by one key each (Ed25519, ES384,
 * ML-DSA-87), then an inventory and the manifest by all of them. Gives the folder's name.
 */
export async function makeCourierMedium(dir: string): Promise<string> {
  const world = await createFiledropSites({ peer: { inventory_interval_s: 86_400 } })
  try {
    const keys = join(world.dir, 'alpha', 'keys')
    for (const algorithm of ['ES384', 'ML-DSA-87'] as const) {
      await generateKey(keys, { use: 'message', now: world.clock.ms, algorithm })
    }
    for (const algorithm of ['Ed25519', 'ES384', 'ML-DSA-87'] as const) {
      const signatures = selectSigner(keys, algorithm, world.alpha.signatures)
      await restartSite(world.alpha, undefined, {}, { signatures })
      await sendFromAlpha(world, 1)
    }
    await restartSite(world.alpha)
    world.clock.ms += day_ms
    await world.alpha.transport.rescan()
    const media = createMedium(world)
    const { folders, left } = await exportFromAlpha(world, media)
    const [folder] = folders
    if (!folder || left.length > 0) throw new Error('the medium was not made')
    fs.cpSync(media, dir, { recursive: true })
    fs.writeFileSync(join(dir, 'KEYS.json'), `${JSON.stringify(exportJwks(keys), undefined, 2)}\n`)
    return folder
  } finally {
    await world.dispose()
  }
}

function selectSigner(dir: string, algorithm: KeyAlgorithm, signatures: Signatures): Signatures {
  const chosen = readKeyFiles(dir).filter(({ public_key }) => public_key.algorithm === algorithm)
  return { ...signatures, sign: (type, payload) => signWithKeys(chosen, type, payload) }
}
