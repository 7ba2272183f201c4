// Uses every algorithm of keys as the product does, in a Node with another provider of cryptography; prints what worked.
import crypto from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { generateKey, unwrapKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures, verifyJws } from '../../../adapters/keys/jose/signatures.ts'

const passphrase = 'correct horse battery staple'
const results = { fips: crypto.getFips() }
for (const algorithm of ['Ed25519', 'ES384', 'ML-DSA-87']) {
  const dir = mkdtempSync(path.join(tmpdir(), 'fips-keys-'))
  const key = await generateKey(dir, { use: 'message', algorithm, now: Date.now(), passphrase })
  await unwrapKeys(dir, passphrase)
  const signed = await joseSignatures({ dir }).sign('statement', Buffer.from('statement'))
  const verified = await verifyJws('statement', signed, [key])
  results[algorithm] = typeof verified === 'object' && verified.keys.length === 1
  rmSync(dir, { recursive: true })
}
const outside = {
  md5: () => crypto.createHash('md5'),
  x25519: () => crypto.generateKeyPairSync('x25519'),
  chacha20: () => crypto.createCipheriv('chacha20-poly1305', Buffer.alloc(32), Buffer.alloc(12), { authTagLength: 16 }),
  scrypt: () => crypto.scryptSync('passphrase', 'salt', 32),
  argon2: () => {
    const options = {
      message: 'passphrase',
      nonce: Buffer.alloc(16),
      parallelism: 1,
      tagLength: 32,
      memory: 64,
      passes: 1,
    }
    return crypto.argon2Sync('argon2id', options)
  },
}
for (const [name, use] of Object.entries(outside)) results[name] = isUsable(use)
console.log(JSON.stringify(results))

function isUsable(use) {
  try {
    use()
    return true
  } catch {
    return false
  }
}
